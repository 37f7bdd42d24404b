// Words for numbers and operations in errors. Part of the component tandem::distribute. For definitions.
#pragma once
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "tandem/distribute/transport.hpp"
#include "tandem/util/fnv1a.hpp"

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

inline constexpr u64 hash_start = tandem::detail::fnv1a_start;
/// A hash of what has given `hash`, and of a number.
constexpr u64 mixed(u64 hash, i64 number) {
  hash = (hash ^ static_cast<u64>(number)) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}
/// A hash of what common_text() says.
inline u64 common_hash(const Collective& c) {
  const bool has_rows = c.kind == Collective::all_gather || c.kind == Collective::all_to_all;
  const bool combines = c.kind == Collective::all_reduce || c.kind == Collective::reduce_scatter;
  u64 hash = mixed(hash_start, c.kind);
  if (c.kind != Collective::barrier) hash = mixed(mixed(hash, static_cast<i64>(c.dtype)), has_rows ? c.unit : c.count);
  if (combines) hash = mixed(hash, static_cast<i64>(c.op));
  return c.kind == Collective::broadcast ? mixed(hash, c.root) : hash;
}

}  // namespace TANDEM_NS::distribute::impl
