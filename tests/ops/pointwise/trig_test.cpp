// Trigonometry and rounding: against the standard library in double, edges, halves to even, integers.
#include "tandem/ops/pointwise/trig.hpp"

#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;

TEST_CASE("trig: within a few units in the last place") {
  struct Case {
    const char* name;
    Tensor (*op)(const Tensor&, OpOptions);
    double (*formula)(double);
    double low, high;
  };
  const Case cases[] = {{"sin", sin, std::sin, -3, 3},
                        {"cos", cos, std::cos, -1.5, 1.5},
                        {"tan", tan, std::tan, -1.5, 1.5},
                        {"asin", asin, std::asin, -1, 1},
                        {"acos", acos, std::acos, -1, 1},
                        {"atan", atan, std::atan, -50, 50},
                        {"sinh", sinh, std::sinh, -50, 50},
                        {"cosh", cosh, std::cosh, -50, 50},
                        {"asinh", asinh, std::asinh, -50, 50},
                        {"acosh", acosh, std::acosh, 1, 50},
                        {"atanh", atanh, std::atanh, -0.99, 0.99}};
  for (const Case& k : cases) {
    CAPTURE(k.name);
    Doubles x(500), want(500);
    Floats narrow(500), want_narrow(500);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = k.low + (k.high - k.low) * static_cast<double>(i) / 499;
      narrow[i] = static_cast<float>(x[i]);
      want[i] = k.formula(x[i]);
      want_narrow[i] = static_cast<float>(k.formula(narrow[i]));
    }
    CHECK(close(k.op(f64(x), {}), want));
    CHECK(close(k.op(f32(narrow), {}), want_narrow));
  }
}

TEST_CASE("trig: edges") {
  CHECK(same(sin(f32({inf, qnan, -0.f, tiny})), {qnan, qnan, -0.f, tiny}));
  CHECK(same(cos(f32({-inf, 0})), {qnan, 1}));
  CHECK(same(tan(f32({inf, -0.f})), {qnan, -0.f}));
  CHECK(same(asin(f32({1.5f, -0.f})), {qnan, -0.f}));
  CHECK(same(acos(f32({-2, 1})), {qnan, 0}));
  CHECK(same(acosh(f32({0.5f, 1})), {qnan, 0}));
  CHECK(same(atanh(f32({1, -1, 2})), {inf, -inf, qnan}));
  CHECK(close<float>(sin(f32({1e8f})), {0.93163903f}, 2));
  CHECK_THROWS_WITH(sin(i32({1})), ContainsSubstring("sin: no kernel for int32"));
}

TEST_CASE("atan2 honours signed zeros") {
  const float pi = 3.14159265f;
  CHECK(same(atan2(f32({0, -0.f, 0, -0.f}), f32({0, 0, -0.f, -0.f})), {0, -0.f, pi, -pi}));
  CHECK(close<float>(atan2(f32({1}), f32({-1})), {2.3561945f}, 1));
  CHECK(close<float>(atan2(f32({1, -1}), 0), {pi / 2, -pi / 2}, 1));
}

TEST_CASE("rounding: halves to even, zeros keep their sign, integers stay") {
  const Tensor x = f32({-2.5f, -1.5f, -.5f, .5f, 1.5f, 2.5f});
  CHECK(same(round(x), {-2, -2, -0.f, 0, 2, 2}));
  CHECK(same(rint(x), {-2, -2, -0.f, 0, 2, 2}));
  CHECK(same(floor(f32({-1.5f, 1.5f, -0.f, inf, qnan, 1e20f})), {-2, 1, -0.f, inf, qnan, 1e20f}));
  CHECK(same(ceil(f32({-1.5f, 1.5f, -0.5f, -inf})), {-1, 2, -0.f, -inf}));
  CHECK(same(trunc(f32({-1.5f, 1.5f, -0.5f})), {-1, 1, -0.f}));
  CHECK(floor(f64({2251799813685249.5})).item<double>() == 2251799813685249.0);
  CHECK(floor(i32({-7})).item<std::int32_t>() == -7);
  CHECK(round(constant(std::vector<std::uint8_t>{200})).item<std::uint8_t>() == 200);
}
