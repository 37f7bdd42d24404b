// Layout and indexing against PyTorch.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

TEST_CASE("golden values: layout and indexing") {
  check("shape",
        {GOLDEN_OP("transpose", transpose(x[0], {.perm = c.p})), GOLDEN_OP("concat", concat(x, c.integer(0))),
         GOLDEN_OP("stack", stack(x, {.axis = c.integer(0)})),
         GOLDEN_OP("gather", gather(x[0], x[1], {.axis = c.integer(0)})),
         GOLDEN_OP("reverse", reverse(x[0], {c.integer(0)})), GOLDEN_OP("roll", roll(x[0], c.p[0], c.p[1])),
         GOLDEN_OP("take_along_axis", take_along_axis(x[0], x[1], c.integer(0))),
         GOLDEN_OP("tile", tile(x[0], Shape(c.p))), GOLDEN_OP("pad", pad(x[0], {{c.p[0], c.p[1]}, {c.p[2], c.p[3]}})),
         GOLDEN_OP("where", where(x[0] > 0, x[1], x[2])), GOLDEN_OP("gather_nd", gather_nd(x[0], x[1])),
         GOLDEN_OP("scatter_nd", scatter_nd(x[0], x[1], Shape{c.p[0], c.p[1]}))});
}

}  // namespace golden_test
