// Deterministic test tensors, and the distance between two tensors.
#pragma once
#include <cstring>

#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

namespace testing {

/// sin(1.7 i + phase) for the i-th element.
inline tandem::Tensor wave(const tandem::Shape& s, float phase = 0, tandem::DType dtype = tandem::float32) {
  using namespace tandem;
  return cast(reshape(sin(range(static_cast<float>(s.size())) * 1.7f + phase), s), dtype);
}
inline bool same_bits(const tandem::Tensor& a, const tandem::Tensor& b) {
  return a.spec() == b.spec() && std::memcmp(a.raw(), b.raw(), a.spec().bytes()) == 0;
}
/// The largest absolute difference, relative to 1 + the largest magnitude in a.
inline double distance(const tandem::Tensor& a, const tandem::Tensor& b) {
  using namespace tandem;
  REQUIRE(a.spec() == b.spec());
  if (a.size() == 0) return 0;
  return reduce_max(abs(cast(a, float64) - cast(b, float64))).item<double>() /
         (1 + reduce_max(abs(cast(a, float64))).item<double>());
}

}  // namespace testing
