// The accuracy that docs/ops.md states for each function, over its whole range on every instruction set.
#include "tests/ops/pointwise/accuracy.hpp"
#include "tandem/ops/all.hpp"

namespace accuracy_test {

using namespace tandem;
using namespace pointwise_accuracy;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

long double rsqrt_l(long double x) { return 1 / std::sqrt(x); }
long double reciprocal_l(long double x) { return 1 / x; }
long double sigmoid_l(long double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
long double softplus_l(long double x) {
  return (x > 0 ? x : 0 * (std::isnan(x) ? x : 0)) + std::log1p(std::exp(-std::fabs(x)));
}
long double log_sigmoid_l(long double x) { return -softplus_l(-x); }
long double elu_l(long double x) { return x > 0 ? x : std::expm1(x); }
long double selu_l(long double x) {
  return 1.0507009873554804934193349852946L * (x > 0 ? x : 1.6732632423543772848170429916717L * std::expm1(x));
}
long double softsign_l(long double x) { return std::isinf(x) ? std::copysign(1.0L, x) : x / (1 + std::fabs(x)); }
long double gelu_l(long double x) {
  return x == -INFINITY ? 0 : x * std::erfc(-x / 1.41421356237309504880168872420969808L) / 2;
}
long double swish_l(long double x) { return x == -INFINITY ? 0 : x * sigmoid_l(x); }
long double mish_l(long double x) { return x == -INFINITY ? 0 : x * std::tanh(softplus_l(x)); }
// x Phi(x) is made of 1 + erf, which cancels far below 0: there its error is small against x alone.
long double argument(long double x) { return std::isfinite(x) ? std::fabs(x) : 0; }
// By Newton's method; near 0 by the series.
long double erfinv_l(long double x) {
  constexpr long double half_root_pi = 0.88622692545275801364908374167057259L;
  if (std::fabs(x) < 1e-5L) return half_root_pi * x * (1 + half_root_pi * half_root_pi * x * x / 3);
  if (std::fabs(x) > 0.5L || std::isnan(x)) return x > 0 ? erfcinv_l(1 - x) : -erfcinv_l(1 + x);
  long double y = half_root_pi * x;
  for (int k = 0; k < 20; ++k) y -= (std::erf(y) - x) * half_root_pi * std::exp(y * y);
  return y;
}

template <class T>
void check_rows() {
#define ACCURACY(op, reference, from, to, bound32, bound64, scale)                    \
  check<T>(                                                                           \
      #op, [](const Tensor& x, OpOptions) { return op(x); },                          \
      [](long double x) -> long double { return reference(x); }, spread<T>(from, to), \
      sizeof(T) == 4 ? bound32 : bound64, scale);
#include "tests/ops/pointwise/accuracy_rows.inc"
#undef ACCURACY
}

}  // namespace

TEST_CASE("accuracy: float32 over the whole range of each function") { check_rows<float>(); }

TEST_CASE("accuracy: float64 over the whole range of each function") { check_rows<double>(); }

}  // namespace accuracy_test
