// Permutation: a random order of 0 ... n - 1 of which each element is computed by itself. Part of the component
// tandem::data.
#pragma once
#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::data {

/// A random order of the numbers 0 ... n - 1, a pure function of its arguments that takes no memory: any position can
/// be asked for, in any order, at the same cost.
///   source  a Feistel network over the smallest power of two that is not below n; numbers from n on are mapped again
///           until they are below it (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002)
class TANDEM_API Permutation {
 public:
  ///   n       at least 0
  ///   seed    selects one of the orders
  ///   stream  selects one of the orders of a seed, such as the epoch
  ///   throws  errors::InvalidArgumentError for a negative n
  Permutation(i64 n, i64 seed, i64 stream = 0);
  i64 size() const { return static_cast<i64>(n_); }
  /// The number at a position in [0, n).
  i64 operator()(i64 position) const;

 private:
  static constexpr int rounds = 6;
  u64 encrypted(u64 x) const;

  u64 n_, key_[rounds];
  int low_bits_, high_bits_;
};

}  // namespace TANDEM_NS::data
