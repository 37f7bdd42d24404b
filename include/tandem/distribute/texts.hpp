// Words for numbers and operations in errors. Part of the component tandem::distribute. For definitions.
#pragma once
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "tandem/distribute/transport.hpp"

namespace TANDEM_NS::distribute::impl {

inline std::string seconds_text(double s) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), s < 100 ? "%.3g s" : "%.0f s", s);
  return text.data();
}
inline std::string bytes_text(i64 n) {
  std::array<char, 32> text;
  const auto x = static_cast<double>(n);
  if (n < 10'000) std::snprintf(text.data(), text.size(), "%" PRId64 " bytes", n);
  else if (n < 1'000'000) std::snprintf(text.data(), text.size(), "%.1f kB", x / 1e3);
  else std::snprintf(text.data(), text.size(), "%.1f MB", x / 1e6);
  return text.data();
}
// The part of a call that must be the same in all ranks, in words.
inline std::string common_text(const Collective& c) {
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
