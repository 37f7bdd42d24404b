// TensorArray: handles, errors, eager and traced, in loops with gradients, written in place.
#include "tandem/graph/control/tensor_array.hpp"

#include "tandem/core/allocator.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::check_same_derivatives, testing::floats, testing::Floats, testing::List;

namespace {

// x, x^2, ... in an array, by a loop.
TensorArray powers(const Tensor& x, const Tensor& n, int most) {
  return std::get<2>(while_loop([&](const Tensor& i, const Tensor&, const TensorArray&) { return i < n; },
                                [&](const Tensor& i, const Tensor& y, const TensorArray& a) {
                                  return std::tuple(i + 1, y * x, a.write(i, y * x));
                                },
                                std::tuple(constant(0), ones_like(x), TensorArray(float32, most))));
}

}  // namespace

TEST_CASE("TensorArray: a write leaves the old handle as it was") {
  const TensorArray none_written(float32, 3);
  const TensorArray one = none_written.write(0, constant(1.f)), two = one.write(2, constant(3.f)),
                    other = one.write(2, constant(30.f)), all = two.write(1, constant(2.f));
  CHECK(floats(all.stack()) == Floats{1, 2, 3});
  CHECK(other.read(2).item<float>() == 30);
  CHECK(two.read(2).item<float>() == 3);
  CHECK_THROWS_WITH(one.read(2), ContainsSubstring("element 2 has not been written"));
  CHECK_THROWS_WITH(two.read(1), ContainsSubstring("element 1 has not been written"));
  CHECK_THROWS_WITH(two.stack(), ContainsSubstring("element 1 has not been written"));
  CHECK_THROWS_WITH(all.write(1, constant(2.f)), ContainsSubstring("has been written before"));
  CHECK(all.size().item<int>() == 3);
  CHECK(other.write(1, constant(5.f)).read(constant(1)).item<float>() == 5);
}

TEST_CASE("TensorArray: errors") {
  const TensorArray a(float32, 2, {.element_shape = {2}});
  CHECK_THROWS_WITH(a.write(2, zeros({2})), ContainsSubstring("out of range [0, 2)"));
  CHECK_THROWS_WITH(a.write(-1, zeros({2})), ContainsSubstring("out of range"));
  CHECK_THROWS_WITH(a.write(0, zeros({3})), ContainsSubstring("float32[3]"));
  CHECK_THROWS_WITH(a.write(0, constant({1, 2})), ContainsSubstring("int32[2]"));
  CHECK_THROWS_AS(TensorArray(float32, -1), errors::InvalidArgumentError);
  CHECK(TensorArray(float32, 0, {.element_shape = {2}}).stack().shape() == Shape{0, 2});
  CHECK_THROWS_WITH(TensorArray(float32, 0).stack(), ContainsSubstring("element_shape"));
}

TEST_CASE("TensorArray: clear_after_read releases an element at its first read, for all handles") {
  const TensorArray a =
      TensorArray(float32, 2, {.clear_after_read = true}).write(0, ones({1 << 16})).write(1, ones({2}));
  const TensorArray copy = a;
  const auto before = memory::info().live;
  CHECK(a.read(0).size() == 1 << 16);
  CHECK(memory::info().live + (1 << 18) <= before + (1 << 16));
  CHECK_THROWS_WITH(a.read(0), ContainsSubstring("element 0 was cleared by an earlier read"));
  CHECK_THROWS_WITH(copy.read(0), ContainsSubstring("element 0 was cleared"));
  CHECK_THROWS_WITH(a.stack(), ContainsSubstring("element 0 was cleared"));
  CHECK(a.gather(constant({1})).shape() == Shape{1, 2});
  CHECK(copy.read(1).size() == 2);
  const TensorArray kept = TensorArray(float32, 1).write(0, constant(3.f));
  for (int i = 0; i < 2; ++i) CHECK(kept.read(0).item<float>() == 3);
  // In a trace rows can be read again.
  const auto f = function([](const Tensor& x) {
    const TensorArray t = TensorArray(float32, 2, {.clear_after_read = true}).unstack(x);
    return t.read(0) + t.read(0);
  });
  CHECK(f(constant({1.f, 2.f})).item<float>() == 2);
}

TEST_CASE("TensorArray: grows where it may") {
  TensorArray a(int32, 0, {.dynamic_size = true});
  for (int i = 0; i < 5; ++i) a = a.write(i, constant(i * i));
  CHECK(a.stack().to_vector<int>() == std::vector<int>{0, 1, 4, 9, 16});
  CHECK(a.size().item<int>() == 5);
}

TEST_CASE("TensorArray: unstack, gather, concat, split, scatter, eager and traced") {
  const auto f = [](const Tensor& x) {
    const TensorArray a = TensorArray(float32, 3).unstack(x);
    const TensorArray pieces = TensorArray(float32, 3).split(reshape(x, {6}), {2, 2, 2});
    const TensorArray placed = TensorArray(float32, 3).scatter(constant({2, 0, 1}), x);
    return List{a.stack(), a.gather(constant({2, 0})), a.concat(), pieces.read(1), placed.stack(), a.size(), a.read(2)};
  };
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}});
  for (const List& r : {f(x), function(f)(x)}) {
    CHECK(floats(r[0]) == Floats{1, 2, 3, 4, 5, 6});
    CHECK(floats(r[1]) == Floats{5, 6, 1, 2});
    CHECK(floats(r[2]) == Floats{1, 2, 3, 4, 5, 6});
    CHECK(floats(r[3]) == Floats{3, 4});
    CHECK(floats(r[4]) == Floats{3, 4, 5, 6, 1, 2});
    CHECK(r[5].item<int>() == 3);
    CHECK(floats(r[6]) == Floats{5, 6});
  }
  CHECK(TensorArray(float32, 2).split(constant({1.f, 2.f, 3.f}), {1, 2}).concat().size() == 3);
}

TEST_CASE("TensorArray: errors in a trace come when it runs") {
  const auto read = function(
      [](const Tensor& i) { return TensorArray(float32, 3).write(0, constant(1.f)).write(1, constant(2.f)).read(i); });
  CHECK(read(constant(1)).item<float>() == 2);
  CHECK_THROWS_WITH(read(constant(2)), ContainsSubstring("element 2 has not been written"));
  CHECK_THROWS_WITH(read(constant(3)), ContainsSubstring("out of range"));
  const auto twice = function(
      [](const Tensor& i) { return TensorArray(float32, 3).write(0, constant(1.f)).write(i, constant(2.f)).read(0); });
  CHECK(twice(constant(1)).item<float>() == 1);
  CHECK_THROWS_WITH(twice(constant(0)), ContainsSubstring("has been written before"));
  CHECK_THROWS_WITH(function([](const Tensor& i) {
                      return TensorArray(int32, 2).write(0, i).write(i, i).write(1 - i, i).stack();
                    })(constant(0)),
                    ContainsSubstring("has been written before"));
  CHECK_THROWS_WITH(function([](const Tensor& i) { return TensorArray(int32, 2).write(0, i).stack(); })(constant(0)),
                    ContainsSubstring("element 1 has not been written"));
  CHECK_THROWS_AS(function([](const Tensor& i) {
                    return TensorArray(int32, 0, {.dynamic_size = true}).write(0, i).stack();
                  })(constant(0)),
                  errors::UnimplementedError);
}

TEST_CASE("TensorArray: errors in a trace name the line of the call") {
  const auto one = [] { return TensorArray(float32, 3).write(0, constant(1.f)); };
  const auto read = function([&](const Tensor& i) { return one().read(i); });
  const auto write = function([&](const Tensor& i) { return one().write(i, constant(1.f)).stack(); });
  for (const int i : {2, 5}) {  // not written, and out of range
    CHECK_THROWS_WITH(read(constant(i)), ContainsSubstring("tensor_array_test.cpp"));
    CHECK_THROWS_WITH(write(constant(i)), ContainsSubstring("tensor_array_test.cpp"));
  }
}

// Copies of all elements at each write would be 400 GB here and 320 GB there.
TEST_CASE("TensorArray: the work of n writes is that of n elements") {
  constexpr int n = 200000;
  TensorArray a(int32, 0, {.dynamic_size = true});
  const Tensor seven = constant(7);
  for (int i = 0; i < n; ++i) a = a.write(i, seven);
  CHECK(a.size().item<int>() == n);
  CHECK(a.read(n - 1).item<int>() == 7);

  constexpr int rows = 20000;
  const auto fill = function([](const Tensor& row) {
    return std::get<1>(while_loop([](const Tensor& i, const TensorArray&) { return i < rows; },
                                  [&](const Tensor& i, const TensorArray& array) {
                                    return std::tuple(i + 1, array.write(i, row));
                                  },
                                  std::tuple(constant(0), TensorArray(float32, rows))))
        .stack();
  });
  const Tensor all = fill(ones({256}));
  CHECK(all.shape() == Shape{rows, 256});
  CHECK(reduce_sum(all).item<float>() == rows * 256);
}

TEST_CASE("TensorArray: filled by a loop, with gradients of both orders") {
  const auto f = [](const Tensor& x) {
    const TensorArray a = powers(x, constant(4), 4);
    return reduce_sum(a.stack() * reshape(constant({1.f, 2.f, 3.f, 4.f}), {4, 1})) + reduce_sum(a.read(1));
  };
  check_same_derivatives(f, constant({1.5f, -0.5f}));
}

TEST_CASE("TensorArray: read by a loop, with gradients") {
  const auto f = [](const Tensor& x) {
    const TensorArray a = TensorArray(float32, 4).unstack(x);
    const auto [i, y] = while_loop(
        [](const Tensor& i, const Tensor&) { return i < 4; },
        [&](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, y * 0.5f + a.read(3 - i) * a.read(i)); },
        std::tuple(constant(0), zeros({2})));
    return reduce_sum(y);
  };
  check_same_derivatives(f, constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}, {7.f, 8.f}}));
}

TEST_CASE("TensorArray: a computed size, and one that goes through a function") {
  const auto f = function([](const Tensor& n) {
    return std::get<1>(
               while_loop([&](const Tensor& i, const TensorArray&) { return i < n; },
                          [](const Tensor& i, const TensorArray& a) { return std::tuple(i + 1, a.write(i, i * i)); },
                          std::tuple(constant(0), TensorArray(int32, n))))
        .stack();
  });
  CHECK(f(constant(4)).to_vector<int>() == std::vector<int>{0, 1, 4, 9});
  CHECK(f(constant(2)).to_vector<int>() == std::vector<int>{0, 1});
  const auto made = function([](const Tensor& x) { return TensorArray(float32, 2).write(0, x); });
  CHECK(made(constant(5.f)).read(0).item<float>() == 5);
  CHECK(floats(made(constant(5.f)).write(1, constant(6.f)).stack()) == Floats{5, 6});
  const auto taken = function([](const TensorArray& a, const Tensor& i) { return a.read(i) * 2; });
  CHECK(taken(TensorArray(float32, 2).write(0, constant(1.f)).write(1, constant(2.f)), constant(1)).item<float>() == 4);
}

TEST_CASE("TensorArray: a loop writes elements where they stay") {
  constexpr int n = 20000;
  const auto f = function([](const Tensor& x) { return powers(x, constant(n), n).read(n - 1); });
  const Tensor x = ones({16});
  f(x);
  const i64 before = memory::info().live;
  memory::reset_peak();
  f(x);
  const i64 peak = memory::info().peak - before, bytes = i64{n} * 16 * 4;
  CAPTURE(peak, bytes);
  CHECK(peak >= bytes);
  CHECK(peak < bytes * 3 / 2);  // a copy of the elements in any step would need two
}
