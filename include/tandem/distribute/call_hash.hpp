// Hashes of operations: ranks that call the same ones have the same hashes. Part of the component tandem::distribute.
// For definitions.
#pragma once
#include "tandem/distribute/transport.hpp"
#include "tandem/util/fnv1a.hpp"

namespace TANDEM_NS::distribute::impl {

inline constexpr u64 hash_start = tandem::detail::fnv1a_start;
/// A hash of what has given `hash`, and of a number.
constexpr u64 mixed(u64 hash, i64 number) {
  hash = (hash ^ static_cast<u64>(number)) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}
/// A hash of the part of a call that must be the same in all ranks: of what common_text() says.
inline u64 common_hash(const Collective& c) {
  const bool has_rows = c.kind == Collective::all_gather || c.kind == Collective::all_to_all;
  const bool combines = c.kind == Collective::all_reduce || c.kind == Collective::reduce_scatter;
  u64 hash = mixed(hash_start, c.kind);
  if (c.kind != Collective::barrier) hash = mixed(mixed(hash, static_cast<i64>(c.dtype)), has_rows ? c.unit : c.count);
  if (combines) hash = mixed(hash, static_cast<i64>(c.op));
  return c.kind == Collective::broadcast ? mixed(hash, c.root) : hash;
}

}  // namespace TANDEM_NS::distribute::impl
