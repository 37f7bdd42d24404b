// Texts of HTTP requests. For definitions. Part of the component tandem::serving.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::serving::impl {

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
inline bool equal_without_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}
inline std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

/// Strips scheme and authority from a target in absolute form, which proxies get (RFC 9112, 3.2.2). An empty path is
/// "/", without its query.
inline std::string_view origin_form(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!equal_without_case(target.substr(0, scheme.size()), scheme)) continue;
    const std::size_t rest = target.find_first_of("/?#", scheme.size());
    return rest == target.npos || target[rest] != '/' ? "/" : target.substr(rest);
  }
  return target;
}

}  // namespace TANDEM_NS::serving::impl
