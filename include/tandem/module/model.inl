// Definitions of module/model.hpp.
#pragma once
#include <cctype>

#include "tandem/module/model.hpp"

namespace TANDEM_NS {

TANDEM_INLINE std::string detail::snake_case(std::string_view type) {
  type.remove_prefix(type.find("T = ") + 4);
  type = type.substr(0, type.find_first_of("]<;"));
  if (const auto colon = type.rfind(':'); colon != type.npos) type.remove_prefix(colon + 1);
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
