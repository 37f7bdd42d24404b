// Definitions of core/op.hpp.
#pragma once
#include <string_view>

#include "tandem/core/op.hpp"

namespace TANDEM_NS {
TANDEM_INLINE std::string display_name(const OpDef& op) {
  if (op.rare.display) return op.rare.display;
  std::string r;
  bool upper = true;
  for (const char* p = op.name; *p; ++p) {
    if (*p == '_') {
      upper = true;
      continue;
    }
    r += upper && *p >= 'a' && *p <= 'z' ? static_cast<char>(*p - 32) : *p;
    upper = false;
  }
  return r;
}

[[gnu::cold]] TANDEM_INLINE std::string input_name(const OpDef& op, std::size_t i) {
  std::string_view rest = op.input_names;
  for (std::size_t k = 0;; ++k) {
    const std::size_t end = rest.find(", ");
    const std::string_view name = rest.substr(0, end);
    if (name.ends_with("...")) return std::string(name.substr(0, name.size() - 3)) + "[" + std::to_string(i - k) + "]";
    if (k == i) return std::string(name);
    if (end == name.npos) return "input " + std::to_string(i);  // an op that does not name all its inputs
    rest.remove_prefix(end + 2);
  }
}
[[gnu::cold]] TANDEM_INLINE std::string detail::named_inputs(const InferCall& c) {
  bool apart = false;
  for (const Tensor* t : c.in) apart |= t->spec().device != c.spec(0).device;
  std::string s;
  for (std::size_t i = 0; i < c.in.size(); ++i)
    s += (i ? ", " : "") + input_name(c.op, i) + " is " + to_string(c.spec(i)) +
         (apart ? " on " + to_string(c.spec(i).device) : "");
  return s;
}
}  // namespace TANDEM_NS
