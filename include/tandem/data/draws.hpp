// A sequence of random numbers, the same on every machine. For the definitions of data/synthetic.hpp.
#pragma once
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/util/philox.hpp"

namespace TANDEM_NS::data::detail {

class Draws {
 public:
  /// Each data set has a stream of its own.
  enum DataSet : u64 { digits = 1, letters, reviews, titanic };
  Draws(DataSet set, i64 seed) : stream_{static_cast<u64>(seed), set << 56} {}

  /// Uniform among 0 ... n - 1.
  i64 below(i64 n) {
    const u64 at = next_++;
    return static_cast<i64>(random::below(stream_, static_cast<i64>(at), word(at), static_cast<u64>(n)));
  }
  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * random::unit(word(next_++)); }
  bool with_probability(double p) { return random::unit(word(next_++)) < p; }
  double normal(double mean, double stddev) {
    const random::Words w = stream_.block(next_++);
    return mean + stddev * random::normals64(random::join(w.w[0], w.w[1]), random::join(w.w[2], w.w[3])).first;
  }

 private:
  u64 word(u64 at) const {
    const random::Words w = stream_.block(at);
    return random::join(w.w[0], w.w[1]);
  }
  random::Stream stream_;
  u64 next_ = 0;
};

inline void check_count(const char* op, i64 n) {
  if (n < 0) errors::raise<errors::InvalidArgumentError>(op, "n must not be negative, but is " + std::to_string(n));
}

}  // namespace TANDEM_NS::data::detail
