// Contractions and norms against PyTorch.
#include <cmath>

#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

namespace {

// The lists of cases_linalg.py, by number.
const char* const equations[] = {
    "ij,jk->ik",          "bij,bjk->bik",   "ii->",    "ii->i",           "i,j->ij", "ij->ji", "ij->j",
    "...ij,...jk->...ik", "abc,cd,be->ade", "ij,ij->", "bhmd,bhnd->bhmn", "ij,jk",   "iji->j", "b...d,de->b...e"};
const double orders[] = {2, 1, INFINITY, 3, 0.5};
const NormOrder matrix_orders[] = {"fro", 1, INFINITY};

}  // namespace

TEST_CASE("golden values: contractions and norms") {
  using namespace tandem::linalg;
  check(
      "linalg",
      {GOLDEN_SUM("einsum", einsum(equations[c.integer(0)], x)), GOLDEN_SUM("tensordot", tensordot(x[0], x[1], c.p[0])),
       GOLDEN_SUM("kron", kron(x[0], x[1])), GOLDEN_SUM("cross", cross(x[0], x[1])),
       GOLDEN_SUM("matrix_power", matrix_power(x[0], c.p[0])), GOLDEN_OP("band_part", band_part(x[0], c.p[0], c.p[1])),
       GOLDEN_SUM("norm", tandem::norm(x[0], {.ord = orders[c.integer(0)], .axis = c.p[1]})),
       GOLDEN_SUM("matrix_norm", tandem::norm(x[0], {.ord = matrix_orders[c.integer(0)], .axis = {-2, -1}})),
       GOLDEN_SUM("trace", trace(x[0])), GOLDEN_SUM("matvec", matvec(x[0], x[1]))});
}

}  // namespace golden_test
