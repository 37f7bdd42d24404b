// Reductions, scans and sorting against PyTorch.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

namespace {

// p: keepdims, then the axes; without axes all are reduced.
ReduceOptions options_of(const GoldenCase& c) {
  ReduceOptions o{.keepdims = c.integer(0) != 0};
  if (c.p.size() > 1) o.axis = std::vector<i64>(c.p.begin() + 1, c.p.end());
  return o;
}

#define REDUCTION(op) GOLDEN_OP(#op, op(x[0], options_of(c)))
#define SUM(op) GOLDEN_SUM(#op, op(x[0], options_of(c)))

// Of softmax: y (g - sum(g y)) is small where the two terms cancel. Of log_softmax: x - logsumexp(x) is.
constexpr GoldenBounds of_softmax{.gradient32 = 5e-5}, of_log_softmax{.output = Of::largest};

}  // namespace

TEST_CASE("golden values: reductions, scans, sorting") {
  check("reduce",
        {SUM(reduce_sum), SUM(reduce_mean), REDUCTION(reduce_prod), REDUCTION(reduce_max), REDUCTION(reduce_min),
         REDUCTION(reduce_logsumexp), SUM(reduce_variance), SUM(reduce_std), REDUCTION(reduce_euclidean_norm),
         GOLDEN_OP("argmax", argmax(x[0], c.integer(0))), GOLDEN_OP("argmin", argmin(x[0], c.integer(0))),
         GOLDEN_SUM("cumsum", cumsum(x[0], {.axis = c.integer(0)})),
         GOLDEN_OP("cumprod", cumprod(x[0], {.axis = c.integer(0)})),
         GOLDEN_OP("sort", sort(x[0], {.axis = c.integer(0),
                                       .direction = c.integer(1) ? Direction::descending : Direction::ascending})),
         GOLDEN_OP("argsort", argsort(x[0], {.axis = c.integer(0)})),
         GOLDEN_OP("top_k", nn::top_k(x[0], c.integer(0)).values, nn::top_k(x[0], c.integer(0)).indices),
         GOLDEN_WITHIN(of_softmax, "softmax", nn::softmax(x[0], {.axis = c.integer(0)})),
         GOLDEN_WITHIN(of_log_softmax, "log_softmax", nn::log_softmax(x[0], {.axis = c.integer(0)}))});
}

#undef REDUCTION
#undef SUM

}  // namespace golden_test
