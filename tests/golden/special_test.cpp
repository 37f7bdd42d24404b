// Special functions against SciPy.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

// Near a zero, as of lgamma, and where exp(a log x - x - lgamma(a)) is small, as in igamma, the error of a logarithm
// counts in full. The density of the last is also a gradient.
constexpr GoldenBounds bounds{.float64 = 3e-13}, with_density{.float64 = 3e-13, .gradient32 = 1.2e-4};

#define SPECIAL(op, ...) GOLDEN_WITHIN(bounds, #op, op(__VA_ARGS__))
#define WITH_DENSITY(op, ...) GOLDEN_WITHIN(with_density, #op, op(__VA_ARGS__))

TEST_CASE("golden values: special functions") {
  check("special",
        {SPECIAL(lgamma, x[0]), SPECIAL(digamma, x[0]), SPECIAL(ndtri, x[0]), SPECIAL(erfcinv, x[0]),
         SPECIAL(bessel_i0, x[0]), SPECIAL(bessel_i1, x[0]), SPECIAL(bessel_i0e, x[0]), SPECIAL(bessel_i1e, x[0]),
         WITH_DENSITY(igamma, x[0], x[1]), WITH_DENSITY(igammac, x[0], x[1]), SPECIAL(polygamma, x[0], x[1]),
         SPECIAL(zeta, x[0], x[1]), SPECIAL(lbeta, x[0]), WITH_DENSITY(betainc, x[0], x[1], x[2])});
}

#undef SPECIAL
#undef WITH_DENSITY

}  // namespace golden_test
