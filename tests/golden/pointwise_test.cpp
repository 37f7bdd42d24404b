// Unary and binary ops against SciPy and PyTorch.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

#define UNARY(op) GOLDEN_OP(#op, op(x[0]))
#define BINARY(op) GOLDEN_OP(#op, op(x[0], x[1]))

TEST_CASE("golden values: unary ops") {
  using namespace tandem::nn;
  check("unary", {UNARY(abs),          UNARY(negative),
                  UNARY(square),       UNARY(sqrt),
                  UNARY(rsqrt),        UNARY(reciprocal),
                  UNARY(exp),          UNARY(expm1),
                  UNARY(log),          UNARY(log1p),
                  UNARY(sin),          UNARY(cos),
                  UNARY(tan),          UNARY(asin),
                  UNARY(acos),         UNARY(atan),
                  UNARY(sinh),         UNARY(cosh),
                  UNARY(tanh),         UNARY(asinh),
                  UNARY(acosh),        UNARY(atanh),
                  UNARY(sigmoid),      UNARY(log_sigmoid),
                  UNARY(erf),          UNARY(erfc),
                  UNARY(erfinv),       UNARY(floor),
                  UNARY(ceil),         UNARY(trunc),
                  UNARY(round),        UNARY(sign),
                  UNARY(relu),         UNARY(relu6),
                  UNARY(elu),          UNARY(selu),
                  UNARY(gelu),         UNARY(silu),
                  UNARY(softplus),     UNARY(softsign),
                  UNARY(mish),         UNARY(leaky_relu),
                  UNARY(hard_sigmoid), GOLDEN_OP("gelu_tanh", gelu(x[0], {.approximate = true}))});
}

TEST_CASE("golden values: binary ops") {
  check("binary", {BINARY(add), BINARY(subtract), BINARY(multiply), BINARY(divide), BINARY(pow), BINARY(maximum),
                   BINARY(minimum), BINARY(atan2), BINARY(hypot), BINARY(squared_difference), BINARY(xlogy),
                   BINARY(xlog1py), BINARY(floordiv), BINARY(floormod)});
}

#undef UNARY
#undef BINARY

}  // namespace golden_test
