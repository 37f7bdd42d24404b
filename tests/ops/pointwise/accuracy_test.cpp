// The accuracy that docs/ops.md states for each function, over its whole range on every instruction set.
#include "tests/ops/pointwise/accuracy.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/pointwise/normal.hpp"

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
// NaN at infinity, as TensorFlow's and PyTorch's; so are swish and mish at -inf.
long double softsign_l(long double x) { return x / (1 + std::fabs(x)); }
long double normal_tail_l(long double x) { return std::erfc(x / 1.41421356237309504880168872420969808L) / 2; }
long double gelu_l(long double x) { return x == -INFINITY ? 0 : x * normal_tail_l(-x); }
long double swish_l(long double x) { return x * sigmoid_l(x); }
long double mish_l(long double x) { return x * std::tanh(softplus_l(x)); }
long double gelu_slope_l(long double x) {
  if (std::isinf(x)) return x > 0;
  return normal_tail_l(-x) + x * 0.39894228040143267793994605993438187L * std::exp(-x * x / 2);
}
// Next to its root the slope is the difference of two terms of this size.
long double gelu_slope_scale(long double x) { return x > -1.5L && x < 0 ? normal_tail_l(-x) : 0; }
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

// The gradient has no row of its own in the table: its root is ill-conditioned.
template <class T>
void check_gelu_slope() {
  const Op slope = [](const Tensor& x, OpOptions) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(nn::gelu(x), x);
  };
  check<T>("the gradient of gelu", slope, gelu_slope_l, spread<T>(-inf, inf), 6, gelu_slope_scale);
}
TEST_CASE("accuracy: the gradient of gelu, also where it is nearly 0") {
  check_gelu_slope<float>();
  check_gelu_slope<double>();
}

// The rule's text on single numbers, as CUDA runs it.
template <class T>
void check_gelu_of_numbers() {
  double worst = 0, worst_slope = 0;
  for (const T x : spread<T>(-inf, inf)) {
    worst = std::max(worst, ulps(rules::times_normal_cdf(x), gelu_l(x), 0));
    worst_slope = std::max(worst_slope, ulps(rules::times_normal_cdf_slope(x), gelu_slope_l(x), gelu_slope_scale(x)));
  }
  CHECK(worst <= 5);
  CHECK(worst_slope <= 6);
}
TEST_CASE("accuracy: gelu of single numbers") {
  check_gelu_of_numbers<float>();
  check_gelu_of_numbers<double>();
}

}  // namespace accuracy_test
