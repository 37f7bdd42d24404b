// Unary and binary ops against SciPy and PyTorch.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

#define GOLDEN_UNARY(op) GOLDEN_OP(#op, op(x[0]))
#define GOLDEN_UNARY_WITHIN(bounds, op) GOLDEN_WITHIN(bounds, #op, op(x[0]))
#define GOLDEN_BINARY(op) GOLDEN_WITHIN(of_broadcast, #op, op(x[0], x[1]))

// float32 at x near -4, where 1 + tanh cancels; at |x| near 9 and 4, where the slopes y (1 - y) and 1 - y^2
// are made of the rounded y, as in TensorFlow and PyTorch.
constexpr GoldenBounds of_gelu_tanh{.float32 = 2e-4, .gradient32 = 2e-4};
constexpr GoldenBounds of_sigmoid{.gradient32 = 4e-4}, of_tanh{.gradient32 = 1e-4};
// Gradients of operands that broadcast are sums.
constexpr GoldenBounds of_broadcast{.gradient32 = 5e-5};

TEST_CASE("golden values: unary ops") {
  using namespace tandem::nn;
  check("unary", {GOLDEN_UNARY(abs),
                  GOLDEN_UNARY(negative),
                  GOLDEN_UNARY(square),
                  GOLDEN_UNARY(sqrt),
                  GOLDEN_UNARY(rsqrt),
                  GOLDEN_UNARY(reciprocal),
                  GOLDEN_UNARY(exp),
                  GOLDEN_UNARY(expm1),
                  GOLDEN_UNARY(log),
                  GOLDEN_UNARY(log1p),
                  GOLDEN_UNARY(sin),
                  GOLDEN_UNARY(cos),
                  GOLDEN_UNARY(tan),
                  GOLDEN_UNARY(asin),
                  GOLDEN_UNARY(acos),
                  GOLDEN_UNARY(atan),
                  GOLDEN_UNARY(sinh),
                  GOLDEN_UNARY(cosh),
                  GOLDEN_UNARY_WITHIN(of_tanh, tanh),
                  GOLDEN_UNARY(asinh),
                  GOLDEN_UNARY(acosh),
                  GOLDEN_UNARY(atanh),
                  GOLDEN_UNARY_WITHIN(of_sigmoid, sigmoid),
                  GOLDEN_UNARY(log_sigmoid),
                  GOLDEN_UNARY(erf),
                  GOLDEN_UNARY(erfc),
                  GOLDEN_UNARY(erfinv),
                  GOLDEN_UNARY(floor),
                  GOLDEN_UNARY(ceil),
                  GOLDEN_UNARY(trunc),
                  GOLDEN_UNARY(round),
                  GOLDEN_UNARY(sign),
                  GOLDEN_UNARY(relu),
                  GOLDEN_UNARY(relu6),
                  GOLDEN_UNARY(elu),
                  GOLDEN_UNARY(selu),
                  GOLDEN_UNARY(gelu),
                  GOLDEN_UNARY(silu),
                  GOLDEN_UNARY(softplus),
                  GOLDEN_UNARY(softsign),
                  GOLDEN_UNARY(mish),
                  GOLDEN_UNARY(leaky_relu),
                  GOLDEN_UNARY(hard_sigmoid),
                  GOLDEN_WITHIN(of_gelu_tanh, "gelu_tanh", gelu(x[0], {.approximate = true}))});
}

TEST_CASE("golden values: binary ops") {
  check("binary", {GOLDEN_BINARY(add), GOLDEN_BINARY(subtract), GOLDEN_BINARY(multiply), GOLDEN_BINARY(divide),
                   GOLDEN_BINARY(pow), GOLDEN_BINARY(maximum), GOLDEN_BINARY(minimum), GOLDEN_BINARY(atan2),
                   GOLDEN_BINARY(hypot), GOLDEN_BINARY(squared_difference), GOLDEN_BINARY(xlogy),
                   GOLDEN_BINARY(xlog1py), GOLDEN_BINARY(floordiv), GOLDEN_BINARY(floormod)});
}

#undef GOLDEN_UNARY
#undef GOLDEN_UNARY_WITHIN
#undef GOLDEN_BINARY

}  // namespace golden_test
