// The reshape family: shapes, errors, shared memory, snapshots of Variables, gradients.
#include "tandem/ops/shape/reshape.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;

TEST_CASE("reshape keeps the elements and their memory", "[shape]") {
  for (DType d : testing::moved_dtypes) {
    const Tensor x = testing::numbered({2, 3, 4}, d), y = reshape(x, {4, -1});
    CHECK(y.shape() == Shape{4, 6});
    CHECK(y.dtype() == d);
    CHECK(y.raw() == x.raw());
  }
  CHECK(reshape(constant(5.f), {1, 1}).shape() == Shape{1, 1});
  CHECK(reshape(constant({5.f}), {}).rank() == 0);
  CHECK(reshape(constant({1, 2, 3, 4}), std::vector<int>{2, 2}).shape() == Shape{2, 2});
}

TEST_CASE("reshape takes scalar tensors and a tensor of dims", "[shape]") {
  const Tensor x = testing::numbered({5, 10, 32}, float32), n = shape(x)[0];
  CHECK(reshape(x, {n, -1}).shape() == Shape{5, 320});
  CHECK(reshape(x, constant({10, 160})).shape() == Shape{10, 160});
  CHECK(reshape(x, {constant(50l), 32}).shape() == Shape{50, 32});
  CHECK_THROWS_WITH(reshape(x, {constant(2.f), -1}), ContainsSubstring("entry of a shape"));
}

TEST_CASE("reshape says what does not fit", "[shape]") {
  const Tensor x = testing::numbered({2, 3}, float32);
  CHECK_THROWS_AS(reshape(x, {4, 2}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(reshape(x, {4, 2}), ContainsSubstring("reshape: float32[2,3]") && ContainsSubstring("(4, 2)") &&
                                            ContainsSubstring("6 elements do not match 8"));
  CHECK_THROWS_WITH(reshape(x, {-1, -1}), ContainsSubstring("only one"));
  CHECK_THROWS_WITH(reshape(x, {4, -1}), ContainsSubstring("not divisible"));
  CHECK_THROWS_WITH(reshape(x, {-2, 3}), ContainsSubstring("negative"));
  const Tensor empty = testing::numbered({0, 3}, float32);
  CHECK_THROWS_WITH(reshape(empty, {0, -1}), ContainsSubstring("size 0"));
  CHECK(reshape(empty, {-1, 3}).shape() == Shape{0, 3});
}

TEST_CASE("expand_dims and squeeze", "[shape]") {
  const Tensor x = testing::numbered({2, 3}, string);
  CHECK(expand_dims(x, 0).shape() == Shape{1, 2, 3});
  CHECK(expand_dims(x, -1).shape() == Shape{2, 3, 1});
  CHECK(expand_dims(x, 2).shape() == Shape{2, 3, 1});
  CHECK_THROWS_WITH(expand_dims(x, 3), ContainsSubstring("axis 3 is out of range for rank 3"));
  const Tensor y = testing::numbered({1, 3, 1, 2}, float32);
  CHECK(squeeze(y).shape() == Shape{3, 2});
  CHECK(squeeze(y, {.axis = {2}}).shape() == Shape{1, 3, 2});
  CHECK(squeeze(y, {.axis = {0, -2}}).shape() == Shape{3, 2});
  CHECK(squeeze(y, 0).raw() == y.raw());
  CHECK_THROWS_WITH(squeeze(y, 1), ContainsSubstring("cannot squeeze axis 1 of size 3"));
}

TEST_CASE("collapse_dims and flatten", "[shape]") {
  for (i64 n : {0, 1, 7}) {
    const Tensor x = testing::numbered({n, 10, 32}, float32);
    CHECK(collapse_dims(x, {{0}, {1, 2}}).shape() == Shape{n, 320});
    CHECK(nn::flatten(x).shape() == Shape{n, 320});
  }
  CHECK(nn::flatten(testing::numbered({3, 32, 19, 64}, uint8)).shape() == Shape{3, 38912});
  CHECK_THROWS_AS(collapse_dims(testing::numbered({2, 3, 4}, float32), {{0}, {2, 1}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(collapse_dims(testing::numbered({2, 3, 4}, float32), {{0}, {1}}), errors::InvalidArgumentError);
}

TEST_CASE("open dims pass through the reshape family", "[shape]") {
  const Tensor x = Tensor::symbol({Shape{none, 10, 32}, float32, {}});
  CHECK(reshape(x, {-1, 320}).shape() == Shape{none, 320});
  CHECK(collapse_dims(x, {{0}, {1, 2}}).shape() == Shape{none, 320});
  CHECK(collapse_leading(x, 2).shape() == Shape{none, 32});
  CHECK(expand_dims(x, 1).shape() == Shape{none, 1, 10, 32});
  CHECK(squeeze(x, 0).shape() == Shape{10, 32});
  CHECK_THROWS_WITH(squeeze(x), ContainsSubstring("name the axes"));
}

TEST_CASE("a view of a Variable's value is a snapshot", "[shape]") {
  const Variable v(constant({{1.f, 2.f}, {3.f, 4.f}}));
  const Tensor row = v.read_value()[0], flat = reshape(v, {4}), part = slice(v, {1, 0}, {1, 2});
  const std::vector<Tensor> rows = unstack(v);
  v.assign_add(constant({{10.f, 10.f}, {10.f, 10.f}}));
  CHECK(row.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(flat.to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(part.to_vector<float>() == std::vector<float>{3, 4});
  CHECK(rows[1].to_vector<float>() == std::vector<float>{3, 4});
  CHECK(v.to_vector<float>() == std::vector<float>{11, 12, 13, 14});
}

TEST_CASE("identity is a new tensor, stop_gradient ends the path", "[shape]") {
  const Tensor x = constant({1.f, 2.f}), y = identity(x);
  CHECK_FALSE(y.is_same(x));
  CHECK(y.raw() == x.raw());
  GradientTape tape;
  tape.watch(x);
  const Tensor z = stop_gradient(x) * x;
  CHECK(tape.gradient(z, x).to_vector<float>() == std::vector<float>{1, 2});
  GradientTape blocked;
  blocked.watch(x);
  const Tensor g = blocked.gradient(stop_gradient(x), x);
  CHECK_FALSE(g.is_set());
  CHECK_THROWS_WITH(g.shape(), ContainsSubstring("StopGradient"));
}

TEST_CASE("gradients of views have their source's shape", "[shape]") {
  testing::Shapes random(1);
  const Tensor x = random.reals({1, 2, 3});
  const auto check = [&](auto f) { return test::compute_gradient_error(f, x, {.delta = 1e-5}); };
  CHECK(check([](const Tensor& t) { return square(reshape(t, {3, -1})); }) < 1e-8);
  CHECK(check([](const Tensor& t) { return square(expand_dims(t, 1)); }) < 1e-8);
  CHECK(check([](const Tensor& t) { return square(squeeze(t)); }) < 1e-8);
  CHECK(check([](const Tensor& t) { return square(collapse_dims(t, {{0, 1}, {2}})); }) < 1e-8);
  CHECK(check([](const Tensor& t) { return square(identity(t)); }) < 1e-8);
}

TEST_CASE("shape, rank, size and get_shape", "[shape]") {
  const Tensor x = testing::numbered({2, 0, 3}, string);
  CHECK(shape(x).to_vector<int>() == std::vector<int>{2, 0, 3});
  CHECK(shape(x, {.out_type = int64}).to_vector<i64>() == std::vector<i64>{2, 0, 3});
  CHECK(shape(constant(1.f)).shape() == Shape{0});
  CHECK(rank(x).item<int>() == 3);
  CHECK(size(x).item<int>() == 0);
  const Tensor huge = Tensor::symbol({Shape{i64(1) << 31, 2}, float32, {}});
  CHECK_THROWS_WITH(shape(huge), ContainsSubstring(".out_type = int64"));
  CHECK(shape(huge, {.out_type = int64}).to_vector<i64>() == std::vector<i64>{i64(1) << 31, 2});
  CHECK_THROWS_WITH(size(huge), ContainsSubstring("int32"));
  CHECK(get_shape(x)[2].number == 3);
  CHECK(get_shape(x)[2].is_known());
  CHECK(ensure_shape(x, {none, 0, 3}).shape() == Shape{2, 0, 3});
  CHECK_THROWS_WITH(ensure_shape(x, {2, 1, 3}), ContainsSubstring("(2, 1, 3)") && ContainsSubstring("string[2,0,3]"));
}
