// Special functions against SciPy.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

// float32: the functions are steep, and the inputs are rounded.
#define GOLDEN_UNARY(op)                                                                           \
  {                                                                                                \
#op, GoldenOp {                                                                                \
      [](const GoldenCase&, const GoldenList& x) -> GoldenList { return {op(x[0])}; }, 1e-11, 1e-4 \
    }                                                                                              \
  }
#define GOLDEN_BINARY(op)                                                                                \
  {                                                                                                      \
#op, GoldenOp {                                                                                      \
      [](const GoldenCase&, const GoldenList& x) -> GoldenList { return {op(x[0], x[1])}; }, 1e-11, 1e-4 \
    }                                                                                                    \
  }

TEST_CASE("golden values: special functions") {
  check("special", {GOLDEN_UNARY(lgamma),
                    GOLDEN_UNARY(digamma),
                    GOLDEN_UNARY(ndtri),
                    GOLDEN_UNARY(erfcinv),
                    GOLDEN_UNARY(bessel_i0),
                    GOLDEN_UNARY(bessel_i1),
                    GOLDEN_UNARY(bessel_i0e),
                    GOLDEN_UNARY(bessel_i1e),
                    GOLDEN_BINARY(igamma),
                    GOLDEN_BINARY(igammac),
                    GOLDEN_BINARY(polygamma),
                    GOLDEN_BINARY(zeta),
                    GOLDEN_UNARY(lbeta),
                    {"betainc", GoldenOp{[](const GoldenCase&, const GoldenList& x) -> GoldenList {
                                           return {betainc(x[0], x[1], x[2])};
                                         },
                                         1e-11, 1e-4}}});
}

#undef GOLDEN_UNARY
#undef GOLDEN_BINARY

}  // namespace golden_test
