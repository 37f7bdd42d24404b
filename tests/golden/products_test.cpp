// Matrix products, losses and recurrent layers against PyTorch.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

namespace {

const std::vector<i64> time_first{1, 0, 2};

GoldenList lstm(const GoldenCase&, const GoldenList& x) {  // x, kernel, recurrent kernel, bias, h, c
  const nn::LstmResult r = nn::lstm(transpose(x[0], {.perm = time_first}), {x[4], x[5]}, x[1], x[2], x[3]);
  return {transpose(r.output, {.perm = time_first}), r.state.h, r.state.c};
}
GoldenList gru(const GoldenCase&, const GoldenList& x) {  // x, kernel, recurrent kernel, bias, recurrent bias, h
  const nn::GruResult r = nn::gru(transpose(x[0], {.perm = time_first}), x[5], x[1], x[2], stack({x[3], x[4]}));
  return {transpose(r.output, {.perm = time_first}), r.state};
}

// max(x, 0) - x z + log(1 + exp(-|x|)) is small where the first two terms cancel.
constexpr GoldenBounds terms_cancel{.output = Of::largest};

}  // namespace

TEST_CASE("golden values: products, losses, recurrent layers") {
  check("products",
        {GOLDEN_SUM("matmul", matmul(x[0], x[1], {.transpose_a = c.p[0] != 0, .transpose_b = c.p[1] != 0})),
         GOLDEN_OP("softmax_cross_entropy", nn::softmax_cross_entropy_with_logits(x[0], x[1])),
         GOLDEN_OP("sparse_softmax_cross_entropy", nn::sparse_softmax_cross_entropy_with_logits(x[0], x[1])),
         GOLDEN_WITHIN(terms_cancel, "sigmoid_cross_entropy", nn::sigmoid_cross_entropy_with_logits(x[0], x[1])),
         {"lstm", GoldenOp{&lstm, sums}},
         {"gru", GoldenOp{&gru, sums}}});
}

}  // namespace golden_test
