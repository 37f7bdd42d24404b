// Gradients of the pointwise ops and of cast: first and second order against central differences in float64, kinks,
// what stops, what must stay finite.
#include <functional>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;

namespace {
using List = std::vector<Tensor>;
using Function = std::function<Tensor(const List&)>;

constexpr test::CheckOptions fine{.delta = 1e-5};

// d/dx_k of f, weighted so that an error in g's place shows.
Tensor slope(const Function& f, const List& x, std::size_t k) {
  GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  const Tensor y = f(x);
  return tape.gradient(square(y), x[k]);
}
void check_orders(const char* name, const Function& f, const List& x) {
  CAPTURE(name);
  CHECK(test::compute_gradient_error(f, x, fine) < 1e-6);
  for (std::size_t k = 0; k < x.size(); ++k) {
    CAPTURE(k);
    CHECK(test::compute_gradient_error([&](const List& p) { return slope(f, p, k); }, x, fine) < 1e-5);
  }
}
void check_unary(const char* name, Tensor (*op)(const Tensor&, OpOptions), const Tensor& x) {
  check_orders(name, [op](const List& p) { return op(p[0], {}); }, {x});
}
void check_binary(const char* name, Tensor (*op)(const Tensor&, const Tensor&, OpOptions), const Tensor& a,
                  const Tensor& b) {
  check_orders(name, [op](const List& p) { return op(p[0], p[1], {}); }, {a, b});
}
Tensor gradient_of(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x), x);
}
}  // namespace

TEST_CASE("gradients: unary ops, first and second order") {
  const Tensor any = f64({-1.3, -0.4, 0.3, 0.7, 1.9}), positive = f64({0.3, 0.7, 1.9, 3.1}),
               inside = f64({-0.7, 0.2, 0.6});
  check_unary("negative", negative, any);
  check_unary("abs", abs, any);
  check_unary("square", square, any);
  check_unary("exp", exp, any);
  check_unary("expm1", expm1, any);
  check_unary("log", log, positive);
  check_unary("log1p", log1p, positive);
  check_unary("sqrt", sqrt, positive);
  check_unary("rsqrt", rsqrt, positive);
  check_unary("reciprocal", reciprocal, positive);
  check_unary("sigmoid", sigmoid, any);
  check_unary("log_sigmoid", log_sigmoid, any);
  check_unary("softplus", softplus, any);
  check_unary("tanh", tanh, any);
  check_unary("sin", sin, any);
  check_unary("cos", cos, any);
  check_unary("tan", tan, inside);
  check_unary("asin", asin, inside);
  check_unary("acos", acos, inside);
  check_unary("atan", atan, any);
  check_unary("sinh", sinh, any);
  check_unary("cosh", cosh, any);
  check_unary("asinh", asinh, any);
  check_unary("acosh", acosh, f64({1.4, 2.2}));
  check_unary("atanh", atanh, inside);
  check_unary("erf", erf, any);
  check_unary("erfc", erfc, any);
}

TEST_CASE("gradients: activations, first and second order") {
  const Tensor any = f64({-2.7, -1.3, -0.4, 0.3, 0.7, 1.9, 6.5});
  check_unary("relu", nn::relu, any);
  check_unary("relu6", nn::relu6, any);
  check_unary("elu", nn::elu, any);
  check_unary("selu", nn::selu, any);
  check_unary("softsign", nn::softsign, any);
  check_unary("hard_sigmoid", nn::hard_sigmoid, any);
  check_unary("mish", nn::mish, any);
  check_orders("leaky_relu", [](const List& p) { return nn::leaky_relu(p[0], {.alpha = 0.3}); }, {any});
  check_orders("leaky_relu, slopes", [](const List& p) { return tandem::detail::leaky_relu(p[0], p[1]); },
               {any, f64({0.25})});
  check_orders("gelu", [](const List& p) { return nn::gelu(p[0]); }, {any});
  check_orders("gelu, approximate", [](const List& p) { return nn::gelu(p[0], {.approximate = true}); }, {any});
  check_orders("swish", [](const List& p) { return nn::swish(p[0]); }, {any});
  check_orders("swish, beta", [](const List& p) { return nn::swish(p[0], {.beta = 1.5}); }, {any});
}

TEST_CASE("gradients: binary ops, also of broadcast operands") {
  const Tensor m = constant(Doubles{0.4, 1.1, -0.6, 2.2, -1.3, 0.9}, {.shape = {2, 3}}), row = f64({1.7, 0.6, 2.5});
  const Tensor positive = constant(Doubles{0.4, 1.1, 0.6, 2.2, 1.3, 0.9}, {.shape = {2, 3}});
  check_binary("add", add, m, row);
  check_binary("subtract", subtract, m, row);
  check_binary("multiply", multiply, m, row);
  check_binary("divide", divide, m, row);
  check_binary("maximum", maximum, m, row);
  check_binary("minimum", minimum, m, row);
  check_binary("pow", pow, positive, row);
  check_binary("atan2", atan2, m, row);
  check_binary("floormod", floormod, m, row);
  check_binary("div_no_nan", div_no_nan, m, row);
  check_binary("multiply_no_nan", multiply_no_nan, m, row);
  check_binary("squared_difference", squared_difference, m, row);
  check_binary("hypot", hypot, m, row);
  check_binary("xlogy", xlogy, m, row);
  check_binary("xlog1py", xlog1py, m, row);
  check_binary("xdivy", xdivy, m, row);
  const Tensor mask = b8({true, false, true});
  check_orders("where", [mask](const List& p) { return where(mask, p[0], p[1]); }, {m, row});
  check_orders("clip_by_value", [](const List& p) { return clip_by_value(p[0], p[1], p[2]); },
               {m, f64({-0.5, 0.7, 0.1}), f64({1, 1, 2})});
}

TEST_CASE("gradients: kinks and ends") {
  CHECK(same(gradient_of([](const Tensor& x) { return abs(x); }, f32({-1, 0, 2})), {-1, 0, 1}));
  CHECK(same(gradient_of([](const Tensor& x) { return nn::relu(x); }, f32({-1, 0, 2})), {0, 0, 1}));
  CHECK(same(gradient_of([](const Tensor& x) { return nn::relu6(x); }, f32({-1, 0, 2, 6, 7})), {0, 0, 1, 0, 0}));
  CHECK(same(gradient_of([](const Tensor& x) { return nn::leaky_relu(x, {.alpha = .5}); }, f32({-1, 0, 2})),
             {.5f, .5f, 1}));
  constexpr float selu_scale = 1.0507009873554805f;
  CHECK(same(gradient_of([](const Tensor& x) { return nn::selu(x); }, f32({0, -0.f, 2})),
             {selu_scale, selu_scale, selu_scale}));
  CHECK(same(gradient_of([](const Tensor& x) { return clip_by_value(x, -1, 1); }, f32({-2, -1, 1, 2})), {0, 1, 1, 0}));
  CHECK(same(gradient_of([](const Tensor& x) { return sqrt(x); }, f32({0})), {inf}));
  CHECK(same(gradient_of([](const Tensor& x) { return maximum(x, 1); }, f32({0, 1, 2})), {0, 1, 1}));
  CHECK(same(gradient_of([](const Tensor& x) { return pow(x, 0); }, f32({0, 2})), {0, 0}));
  CHECK(same(gradient_of([](const Tensor& x) { return pow(x, 3); }, f32({0, 2, -1})), {0, 12, 3}));
  CHECK(same(gradient_of([](const Tensor& b) { return pow(f32({-2, 0, 1}), b); }, f32({3, 2, 5})), {0, 0, 0}));
  CHECK(same(gradient_of([](const Tensor& x) { return atan2(x, x); }, f32({0})), {0}));
  CHECK(same(gradient_of([](const Tensor& b) { return div_no_nan(f32({5, 6}), b); }, f32({0, 2})), {-0.f, -1.5f}));
  CHECK(same(gradient_of([](const Tensor& x) { return xlogy(x, f32({0, 1})); }, f32({0, 2})), {0, 0}));
  CHECK(same(gradient_of([](const Tensor& x) { return where(x > 0, x, 0); }, f32({-1, 3})), {0, 1}));
  CHECK(same(gradient_of([](const Tensor& x) { return sigmoid(x); }, f32({-1000, 1000})), {0, 0}));
}

TEST_CASE("gradients: cast goes back in the first dtype, and stops at integers") {
  const Tensor x = f32({1.5f, 2});
  CHECK(same(gradient_of([](const Tensor& t) { return cast(t, float64) * 3; }, x), {3, 3}));
  CHECK(same(gradient_of([](const Tensor& t) { return cast(cast(t, float16) * 3, float32); }, x), {3, 3}));
  CHECK(same(gradient_of([](const Tensor& t) { return saturate_cast(t, float16) * 3; }, f32({1, 1e6f})), {3, 0}));
  const Tensor stopped = gradient_of([](const Tensor& t) { return cast(cast(t, int32), float32); }, x);
  CHECK(!stopped.is_set());
  CHECK_THROWS_WITH(stopped.size(), ContainsSubstring("non-differentiable op Cast"));
  CHECK_THROWS_WITH(gradient_of([](const Tensor& t) { return floor(t) + cast(t > 1, float32); }, x).size(),
                    ContainsSubstring("non-differentiable op"));
}
