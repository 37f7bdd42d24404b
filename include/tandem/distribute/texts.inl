// Definitions of distribute/texts.hpp.
#pragma once
#include "tandem/distribute/texts.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::distribute::impl {

TANDEM_INLINE std::string seconds_text(double s) {
  return (s < 100 ? tandem::detail::rounded_text(s, 3) : tandem::detail::fixed_text(s, 0)) + " s";
}
TANDEM_INLINE std::string bytes_text(i64 n) {
  const auto x = static_cast<double>(n);
  if (n < 10'000) return std::to_string(n) + " bytes";
  if (n < 1'000'000) return tandem::detail::fixed_text(x / 1e3, 1) + " kB";
  return tandem::detail::fixed_text(x / 1e6, 1) + " MB";
}
TANDEM_INLINE std::string common_text(const Collective& c) {
  constexpr const char* names[] = {"barrier", "all_reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all"};
  std::string r = names[c.kind];
  if (c.kind == Collective::barrier) return r;
  r += std::string(" of ") + tandem::name(c.dtype);
  if (c.kind == Collective::all_reduce || c.kind == Collective::reduce_scatter) r += std::string(" by ") + name(c.op);
  if (c.kind == Collective::broadcast) r += " from rank " + std::to_string(c.root);
  if (c.kind == Collective::all_gather || c.kind == Collective::all_to_all)
    return r + ", rows of " + std::to_string(c.unit) + " elements";
  return r + ", " + std::to_string(c.count) + " elements";
}

}  // namespace TANDEM_NS::distribute::impl
