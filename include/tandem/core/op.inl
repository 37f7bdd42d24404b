// Definitions of core/op.hpp.
#pragma once
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
}  // namespace TANDEM_NS
