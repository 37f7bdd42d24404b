// Segments, scatters, searches, blocks and lengths against PyTorch and NumPy.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

// Gradients of products divide by nothing, but cancel.
constexpr GoldenBounds of_products{.gradient = Of::largest};

#define GOLDEN_SEGMENT(bounds, how)                                  \
  GOLDEN_WITHIN(bounds, "segment_" #how, segment_##how(x[0], x[1])), \
      GOLDEN_WITHIN(bounds, "unsorted_segment_" #how, unsorted_segment_##how(x[0], x[1], c.p[0]))
#define GOLDEN_SCATTER(how) GOLDEN_SUM("tensor_scatter_nd_" #how, tensor_scatter_nd_##how(x[0], x[1], x[2]))
#define GOLDEN_WHOLE(op) GOLDEN_OP(#op "_int", op(x[0], x[1]))

TEST_CASE("golden values: segments, scatters, searches, blocks") {
  check("index", {GOLDEN_SEGMENT(sums, sum),
                  GOLDEN_SEGMENT(sums, mean),
                  GOLDEN_SEGMENT(of_products, prod),
                  GOLDEN_SEGMENT(GoldenBounds{}, max),
                  GOLDEN_SEGMENT(GoldenBounds{}, min),
                  GOLDEN_SUM("unsorted_segment_sqrt_n", unsorted_segment_sqrt_n(x[0], x[1], c.p[0])),
                  GOLDEN_SCATTER(update),
                  GOLDEN_SCATTER(add),
                  GOLDEN_SCATTER(sub),
                  GOLDEN_SCATTER(max),
                  GOLDEN_SCATTER(min),
                  GOLDEN_OP("searchsorted", searchsorted(x[0], x[1], {.side = c.p[0] ? Side::right : Side::left})),
                  GOLDEN_SUM("bincount", bincount(x[0], {.weights = x[1], .minlength = c.p[0]})),
                  GOLDEN_SUM("repeat", repeat(x[0], x[1], {.axis = c.integer(0)})),
                  GOLDEN_OP("boolean_mask", boolean_mask(x[0], x[1] > 0)),
                  GOLDEN_SUM("cumulative_logsumexp", cumulative_logsumexp(x[0], {.axis = c.integer(0)})),
                  GOLDEN_OP("reverse_sequence", reverse_sequence(x[0], x[1])),
                  GOLDEN_OP("space_to_depth", nn::space_to_depth(x[0], c.p[0])),
                  GOLDEN_OP("depth_to_space", nn::depth_to_space(x[0], c.p[0])),
                  GOLDEN_OP("clip_by_value", clip_by_value(x[0], c.q[0], c.q[1])),
                  GOLDEN_WHOLE(floordiv),
                  GOLDEN_WHOLE(floormod),
                  GOLDEN_WHOLE(truncatediv),
                  GOLDEN_WHOLE(truncatemod)});
}

#undef GOLDEN_SEGMENT
#undef GOLDEN_SCATTER
#undef GOLDEN_WHOLE

}  // namespace golden_test
