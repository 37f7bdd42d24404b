// Special functions against SciPy.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

#define SPECIAL(op, ...)                                                                            \
  {                                                                                                 \
#op, {                                                                                          \
      [](const GoldenCase&, const GoldenList& x) -> GoldenList { return {op(__VA_ARGS__)}; }, 1e-11 \
    }                                                                                               \
  }

TEST_CASE("golden values: special functions") {
  check("special",
        {SPECIAL(lgamma, x[0]), SPECIAL(digamma, x[0]), SPECIAL(ndtri, x[0]), SPECIAL(erfcinv, x[0]),
         SPECIAL(bessel_i0, x[0]), SPECIAL(bessel_i1, x[0]), SPECIAL(bessel_i0e, x[0]), SPECIAL(bessel_i1e, x[0]),
         SPECIAL(igamma, x[0], x[1]), SPECIAL(igammac, x[0], x[1]), SPECIAL(polygamma, x[0], x[1]),
         SPECIAL(zeta, x[0], x[1]), SPECIAL(lbeta, x[0]), SPECIAL(betainc, x[0], x[1], x[2])});
}

#undef SPECIAL

}  // namespace golden_test
