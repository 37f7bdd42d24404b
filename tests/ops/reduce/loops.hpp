// Tensors as doubles and plain loops over every element: what the reductions are compared with.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "tandem/ops/create/constant.hpp"
#include "tests/support/catch.hpp"

namespace loops {
using namespace tandem;

inline std::vector<double> numbers(const Tensor& t) {
  std::vector<double> r;
  const auto take = [&](auto zero) {
    for (auto v : t.to_vector<decltype(zero)>()) r.push_back(static_cast<double>(v));
  };
  switch (t.dtype()) {
    case DType::float32: take(float()); break;
    case DType::float64: take(double()); break;
    case DType::int8: take(std::int8_t()); break;
    case DType::int16: take(std::int16_t()); break;
    case DType::int32: take(std::int32_t()); break;
    case DType::int64: take(std::int64_t()); break;
    case DType::uint8: take(std::uint8_t()); break;
    case DType::uint16: take(std::uint16_t()); break;
    case DType::uint32: take(std::uint32_t()); break;
    case DType::uint64: take(std::uint64_t()); break;
    case DType::bool_: take(bool()); break;
    default: break;
  }
  return r;
}

/// |got - want| <= tolerance (1 + |want|) in each element. One assertion for all of them: one each would take most of a
/// test's time.
inline void check_close(const std::vector<double>& got, const std::vector<double>& want, double tolerance) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i]))) continue;
    INFO("element " << i << ": " << got[i] << " instead of " << want[i]);
    REQUIRE(std::abs(got[i] - want[i]) <= tolerance * (1 + std::abs(want[i])));
  }
}
inline void check_close(const Tensor& got, const std::vector<double>& want, double tolerance) {
  check_close(numbers(got), want, tolerance);
}
inline void check_close(const Tensor& got, const Tensor& want, double tolerance) {
  REQUIRE(got.shape() == want.shape());
  check_close(numbers(got), numbers(want), tolerance);
}

inline std::vector<i64> index_of(const Shape& s, i64 flat) {
  std::vector<i64> at(static_cast<std::size_t>(s.rank()));
  for (int d = s.rank() - 1; d >= 0; --d) at[static_cast<std::size_t>(d)] = flat % s[d], flat /= s[d];
  return at;
}

/// The elements of x that make each output of a reduction over `mask`, in order; and each one's place in x.
struct Group {
  std::vector<double> values;
  std::vector<i64> places;
};
inline std::vector<Group> groups(const Shape& s, const std::vector<double>& x, std::uint32_t mask) {
  i64 outputs = 1;
  for (int d = 0; d < s.rank(); ++d)
    if (!(mask >> d & 1u)) outputs *= s[d];
  std::vector<Group> r(static_cast<std::size_t>(outputs));
  std::vector<i64> at(static_cast<std::size_t>(s.rank()));
  for (i64 i = 0; i < s.size(); ++i) {
    i64 o = 0;
    for (int d = 0; d < s.rank(); ++d)
      if (!(mask >> d & 1u)) o = o * s[d] + at[static_cast<std::size_t>(d)];
    r[static_cast<std::size_t>(o)].values.push_back(x[static_cast<std::size_t>(i)]);
    r[static_cast<std::size_t>(o)].places.push_back(i);
    for (int d = s.rank() - 1; d >= 0 && ++at[static_cast<std::size_t>(d)] == s[d]; --d)
      at[static_cast<std::size_t>(d)] = 0;
  }
  return r;
}
inline Shape reduced(const Shape& s, std::uint32_t mask, bool keepdims) {
  Shape r;
  for (int d = 0; d < s.rank(); ++d)
    if (!(mask >> d & 1u)) r.push_back(s[d]);
    else if (keepdims) r.push_back(1);
  return r;
}
/// The axes in a mask, some of them counted from the end.
inline Axes axes_of(int rank, std::uint32_t mask) {
  Axes r = Axes::none();
  for (int d = 0; d < rank; ++d)
    if (mask >> d & 1u) r.push_back(d % 2 ? d - rank : d);
  return r;
}

/// Values that float32 holds exactly, in [-2, 2].
inline Tensor random(const Shape& s, unsigned seed, DType dtype = DType::float32) {
  std::mt19937 engine(seed);
  std::vector<float> v(static_cast<std::size_t>(s.size()));
  for (float& x : v) x = static_cast<float>(static_cast<int>(engine() % 4097) - 2048) / 1024.0f;
  return constant(v, {.dtype = dtype, .shape = s});
}
/// Positive values in [0.05, 0.15) that are no multiples of a power of two: adding many of them one by one in float32
/// loses digits.
inline Tensor positive(const Shape& s, unsigned seed, DType dtype = DType::float32) {
  std::mt19937 engine(seed);
  std::vector<float> v(static_cast<std::size_t>(s.size()));
  for (float& x : v) x = 0.05f + 0.1f * static_cast<float>(engine() % 9973) / 9973.f;
  return constant(v, {.dtype = dtype, .shape = s});
}
inline Tensor random_ints(const Shape& s, unsigned seed, DType dtype, int low = 0, int high = 7) {
  std::mt19937 engine(seed);
  std::vector<int> v(static_cast<std::size_t>(s.size()));
  for (int& x : v) x = low + static_cast<int>(engine() % static_cast<unsigned>(high - low + 1));
  return constant(v, {.dtype = dtype, .shape = s});
}
/// Shapes of a rank with sizes 1 to 5, and one wide enough for whole registers.
inline std::vector<Shape> shapes(int rank) {
  std::mt19937 engine(static_cast<unsigned>(rank) + 1);
  std::vector<Shape> r;
  for (int k = 0; k < 3; ++k) {
    Shape s;
    for (int d = 0; d < rank; ++d) s.push_back(k == 2 && d == (rank - 1) / 2 ? 37 : 1 + static_cast<i64>(engine() % 5));
    r.push_back(s);
  }
  return r;
}
}  // namespace loops
