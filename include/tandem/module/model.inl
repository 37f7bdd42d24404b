// Definitions of module/model.hpp.
#pragma once
#include <algorithm>
#include <cctype>

#include "tandem/module/model.hpp"

namespace TANDEM_NS {

TANDEM_INLINE std::string detail::snake_case(std::string_view type) {
  type.remove_prefix(type.find("T = ") + 4);
  type = type.substr(0, std::min(type.find(';'), type.rfind(']')));
  if (type.ends_with('>')) {  // an instance of a template
    std::size_t i = type.size();
    for (int depth = 0; i > 0;) {
      --i;
      depth += type[i] == '>' ? 1 : type[i] == '<' ? -1 : 0;
      if (depth == 0) break;
    }
    type = type.substr(0, i);
  }
  const auto is_of_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
  std::size_t begin = type.size();
  while (begin > 0 && is_of_name(type[begin - 1])) --begin;
  type.remove_prefix(begin);
  std::string r;
  for (std::size_t i = 0; i < type.size(); ++i) {
    const auto is = [&](int (*test)(int), std::size_t k) {
      return k < type.size() && test(static_cast<unsigned char>(type[k]));
    };
    if (i && is(std::isupper, i) && (is(std::islower, i - 1) || is(std::islower, i + 1))) r += '_';
    r += static_cast<char>(std::tolower(static_cast<unsigned char>(type[i])));
  }
  return r;
}

}  // namespace TANDEM_NS
