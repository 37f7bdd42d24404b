// diag, diag_part, set_diag, trace, tensor_diag against loops: offsets, batches, dtypes, gradients, open sizes, errors.
#include "tandem/ops/linalg/diagonal.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::Index;

namespace {
using Ints = std::vector<std::int32_t>;
Ints ints(const Tensor& x) { return x.to_vector<std::int32_t>(); }
}  // namespace

TEST_CASE("linalg::diag and diag_part: small examples") {
  CHECK(ints(linalg::diag(constant({1, 2}))) == Ints{1, 0, 0, 2});
  CHECK(ints(linalg::diag(constant({1, 2}), {.k = 1})) == Ints{0, 1, 0, 0, 0, 2, 0, 0, 0});
  CHECK(ints(linalg::diag(constant({1, 2}), {.k = -1, .num_rows = 3, .num_cols = 2})) == Ints{0, 0, 1, 0, 0, 2});
  const Tensor x = constant({{1, 2, 3}, {4, 5, 6}});
  CHECK(ints(linalg::diag_part(x)) == Ints{1, 5});
  CHECK(ints(linalg::diag_part(x, {.k = 1})) == Ints{2, 6});
  CHECK(ints(linalg::diag_part(x, {.k = -1})) == Ints{4});
  CHECK(linalg::diag_part(x, {.k = 7}).shape() == Shape{0});
  CHECK(ints(linalg::set_diag(x, constant({8, 9}))) == Ints{8, 2, 3, 4, 9, 6});
  CHECK(linalg::trace(x).item<std::int32_t>() == 6);
  CHECK(ints(linalg::trace(stack({x, x + 1}))) == Ints{6, 8});
  CHECK(linalg::diag(zeros({0})).shape() == Shape{0, 0});
  CHECK(linalg::diag(zeros({2, 0}), {.k = 2}).shape() == Shape{2, 2, 2});
}

TEST_CASE("diagonals equal loops, whatever the offset, the sizes and the dtype") {
  testing::Shapes random(21);
  for (int round = 0; round < 300; ++round) {
    const Shape s = random.shape(2, 4);
    const i64 rows = s.dim(-2), columns = s.dim(-1), k = random.pick(-6, 6);
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    const Tensor d = linalg::diag_part(x, {.k = k});
    const i64 length = std::max<i64>(0, std::min(rows - std::max<i64>(-k, 0), columns - std::max<i64>(k, 0)));
    REQUIRE(d.shape()[-1] == length);
    CHECK(testing::misplaced(d, x, [&](Index at) {
            const i64 i = at.back();
            at.back() = i + std::max<i64>(-k, 0);
            at.push_back(i + std::max<i64>(k, 0));
            return testing::place(s, at);
          }) == 0);
    if (length == 0) continue;
    const auto on_diagonal = [&](const Index& at) { return at[at.size() - 1] - at[at.size() - 2] == k; };
    const auto place_in_d = [&](Index at) {
      at.pop_back();
      at.back() -= std::max<i64>(-k, 0);
      return testing::place(d.shape(), at);
    };
    CHECK(testing::misplaced(linalg::diag(d, {.k = k, .num_rows = rows, .num_cols = columns}), d,
                             [&](const Index& at) { return on_diagonal(at) ? place_in_d(at) : -1; }) == 0);
    const Tensor other = testing::numbered(d.shape(), d.dtype(), 50), y = linalg::set_diag(x, other, {.k = k});
    i64 wrong = 0;
    testing::for_each_index(s, [&](const Index& at) {
      const std::string want =
          on_diagonal(at) ? testing::element(other, place_in_d(at)) : testing::element(x, testing::place(s, at));
      wrong += testing::element(y, testing::place(s, at)) != want;
    });
    CHECK(wrong == 0);
  }
}

TEST_CASE("tensor_diag and tensor_diag_part undo each other") {
  const Tensor x = constant({{1, 2, 3}, {4, 5, 6}});
  const Tensor y = linalg::tensor_diag(x);
  CHECK(y.shape() == Shape{2, 3, 2, 3});
  CHECK(reduce_sum(y).item<std::int32_t>() == 21);
  CHECK(y(1, 2, 1, 2).item<std::int32_t>() == 6);
  CHECK(ints(linalg::tensor_diag_part(y)) == ints(x));
  CHECK(ints(linalg::tensor_diag(constant({7, 8}))) == Ints{7, 0, 0, 8});
}

TEST_CASE("diagonals: gradients against differences, and sizes that a trace does not know") {
  testing::Shapes random(22);
  const auto error = [](const auto& f, const Tensor& x) { return test::compute_gradient_error(f, x); };
  CHECK(error([](const Tensor& t) { return square(linalg::diag(t, {.k = -1})); }, random.reals({2, 3})) < 1e-7);
  CHECK(error([](const Tensor& t) { return square(linalg::diag_part(t, {.k = 1})); }, random.reals({2, 3, 4})) < 1e-7);
  const Tensor d = random.reals({3});
  CHECK(error([&](const Tensor& t) { return square(linalg::set_diag(t, d)); }, random.reals({3, 4})) < 1e-7);
  const Tensor m = random.reals({3, 4});
  CHECK(error([&](const Tensor& t) { return square(linalg::set_diag(m, t)); }, d) < 1e-7);
  CHECK(error([](const Tensor& t) { return square(linalg::tensor_diag(t)); }, random.reals({2, 2})) < 1e-7);
  const auto open = function(
      [](const Tensor& t) {
        GradientTape tape;
        tape.watch(t);
        const Tensor y = linalg::trace(t) * reduce_sum(linalg::tensor_diag(linalg::diag_part(t, {.k = 1})));
        return tape.gradient(y, t);
      },
      {.input_signature = {TensorSpec({none, none}, float64)}});
  CHECK(open(constant({{1., 2.}, {3., 4.}}, float64)).to_vector<double>() == std::vector<double>{2, 5, 0, 2});
  CHECK(open(constant({{1., 2., 9.}, {3., 4., 5.}}, float64)).to_vector<double>() ==
        std::vector<double>{7, 5, 0, 0, 7, 5});
}

TEST_CASE("diagonals: errors") {
  CHECK_THROWS_WITH(linalg::diag(constant(1)), ContainsSubstring("rank 1 or more"));
  CHECK_THROWS_WITH(linalg::diag(constant({1, 2}), {.num_rows = 3, .num_cols = 3}),
                    ContainsSubstring("diagonal 0 of a matrix of 3 x 3 does not have 2 elements"));
  CHECK_THROWS_WITH(linalg::diag(constant({1, 2}), {.k = INT64_MIN}), ContainsSubstring("out of range"));
  for (const i64 huge : {INT64_MAX, i64{1} << 40})
    CHECK_THROWS_AS(linalg::diag(constant({1, 2}), {.k = 2 - huge, .num_rows = huge, .num_cols = huge}),
                    errors::OpError);
  CHECK(linalg::diag_part(zeros({2, 2}), {.k = -(i64{1} << 40)}).shape() == Shape{0});
  CHECK_THROWS_WITH(linalg::diag_part(constant({1, 2})), ContainsSubstring("needs a matrix"));
  CHECK_THROWS_WITH(linalg::set_diag(zeros({2, 2}), zeros({3})), ContainsSubstring("shape (2,)"));
  CHECK_THROWS_WITH(linalg::set_diag(zeros({2, 2}), constant({1, 2})), ContainsSubstring("dtypes differ"));
  CHECK_THROWS_WITH(linalg::tensor_diag_part(zeros({2, 3})), ContainsSubstring("second half"));
  CHECK_THROWS_WITH(linalg::tensor_diag(zeros({1, 1, 1, 1, 1})), ContainsSubstring("more than 8 axes"));
}
