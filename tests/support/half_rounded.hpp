// check_rounded: a function of half precision has the bits of float32's result, rounded once.
#pragma once
#include <cstdint>
#include <tuple>
#include <vector>

#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

namespace half_rounded {

/// The bits of half precision or float32.
inline std::vector<std::uint32_t> bits(const tandem::Tensor& x) {
  if (x.dtype() == tandem::float32) return tandem::bitcast(x, tandem::uint32).to_vector<std::uint32_t>();
  const auto narrow = tandem::bitcast(x, tandem::uint16).to_vector<std::uint16_t>();
  return {narrow.begin(), narrow.end()};
}
inline tandem::Tensor drawn(const tandem::Shape& shape, tandem::DType d, tandem::i64 seed) {
  return tandem::cast(tandem::random::stateless_normal(shape, {seed, 1}), d);
}
/// Checks that f has the bits of the same on float32 operands, rounded.
template <class F, class... T>
void check_rounded(const char* what, const F& f, const T&... x) {
  const tandem::DType half = std::get<0>(std::tie(x...)).dtype();
  CAPTURE(what, name(half));
  const tandem::Tensor got = f(x...), want = f(tandem::cast(x, tandem::float32)...);
  CHECK(got.dtype() == half);
  CHECK(bits(got) == bits(tandem::cast(want, half)));
}

}  // namespace half_rounded
