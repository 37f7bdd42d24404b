// Special functions against SciPy.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

// float32: the functions are steep, and the inputs are rounded.
#define UNARY(op)                                                                                  \
  {                                                                                                \
#op, GoldenOp {                                                                                \
      [](const GoldenCase&, const GoldenList& x) -> GoldenList { return {op(x[0])}; }, 1e-11, 1e-4 \
    }                                                                                              \
  }
#define BINARY(op)                                                                                       \
  {                                                                                                      \
#op, GoldenOp {                                                                                      \
      [](const GoldenCase&, const GoldenList& x) -> GoldenList { return {op(x[0], x[1])}; }, 1e-11, 1e-4 \
    }                                                                                                    \
  }

TEST_CASE("golden values: special functions") {
  check("special", {UNARY(lgamma),
                    UNARY(digamma),
                    UNARY(ndtri),
                    UNARY(erfcinv),
                    UNARY(bessel_i0),
                    UNARY(bessel_i1),
                    UNARY(bessel_i0e),
                    UNARY(bessel_i1e),
                    BINARY(igamma),
                    BINARY(igammac),
                    BINARY(polygamma),
                    BINARY(zeta),
                    UNARY(lbeta),
                    {"betainc", GoldenOp{[](const GoldenCase&, const GoldenList& x) -> GoldenList {
                                           return {betainc(x[0], x[1], x[2])};
                                         },
                                         1e-11, 1e-4}}});
}

#undef UNARY
#undef BINARY

}  // namespace golden_test
