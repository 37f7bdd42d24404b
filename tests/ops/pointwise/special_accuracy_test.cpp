// Accuracy of the special functions on every instruction set, over their whole range and in both tails: against long
// double references that are computed here in another way, and tables from mpmath where those lose digits.
#include "tandem/ops/pointwise/bessel.hpp"
#include "tandem/ops/pointwise/erf_inverse.hpp"
#include "tandem/ops/pointwise/gamma.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tests/ops/pointwise/accuracy.hpp"

using namespace tandem;
using namespace pointwise_accuracy;

namespace {

template <class T>
void check_special() {
  check<T>("lgamma", lgamma, lgamma_l, spread<T>(-40, INFINITY), 4, one_below_zero);
  check<T>("digamma", digamma, digamma_l, spread<T>(0, INFINITY), 4, digamma_scale);
  check<T>("digamma", digamma, digamma_l, spread<T>(-40, 0), 5, digamma_scale);
  check<T>("i0", bessel_i0, i0_l, spread<T>(-800, INFINITY));
  check<T>("i0e", bessel_i0e, i0e_l, spread<T>(-INFINITY, INFINITY));
  check<T>("i1", bessel_i1, i1_l, spread<T>(-800, INFINITY));
  check<T>("i1e", bessel_i1e, i1e_l, spread<T>(-INFINITY, INFINITY));
  check<T>("erfcinv", erfcinv, erfcinv_l, probabilities<T>(2));
  check<T>("ndtri", ndtri, ndtri_l, probabilities<T>(1));
}
template <class T>
void check_c_library() {
  const std::vector<T> x = spread<T>(-INFINITY, INFINITY);
  check<T>(
      "tan", tan, [](long double v) { return std::tan(v); }, x, 4);
  check<T>(
      "asin", asin, [](long double v) { return std::asin(v); }, x, 4);
  check<T>(
      "acos", acos, [](long double v) { return std::acos(v); }, x, 4);
  check<T>(
      "atan", atan, [](long double v) { return std::atan(v); }, x, 4);
  check<T>(
      "sinh", sinh, [](long double v) { return std::sinh(v); }, x, 4);
  check<T>(
      "cosh", cosh, [](long double v) { return std::cosh(v); }, x, 4);
  check<T>(
      "asinh", asinh, [](long double v) { return std::asinh(v); }, x, 4);
  check<T>(
      "acosh", acosh, [](long double v) { return std::acosh(v); }, x, 4);
  check<T>(
      "atanh", atanh, [](long double v) { return std::atanh(v); }, x, 4);
  check<T>(
      "erfc", erfc, [](long double v) { return std::erfc(v); }, x, 6);
}

}  // namespace

TEST_CASE("float special functions are within 4 ulp on every instruction set") { check_special<float>(); }

TEST_CASE("double special functions are within 4 ulp on every instruction set") { check_special<double>(); }

TEST_CASE("functions of the C library are within a few ulp over their whole range") {
  check_c_library<float>();
  check_c_library<double>();
}

TEST_CASE("digamma is within 4 ulp next to its root") {
  struct Row {
    double x, y;
  };
  const std::vector<Row> table{
      // mpmath, 60 digits
      {1.4616321449683622, -9.2412655217294275168e-17}, {1.4616321449683625, 1.2245374622004069031e-16},
      {1.461632144968362, -3.0727905665462928431e-16},  {1.4616321449693623, 9.6766585941809664668e-13},
      {1.4616321449673622, -9.6785068472941691902e-13}, {1.4616321549683622, 9.6767222589772414202e-9},
      {1.4616321349683623, -9.6767225323551845752e-9},  {1.4616621449683622, 0.000029029768883438817342},
      {1.4616021449683623, -0.00002903056585732807735}, {1.4631321449683623, 0.0014505130226487325642},
      {1.4601321449683622, -0.0014525054585692652427}};
  for (const Row& r : table) {
    CAPTURE(r.x);
    CHECK(ulps<double>(digamma(constant(r.x, {.dtype = float64})).item<double>(), r.y, 0) <= 4);
  }
  const std::vector<Row> of_floats{{1.4616321325302124, -1.2036052549106669488e-8},
                                   {1.461632251739502, 1.0331946336967870787e-7},
                                   {1.4616320133209229, -1.2739158105197845633e-7},
                                   {1.4617321491241455, 0.000096766818239603052635}};
  for (const Row& r : of_floats) {
    CAPTURE(r.x);
    CHECK(ulps<float>(digamma(constant(static_cast<float>(r.x))).item<float>(), r.y, 0) <= 4);
  }
}
