// Definitions of serving/rest_path.hpp.
#pragma once
#include <charconv>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/serving/http_text.hpp"
#include "tandem/serving/rest_path.hpp"

namespace TANDEM_NS::serving {

namespace impl {

// Takes `prefix` from the front of `path`, whatever its case, if a part of the path ends there.
TANDEM_INLINE bool take_prefix(std::string_view& path, std::string_view prefix) {
  if (!equal_without_case(path.substr(0, prefix.size()), prefix)) return false;
  if (path.size() > prefix.size() && path[prefix.size()] != '/') return false;
  path.remove_prefix(prefix.size());
  return true;
}
TANDEM_INLINE std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> r;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t n = std::min(path.find('/'), path.size());
    r.push_back(path.substr(0, n));
    path.remove_prefix(n);
  }
  return r;
}
// Resolves %-escapes; false if there is one without digits, or nothing is left.
TANDEM_INLINE bool unescape(std::string_view s, std::string& to) {
  to.clear();
  for (std::size_t i = 0; i < s.size(); ++i) {
    unsigned char byte = static_cast<unsigned char>(s[i]);
    if (s[i] == '%') {
      const char* const digits = s.data() + i + 1;
      if (s.size() - i < 3 || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return false;
      i += 2;
    }
    to += static_cast<char>(byte);
  }
  return !to.empty();
}
TANDEM_INLINE i64 version_of(std::string_view s) {
  i64 version = 0;
  const std::from_chars_result r = std::from_chars(s.data(), s.data() + s.size(), version);
  if (s.empty() || s[0] == '-' || r.ec != std::errc() || r.ptr != s.data() + s.size())
    errors::raise<errors::InvalidArgumentError>(
        "serving", "Failed to convert version: " + std::string(s.substr(0, 40)) + " to numeric.");
  return version;
}
// Reads NAME[/versions/N|/labels/L] and returns how many parts that was; 0: it is not that.
TANDEM_INLINE std::size_t take_model(const std::vector<std::string_view>& parts, ModelSpec& to, bool has_labels) {
  if (parts.empty() || !unescape(parts[0], to.name)) return 0;
  if (parts.size() < 3) return 1;
  if (equal_without_case(parts[1], "versions")) {
    to.version = version_of(parts[2]);
    return 3;
  }
  if (!has_labels || !equal_without_case(parts[1], "labels")) return 1;
  return unescape(parts[2], to.label) ? 3 : 0;
}

TANDEM_INLINE RestPath v1_path(std::string_view path) {
  RestPath r{RestPath::malformed};
  if (!take_prefix(path, "/v1/models")) return r;
  if (path.empty() || path == "/") return {RestPath::nameless};
  const std::size_t colon = std::min(path.find(':'), path.size());
  const std::string_view verb = path.substr(colon);
  const std::vector<std::string_view> parts = parts_of(path.substr(0, colon));
  const std::size_t n = take_model(parts, r.model, true);
  if (n == 0) return r;
  if (verb.empty() && parts.size() == n) r.kind = RestPath::status;
  else if (verb.empty() && parts.size() == n + 1 && equal_without_case(parts[n], "metadata"))
    r.kind = RestPath::metadata;
  else if (parts.size() != n) return r;
  else if (equal_without_case(verb, ":predict")) r.kind = RestPath::predict;
  else if (equal_without_case(verb, ":classify")) r.kind = RestPath::classify;
  else if (equal_without_case(verb, ":regress")) r.kind = RestPath::regress;
  return r;
}
TANDEM_INLINE RestPath v2_path(std::string_view path) {
  RestPath r;
  if (path.empty() || path == "/") return {RestPath::server};
  if (equal_without_case(path, "/health/live")) return {RestPath::live};
  if (equal_without_case(path, "/health/ready")) return {RestPath::ready};
  if (!take_prefix(path, "/models")) return r;
  const std::vector<std::string_view> parts = parts_of(path);
  const std::size_t n = take_model(parts, r.model, false);
  if (n == 0) return r;
  if (parts.size() == n) r.kind = RestPath::infer_model;
  else if (parts.size() != n + 1) return r;
  else if (equal_without_case(parts[n], "ready")) r.kind = RestPath::infer_ready;
  else if (equal_without_case(parts[n], "infer")) r.kind = RestPath::infer;
  return r;
}

}  // namespace impl

TANDEM_INLINE RestPath parse_rest_path(std::string_view target) {
  std::string_view path = target.substr(0, target.find_first_of("?#"));
  if (impl::equal_without_case(path, "/metrics") || impl::equal_without_case(path, "/monitoring/prometheus/metrics"))
    return {RestPath::metrics};
  if (path == "/openapi.json") return {RestPath::openapi};
  std::string_view rest = path;
  if (impl::take_prefix(rest, "/v2")) return impl::v2_path(rest);
  return impl::take_prefix(rest, "/v1") ? impl::v1_path(path) : RestPath{};
}

}  // namespace TANDEM_NS::serving
