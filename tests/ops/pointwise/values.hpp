// Short ways to write values down and to compare them; for the tests of pointwise ops.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "tandem/ops/create/constant.hpp"
#include "tests/support/catch.hpp"

namespace pointwise_test {

inline constexpr float inf = std::numeric_limits<float>::infinity();
inline const float qnan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float tiny = std::numeric_limits<float>::denorm_min();

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;
using Bools = std::vector<bool>;

inline tandem::Tensor f32(const Floats& x) { return tandem::constant(x); }
inline tandem::Tensor f64(const Doubles& x) { return tandem::constant(x); }
inline tandem::Tensor i32(const Ints& x) { return tandem::constant(x); }
inline tandem::Tensor b8(const Bools& x) { return tandem::constant(x); }

/// Same bits but for NaN, which equals NaN: signed zeros differ.
inline bool same(float a, float b) { return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b)); }
inline bool same(const tandem::Tensor& t, const Floats& want) {
  const Floats have = t.to_vector<float>();
  bool ok = have.size() == want.size();
  for (std::size_t i = 0; ok && i < have.size(); ++i) ok = same(have[i], want[i]);
  UNSCOPED_INFO(to_string(t));
  return ok;
}
/// Within a few units in the last place of the larger; equal infinities, NaN like NaN.
template <class T>
bool close(const tandem::Tensor& t, const std::vector<T>& want, double ulps = 8) {
  const std::vector<T> have = t.to_vector<T>();
  UNSCOPED_INFO(to_string(t));
  if (have.size() != want.size()) return false;
  for (std::size_t i = 0; i < have.size(); ++i) {
    if ((have[i] != have[i] && want[i] != want[i]) || have[i] == want[i]) continue;
    const double scale = std::max(std::abs(double(have[i])), std::abs(double(want[i])));
    if (!(std::abs(double(have[i]) - double(want[i])) <= ulps * scale * double(std::numeric_limits<T>::epsilon())))
      return false;
  }
  return true;
}

}  // namespace pointwise_test
