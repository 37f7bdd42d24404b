// space_to_depth and its relatives, repeat, meshgrid, and shapes that broadcast: examples, loops, inverses, gradients,
// traces with unknown sizes, errors.
#include "tandem/ops/shape/blocks.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::Index;

namespace {
using Ints = std::vector<int>;
Ints ints(const Tensor& t) { return t.to_vector<int>(); }
}  // namespace

TEST_CASE("space_to_depth: the documented example, a loop, and its inverse") {
  const Tensor small = constant({{{{1}, {2}}, {{3}, {4}}}});
  CHECK(space_to_depth(small, 2).shape() == Shape{1, 1, 1, 4});
  CHECK(ints(space_to_depth(small, 2)) == Ints{1, 2, 3, 4});
  for (const DType d : testing::moved_dtypes) {
    const Tensor x = testing::numbered({2, 4, 6, 3}, d), y = nn::space_to_depth(x, 2);
    CHECK(testing::misplaced(y, x, [&](const Index& at) {
            const i64 block = at[3] / 3;
            return testing::place(x.shape(), {at[0], at[1] * 2 + block / 2, at[2] * 2 + block % 2, at[3] % 3});
          }) == 0);
    const Tensor back = depth_to_space(y, 2);
    CHECK(testing::misplaced(back, x, [&](const Index& at) { return testing::place(x.shape(), at); }) == 0);
  }
  // Channels first is the same between transpositions.
  const Tensor x = testing::numbered({2, 4, 6, 3}, int32), first = transpose(x, {0, 3, 1, 2});
  CHECK(ints(space_to_depth(first, 2, {.data_format = "NCHW"})) == ints(transpose(space_to_depth(x, 2), {0, 3, 1, 2})));
  const Tensor deep = testing::numbered({2, 2, 3, 8}, int32), deep_first = transpose(deep, {0, 3, 1, 2});
  CHECK(ints(depth_to_space(deep_first, 2, {.data_format = "NCHW"})) ==
        ints(transpose(depth_to_space(deep, 2), {0, 3, 1, 2})));
}

TEST_CASE("space_to_batch_nd and batch_to_space_nd") {
  const Tensor x = constant({{{{1}, {2}}, {{3}, {4}}}});
  CHECK(space_to_batch_nd(x, {2, 2}, {{0, 0}, {0, 0}}).shape() == Shape{4, 1, 1, 1});
  CHECK(ints(space_to_batch_nd(x, {2, 2}, {{0, 0}, {0, 0}})) == Ints{1, 2, 3, 4});
  // Values of TensorFlow's documentation.
  const Tensor wide = reshape(range(1, 17), {2, 2, 4, 1});
  CHECK(ints(space_to_batch_nd(wide, {2, 2}, {{0, 0}, {2, 0}})) ==
        Ints{0, 1, 3, 0, 9, 11, 0, 2, 4, 0, 10, 12, 0, 5, 7, 0, 13, 15, 0, 6, 8, 0, 14, 16});
  testing::Shapes random(61);
  for (int round = 0; round < 40; ++round) {
    const i64 a = random.pick(1, 3), b = random.pick(1, 3), p = random.pick(0, 2), q = random.pick(0, 2);
    const i64 h = a * random.pick(1, 3) + (a - p % a) % a, w = b * random.pick(1, 3) + (b - q % b) % b;
    const Tensor t = testing::numbered({2, h, w, 2}, testing::moved_dtypes[round % 12]);
    const Tensor y = space_to_batch_nd(t, {a, b}, {{p, 0}, {0, q}});
    const Tensor back = batch_to_space_nd(y, {a, b}, {{p, 0}, {0, q}});
    CHECK(testing::misplaced(back, t, [&](const Index& at) { return testing::place(t.shape(), at); }) == 0);
    CHECK(testing::misplaced(y, t, [&](const Index& at) {
            const i64 block = at[0] / 2, i = at[1] * a + block / b - p, j = at[2] * b + block % b;
            return i < 0 || j >= w ? i64(-1) : testing::place(t.shape(), {at[0] % 2, i, j, at[3]});
          }) == 0);
  }
}

TEST_CASE("blocks: gradients, and traces whose sizes are not known") {
  testing::Shapes random(62);
  const Tensor x = random.reals({2, 4, 2, 4});
  const auto error = [&](auto f) {
    return test::compute_gradient_error([&](const Tensor& t) { return square(f(t)); }, x, {.delta = 1e-5});
  };
  const auto space = [](const Tensor& t) { return space_to_depth(t, 2); };
  const auto depth = [](const Tensor& t) { return depth_to_space(t, 2); };
  const auto to_batch = [](const Tensor& t) { return space_to_batch_nd(t, {2, 3}, {{1, 1}, {1, 0}}); };
  const auto to_space = [](const Tensor& t) { return batch_to_space_nd(t, {2, 1}, {{1, 2}, {0, 1}}); };
  CHECK(error(space) < 1e-7);
  CHECK(error(depth) < 1e-7);
  CHECK(error(to_batch) < 1e-7);
  CHECK(error(to_space) < 1e-7);
  const auto same = [&](auto f) {
    const auto traced = function(f, {.input_signature = {TensorSpec({none, none, none, none}, float64)}});
    CHECK(traced(x).shape() == f(x).shape());
    CHECK(traced(x).template to_vector<double>() == f(x).template to_vector<double>());
  };
  same(space);
  same(depth);
  same(to_batch);
  same(to_space);
}

TEST_CASE("blocks: errors") {
  const Tensor x = zeros({2, 4, 6, 3});
  CHECK_THROWS_WITH(space_to_depth(x, 4), ContainsSubstring("4 does not divide axis 2 of size 6"));
  CHECK_THROWS_WITH(space_to_depth(x, 0), ContainsSubstring("not positive"));
  CHECK_THROWS_WITH(depth_to_space(x, 2), ContainsSubstring("4 does not divide axis 3 of size 3"));
  CHECK_THROWS_WITH(space_to_depth(zeros({4, 4}), 2), ContainsSubstring("rank 4"));
  CHECK_THROWS_WITH(space_to_depth(x, 2, {.data_format = "HWC"}), ContainsSubstring("\"HWC\""));
  CHECK_THROWS_WITH(space_to_batch_nd(x, {3}, {{0, 0}}), ContainsSubstring("3 does not divide axis 1"));
  CHECK_THROWS_WITH(space_to_batch_nd(x, {2, 2}, {{0, 0}}), ContainsSubstring("2 blocks and 1 pairs"));
  CHECK_THROWS_WITH(space_to_batch_nd(x, {2}, {{-1, 1}}), ContainsSubstring("negative"));
  CHECK_THROWS_WITH(batch_to_space_nd(x, {2}, {{5, 4}}), ContainsSubstring("exceed axis 1"));
  CHECK_THROWS_WITH(batch_to_space_nd(x, {3}, {{0, 0}}), ContainsSubstring("3 does not divide axis 0"));
  CHECK_THROWS_WITH(batch_to_space_nd(x, {2}, {{INT64_MAX, 1}}), ContainsSubstring("exceed axis 1"));
  const auto traced = function(
      [](const Tensor& t) {
        return batch_to_space_nd(t, {2}, {{5, 4}});
      },
      {.input_signature = {TensorSpec({none, none, 6, 3}, float32)}});
  CHECK(traced(zeros({2, 5, 6, 3})).shape() == Shape{1, 1, 6, 3});
  CHECK_THROWS_AS(traced(x), errors::InvalidArgumentError);
}

TEST_CASE("repeat") {
  const Tensor v = constant({1, 2, 3}), m = constant({{1, 2}, {3, 4}});
  CHECK(ints(repeat(v, {1, 2, 0})) == Ints{1, 2, 2});
  CHECK(ints(repeat(v, constant({1, 2, 0}))) == Ints{1, 2, 2});
  CHECK(ints(repeat(v, 2)) == Ints{1, 1, 2, 2, 3, 3});
  CHECK(ints(repeat(v, constant(i64(2)))) == Ints{1, 1, 2, 2, 3, 3});
  CHECK(ints(repeat(m, 2)) == Ints{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(ints(repeat(m, {1, 2}, {.axis = 0})) == Ints{1, 2, 3, 4, 3, 4});
  CHECK(ints(repeat(m, 2, {.axis = -1})) == Ints{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(repeat(m, 2, {.axis = -1}).shape() == Shape{2, 4});
  CHECK(ints(repeat(constant(7), 3)) == Ints{7, 7, 7});
  CHECK(repeat(m, 0, {.axis = 0}).shape() == Shape{0, 2});
  CHECK(repeat(constant({"a", "b"}), {2, 1}).to_vector<std::string>() == std::vector<std::string>{"a", "a", "b"});
  testing::Shapes random(63);
  const Tensor x = random.reals({3, 2});
  for (const auto& f : {std::vector<i64>{2, 0, 3}, std::vector<i64>{2}})
    CHECK(test::compute_gradient_error([&](const Tensor& t) { return square(repeat(t, f, {.axis = 0})); }, x,
                                       {.delta = 1e-5}) < 1e-7);
  const auto f = function([](const Tensor& t, const Tensor& n) { return repeat(t, n, {.axis = 0}); },
                          {.input_signature = {TensorSpec({none, 2}, float64), TensorSpec({none}, int32)}});
  CHECK(f(x, constant({2, 0, 3})).to_vector<double>() == repeat(x, {2, 0, 3}, {.axis = 0}).to_vector<double>());
  const auto g = function([](const Tensor& t, const Tensor& n) { return repeat(t, n); },
                          {.input_signature = {TensorSpec({none, 2}, float64), TensorSpec({}, int32)}});
  CHECK(g(x, constant(2)).to_vector<double>() == repeat(x, 2).to_vector<double>());
  CHECK_THROWS_WITH(repeat(v, {1, 2}), ContainsSubstring("2 numbers of repeats for the 3 elements"));
  CHECK_THROWS_WITH(repeat(v, {1, -2, 0}), ContainsSubstring("repeat: the number of repeats at position 1, -2"));
  CHECK_THROWS_WITH(repeat(v, -1), ContainsSubstring("-1"));
  CHECK_THROWS_WITH(repeat(v, constant({1.f})), ContainsSubstring("int32 or int64"));
  CHECK_THROWS_AS(repeat(v, 1, {.axis = 1}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(repeat(v, std::vector<i64>(3, i64(1) << 62)), ContainsSubstring("up to position 1 is too large"));
  const Tensor deep = reshape(v, {1, 1, 1, 1, 1, 1, 1, 3});
  CHECK(repeat(deep, 2, {.axis = -1}).shape() == Shape{1, 1, 1, 1, 1, 1, 1, 6});
  CHECK(ints(repeat(deep, 2, {.axis = -1})) == Ints{1, 1, 2, 2, 3, 3});
}

TEST_CASE("repeat: in a trace, numbers of repeats are checked against sizes that it does not know") {
  const Tensor v = constant({1, 2, 3});
  const auto by_tensor = [](const Shape& x, const Shape& n) {
    return function([](const Tensor& t, const Tensor& r) { return repeat(t, r); },
                    {.input_signature = {TensorSpec(x, int32), TensorSpec(n, int32)}});
  };
  for (const Shape& n : {Shape{none}, Shape{3}})
    for (const Shape& x : {Shape{none}, Shape{3}}) {
      const auto f = by_tensor(x, n);
      CHECK(ints(f(v, constant({1, 0, 2}))) == Ints{1, 3, 3});
      if (n[0] == none) {
        CHECK(ints(f(v, constant({2}))) == Ints{1, 1, 2, 2, 3, 3});
        CHECK_THROWS_AS(f(v, constant({1, 2})), errors::InvalidArgumentError);
      }
    }
  const auto g = function(
      [](const Tensor& t) {
        return repeat(t, {1, 2});
      },
      {.input_signature = {TensorSpec({none}, int32)}});
  CHECK(ints(g(constant({1, 2}))) == Ints{1, 2, 2});
  CHECK_THROWS_AS(g(v), errors::InvalidArgumentError);
}

TEST_CASE("meshgrid") {
  const Tensor x = constant({1, 2, 3}), y = constant({4, 5});
  const std::vector<Tensor> xy = meshgrid({x, y}), ij = meshgrid({x, y}, {.indexing = "ij"});
  CHECK(xy[0].shape() == Shape{2, 3});
  CHECK(ints(xy[0]) == Ints{1, 2, 3, 1, 2, 3});
  CHECK(ints(xy[1]) == Ints{4, 4, 4, 5, 5, 5});
  CHECK(ij[0].shape() == Shape{3, 2});
  CHECK(ints(ij[0]) == Ints{1, 1, 2, 2, 3, 3});
  CHECK(ints(ij[1]) == Ints{4, 5, 4, 5, 4, 5});
  const std::vector<Tensor> three = meshgrid({x, y, constant(9)});
  CHECK(three[2].shape() == Shape{2, 3, 1});
  CHECK(ints(three[2]) == Ints(6, 9));
  CHECK(meshgrid({}).empty());
  CHECK(ints(meshgrid({x})[0]) == Ints{1, 2, 3});
  testing::Shapes random(64);
  const auto f = [](const Tensor& a, const Tensor& b) {
    const std::vector<Tensor> g = meshgrid({a, b});
    return square(g[0] * g[1]);
  };
  const Tensor a = random.reals({3}), b = random.reals({2});
  CHECK(test::compute_gradient_error(f, {a, b}, {.delta = 1e-5}) < 1e-7);
  const auto traced = function(f, {.input_signature = {TensorSpec({none}, float64), TensorSpec({none}, float64)}});
  CHECK(traced(a, b).to_vector<double>() == f(a, b).to_vector<double>());
  CHECK_THROWS_WITH(meshgrid({zeros({2, 2})}), ContainsSubstring("must be vectors"));
  CHECK_THROWS_WITH(meshgrid({x}, {.indexing = "yx"}), ContainsSubstring("\"yx\""));
}

TEST_CASE("broadcast_static_shape, broadcast_dynamic_shape, shape_n, identity_n") {
  CHECK(broadcast_static_shape({3, 1}, {2, 1, 4}) == Shape{2, 3, 4});
  CHECK(broadcast_static_shape({none, 1}, {5}) == Shape{none, 5});
  CHECK(broadcast_static_shape({0}, {1}) == Shape{0});
  CHECK_THROWS_WITH(broadcast_static_shape({3, 2}, {3, 4}), ContainsSubstring("(3, 2) and (3, 4) do not broadcast"));
  CHECK(ints(broadcast_dynamic_shape(constant({3, 1}), constant({2, 1, 4}))) == Ints{2, 3, 4});
  CHECK(broadcast_dynamic_shape(constant({i64(3)}), zeros({0}, int64)).to_vector<i64>() == std::vector<i64>{3});
  CHECK_THROWS_WITH(broadcast_dynamic_shape(constant({3, 2}), constant({3, 4})),
                    ContainsSubstring("(3, 2) and (3, 4)"));
  const auto f = function([](const Tensor& a, const Tensor& b) { return broadcast_dynamic_shape(shape(a), shape(b)); },
                          {.input_signature = {TensorSpec({none, 1}, float32), TensorSpec({none}, float32)}});
  CHECK(ints(f(zeros({3, 1}), zeros({4}))) == Ints{3, 4});
  const std::vector<Tensor> shapes = shape_n({zeros({2, 3}), zeros({4})}, {.out_type = int64});
  CHECK(shapes[0].to_vector<i64>() == std::vector<i64>{2, 3});
  CHECK(shapes[1].to_vector<i64>() == std::vector<i64>{4});
  const Tensor x = constant({1, 2});
  const std::vector<Tensor> copies = identity_n({x, x});
  CHECK(!copies[0].is_same(x));
  CHECK(ints(copies[1]) == Ints{1, 2});
  CHECK(parallel_stack({x, x}).shape() == Shape{2, 2});
}
