// fnv1a: a 64-bit hash of bytes that is the same on every machine.
#pragma once
#include <string_view>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::detail {

inline constexpr u64 fnv1a_start = 0xcbf29ce484222325u;

/// Hashes `bytes` after those that have the hash `before`.
///   source  G. Fowler, L. C. Noll, K.-P. Vo, D. Eastlake, "The FNV Non-Cryptographic Hash Algorithm"
inline u64 fnv1a(std::string_view bytes, u64 before = fnv1a_start) {
  for (const char c : bytes) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return before;
}

}  // namespace TANDEM_NS::detail
