// Ops of complex numbers against PyTorch.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

#define COMPLEX_UNARY(op) GOLDEN_SUM(#op, op(x[0]))
#define COMPLEX_BINARY(op) GOLDEN_SUM(#op, op(x[0], x[1]))

TEST_CASE("golden values: complex numbers") {
  check("complex", {COMPLEX_UNARY(exp),
                    COMPLEX_UNARY(log),
                    COMPLEX_UNARY(sqrt),
                    COMPLEX_UNARY(sin),
                    COMPLEX_UNARY(cos),
                    COMPLEX_UNARY(tan),
                    COMPLEX_UNARY(sinh),
                    COMPLEX_UNARY(cosh),
                    COMPLEX_UNARY(tanh),
                    COMPLEX_UNARY(sigmoid),
                    COMPLEX_UNARY(reciprocal),
                    COMPLEX_UNARY(square),
                    COMPLEX_UNARY(abs),
                    COMPLEX_UNARY(angle),
                    COMPLEX_UNARY(rsqrt),
                    COMPLEX_UNARY(expm1),
                    COMPLEX_UNARY(log1p),
                    COMPLEX_UNARY(conj),
                    COMPLEX_UNARY(real),
                    COMPLEX_UNARY(imag),
                    COMPLEX_UNARY(negative),
                    COMPLEX_BINARY(add),
                    COMPLEX_BINARY(subtract),
                    COMPLEX_BINARY(multiply),
                    COMPLEX_BINARY(divide),
                    COMPLEX_BINARY(pow),
                    COMPLEX_BINARY(complex),
                    COMPLEX_BINARY(matmul),
                    GOLDEN_SUM("reduce_prod", reduce_prod(x[0], 1)),
                    GOLDEN_SUM("reduce_mean", reduce_mean(x[0], 0)),
                    GOLDEN_SUM("cumsum", cumsum(x[0], {.axis = 1})),
                    GOLDEN_SUM("cumprod", cumprod(x[0], {.axis = 1})),
                    GOLDEN_SUM("gather", gather(x[0], x[1])),
                    GOLDEN_SUM("reduce_sum", reduce_sum(x[0], 1))});
}

#undef COMPLEX_UNARY
#undef COMPLEX_BINARY

}  // namespace golden_test
