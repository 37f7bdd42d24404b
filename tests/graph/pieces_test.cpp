// The pass join_pieces: a gradient to all rows of a tensor, one by one, is one concat; the same bits.
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/passes.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::count, testing::evaluate, testing::List, testing::same_bits, testing::traced, testing::wave;

namespace {

// How many tensors of zeros with a piece set remain of the gradient of f(x); its bits stay.
template <class F>
int pieces_left(const Shape& shape, DType dtype, const F& f) {
  const Tensor x = cast(wave(shape), dtype);
  const Ref<Graph> g = traced({x.spec()}, [&](const List& a) {
    GradientTape tape;
    tape.watch(a[0]);
    return List{tape.gradient(reduce_sum(f(a[0])), a[0])};
  });
  const Ref<Graph> r = join_pieces(*g);
  verify(*r);
  const List want = evaluate(*g, {x}), got = evaluate(*r, {x});
  CHECK(same_bits(want[0], got[0]));
  CHECK(to_string(*join_pieces(*r)) == to_string(*r));
  CHECK(count(*r, concat_op) == (to_string(*r) != to_string(*g)));
  return count(*r, strided_slice_grad_op);
}

}  // namespace

TEST_CASE("join_pieces: the gradients of all rows are one concat") {
  for (const DType dtype : {float32, float64}) {
    const auto by_rows = [](const Tensor& x) {
      Tensor h = zeros({3}, {.dtype = x.dtype()});
      for (i64 t = 0; t < 5; ++t) {
        const Tensor row = x[t];
        h = tanh(row * h + row);
      }
      return h;
    };
    CHECK(pieces_left({5, 3}, dtype, by_rows) == 0);
    CHECK(pieces_left({5}, dtype, [](const Tensor& x) { return x[0] * x[-1] * x[1] * x[3] * exp(x[2]); }) == 0);
    // Rows that get -0, beside another use of all of them.
    CHECK(pieces_left({2, 3}, dtype, [](const Tensor& x) { return x[0] * -0. + x[1] * -0.; }) == 0);
    CHECK(pieces_left({2, 3}, dtype, [](const Tensor& x) { return x[0] * exp(x[1]) + reduce_sum(sin(x)); }) == 0);
  }
  CHECK(pieces_left({6, 2}, float32, [](const Tensor& x) {
          return exp(slice(x, {0, 0}, {2, 2})) * slice(x, {4, 0}, {2, 2}) + sin(x(Slice(2, 4)));
        }) == 0);
}

TEST_CASE("join_pieces: sums that stay as they are") {
  // Rows that are missing, or come twice; parts of rows; rows the other way round.
  CHECK(pieces_left({3, 2}, float32, [](const Tensor& x) { return exp(x[0]) * x[2]; }) == 2);
  CHECK(pieces_left({2, 2}, float32, [](const Tensor& x) { return exp(x[0]) * x[1] + sin(x[0]); }) == 3);
  CHECK(pieces_left({2, 2}, float32, [](const Tensor& x) {
          return exp(slice(x, {0, 0}, {2, 2})) + slice(x, {1, 0}, {1, 2});
        }) == 2);
  CHECK(pieces_left({2, 2}, float32, [](const Tensor& x) {
          return exp(slice(x, {0, 0}, {2, 1})) * slice(x, {0, 1}, {2, 1});
        }) == 2);
  // Two other terms, which would be added in another order.
  CHECK(pieces_left({2, 3}, float32, [](const Tensor& x) {
          return reduce_sum(x[0] * exp(x[1])) + reduce_sum(sin(x)) + reduce_sum(x * 0.3f);
        }) == 2);
}

TEST_CASE("join_pieces: can be switched off") {
  const Ref<Graph> g = traced({{{2, 3}, float32, {}}}, [](const List& a) {
    GradientTape tape;
    tape.watch(a[0]);
    return List{tape.gradient(reduce_sum(a[0][0] * exp(a[0][1])), a[0])};
  });
  CHECK(count(*optimize(*g, {.join_pieces = false}), strided_slice_grad_op) == 2);
  CHECK(count(*optimize(*g), strided_slice_grad_op) == 0);
}
