// Slices against loops: x[i], x(...), slice, strided_slice; which of them are views; gradients.
#include "tandem/ops/shape/slice.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::Index;

TEST_CASE("x[i] is a view of the i-th row", "[slice]") {
  for (DType d : testing::moved_dtypes) {
    const Tensor x = testing::numbered({3, 5}, d), y = x[-1];
    CHECK(y.shape() == Shape{5});
    CHECK(static_cast<char*>(y.raw()) == static_cast<char*>(x.raw()) + 10 * size_of(d));
    CHECK(testing::misplaced(x[2], x, [](const Index& at) { return 10 + at[0]; }) == 0);
  }
  const Tensor images = constant({{{0, 255, 0}, {0, 255, 0}}, {{0, 0, 255}, {0, 0, 255}}});
  CHECK(images[0][0].to_vector<int>() == std::vector<int>{0, 255, 0});
  CHECK_THROWS_WITH(images[2], ContainsSubstring("index 2 is out of range on axis 0 of int32[2,2,3]"));
  CHECK_THROWS_WITH(images[-3], ContainsSubstring("valid: -2 to 1"));
  CHECK_THROWS_AS(constant(1.f)[0], errors::InvalidArgumentError);
  CHECK_THROWS_AS(testing::numbered({0, 2}, float32)[0], errors::InvalidArgumentError);
}

TEST_CASE("slice equals a loop on random shapes", "[slice]") {
  testing::Shapes random(2);
  for (int round = 0; round < 200; ++round) {
    const Shape s = random.shape();
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    Shape begin, size, want;
    for (i64 n : s) {
      begin.push_back(random.pick(0, static_cast<int>(n)));
      const i64 rest = n - begin[begin.rank() - 1];
      size.push_back(random.pick(0, 3) == 0 ? -1 : random.pick(0, static_cast<int>(rest)));
      want.push_back(size[size.rank() - 1] == -1 ? rest : size[size.rank() - 1]);
    }
    const Tensor y = slice(x, begin, size);
    REQUIRE(y.shape() == want);
    CHECK(testing::misplaced(y, x, [&](Index at) {
            for (int i = 0; i < s.rank(); ++i) at[static_cast<std::size_t>(i)] += begin[i];
            return testing::place(s, at);
          }) == 0);
  }
}

TEST_CASE("slice refuses what lies beyond", "[slice]") {
  const Tensor x = testing::numbered({3, 4}, float32);
  CHECK_THROWS_WITH(slice(x, {1, 0}, {3, -1}),
                    ContainsSubstring("reaches beyond axis 0") && ContainsSubstring("float32[3,4]"));
  CHECK_THROWS_AS(slice(x, {0, -1}, {1, 1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(slice(x, {0, 5}, {1, -1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(slice(x, {0}, {1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(slice(x, {0, INT64_MAX}, {1, 1}), errors::InvalidArgumentError);
}

namespace {
// Python's rule for one axis: both ends are clamped to the axis first, then it is walked from the clamped begin.
std::vector<i64> walked(i64 n, const Slice& s) {
  const bool forward = s.step > 0;
  const auto clamped = [&](i64 i, i64 otherwise) {
    if (i == none) return otherwise;
    i = i < 0 ? i + n : i;
    const i64 low = forward ? 0 : -1, high = forward ? n : n - 1;
    return i < low ? low : i > high ? high : i;
  };
  const i64 begin = clamped(s.begin, forward ? 0 : n - 1), end = clamped(s.end, forward ? n : -1);
  std::vector<i64> r;
  for (i64 i = begin; forward ? i < end : i > end; i += s.step) r.push_back(i);
  return r;
}
}  // namespace

TEST_CASE("x(Slice...) equals a walk along each axis", "[slice]") {
  testing::Shapes random(3);
  for (int round = 0; round < 3000; ++round) {
    const Shape s = random.shape(2, 2);
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    const auto bound = [&](i64 n) {
      return random.pick(0, 3) == 0 ? none : i64(random.pick(-static_cast<int>(n) - 4, static_cast<int>(n) + 4));
    };
    Slice cut[2];
    for (int i = 0; i < 2; ++i)
      cut[i] = Slice(bound(s[i]), bound(s[i]), random.pick(0, 1) ? random.pick(1, 4) : -random.pick(1, 4));
    const std::vector<i64> rows = walked(s[0], cut[0]), columns = walked(s[1], cut[1]);
    const Tensor y = x(cut[0], cut[1]);
    INFO("shape " << to_string(s) << " round " << round);
    REQUIRE(y.shape() == Shape{static_cast<i64>(rows.size()), static_cast<i64>(columns.size())});
    CHECK(testing::misplaced(y, x, [&](const Index& at) {
            return rows[static_cast<std::size_t>(at[0])] * s[1] + columns[static_cast<std::size_t>(at[1])];
          }) == 0);
  }
}

TEST_CASE("x(Slice) with clamped ends gives what Python gives", "[slice]") {
  const Tensor x = range(5);
  const auto cut = [&](i64 begin, i64 end, i64 step) { return x(Slice(begin, end, step)).to_vector<int>(); };
  CHECK(cut(-7, none, 2) == std::vector<int>{0, 2, 4});
  CHECK(cut(-6, 100, 3) == std::vector<int>{0, 3});
  CHECK(cut(9, none, -2) == std::vector<int>{4, 2, 0});
  CHECK(cut(6, -7, -3) == std::vector<int>{4, 1});
  CHECK(cut(-7, -9, 2).empty());
  CHECK(cut(-9, none, -2).empty());
}

TEST_CASE("x(...) takes indices, Ellipsis and NewAxis", "[slice]") {
  const Tensor x = testing::numbered({2, 3, 4}, int32, 0);
  CHECK(x(1).shape() == Shape{3, 4});
  CHECK(x(Ellipsis, 2).to_vector<int>() == std::vector<int>{2, 6, 10, 14, 18, 22});
  CHECK(x(NewAxis, Ellipsis, NewAxis).shape() == Shape{1, 2, 3, 4, 1});
  CHECK(x(0, Slice(1, none), NewAxis, -1).shape() == Shape{2, 1});
  CHECK(x(0, Slice(1, none), NewAxis, -1).to_vector<int>() == std::vector<int>{7, 11});
  CHECK(x(1, 2, 3).item<int>() == 23);
  CHECK(x(Slice(none, none, -1)).shape() == Shape{2, 3, 4});
  CHECK(x(Slice(none, none, -1), 0, 0).to_vector<int>() == std::vector<int>{12, 0});
  CHECK(x(Slice(-100, 100)).shape() == Shape{2, 3, 4});
  CHECK(x(Slice(5, 100)).shape() == Shape{0, 3, 4});
  CHECK(x(Slice(none, none, INT64_MIN + 1), 0, 0).to_vector<int>() == std::vector<int>{12});
  CHECK_THROWS_WITH(x(0, 3), ContainsSubstring("index 3 is out of range on axis 1"));
  CHECK_THROWS_WITH(x(2, Ellipsis), ContainsSubstring("index 2 is out of range on axis 0"));
  CHECK_THROWS_WITH(x(0, none), ContainsSubstring("none is not an index (axis 1 of int32[2,3,4])"));
  CHECK_THROWS_WITH(x(none), ContainsSubstring("Slice() selects a whole axis, NewAxis inserts one"));
  CHECK_THROWS_WITH(x(Slice(0, 1, 0)), ContainsSubstring("step"));
  CHECK_THROWS_AS(x(0, 0, 0, 0), errors::InvalidArgumentError);
  CHECK_THROWS_AS(x(Ellipsis, Ellipsis), errors::InvalidArgumentError);
}

TEST_CASE("ranges of the leading axis are views", "[slice]") {
  const Tensor x = testing::numbered({10, 100}, float32);
  const char* base = static_cast<char*>(x.raw());
  CHECK(x(Slice(2, 5)).raw() == base + 800);
  CHECK(slice(x, {3, 0}, {4, -1}).raw() == base + 1200);
  CHECK(slice(x, {3, 0}, {-1, 100}).shape() == Shape{7, 100});
  CHECK(x(Slice(2, 5))(Slice(1, 2)).raw() == base + 1200);
  CHECK(x(4, NewAxis).raw() == base + 1600);
  CHECK(x(Slice(2, 5), Slice(0, 3)).raw() != base + 800);
  const memory::Info before = memory::info();
  for (int i = 0; i < 100; ++i) (void)x[i % 10];
  CHECK(memory::info().misses - before.misses <= 1);
}

TEST_CASE("strided_slice knows TensorFlow's masks", "[slice]") {
  const Tensor x = testing::numbered({3, 4}, int32, 0);
  CHECK(strided_slice(x, {1, 0}, {3, 4}, {.strides = {1, 2}}).to_vector<int>() == std::vector<int>{4, 6, 8, 10});
  CHECK(strided_slice(x, {1, 1}, {0, 0}, {.end_mask = 2, .shrink_axis_mask = 1}).to_vector<int>() ==
        std::vector<int>{5, 6, 7});
  CHECK(strided_slice(x, {0, 2}, {0, 4}, {.begin_mask = 0, .ellipsis_mask = 1}).shape() == Shape{3, 2});
  CHECK(strided_slice(x, {0, 1}, {0, 2}, {.new_axis_mask = 1}).shape() == Shape{1, 1, 4});
  CHECK_THROWS_AS(strided_slice(x, {0, 0}, {1}), errors::InvalidArgumentError);
}

TEST_CASE("gradients of slices", "[slice]") {
  testing::Shapes random(4);
  const Tensor x = random.reals({4, 3, 2});
  const auto check = [&](auto f) { return test::compute_gradient_error(f, x, {.delta = 1e-5}); };
  CHECK(check([](const Tensor& t) { return square(t[-2]); }) < 1e-8);
  CHECK(check([](const Tensor& t) { return square(t(Slice(1, 3))); }) < 1e-8);
  CHECK(check([](const Tensor& t) { return square(slice(t, {1, 0, 1}, {2, -1, 1})); }) < 1e-8);
  CHECK(check([](const Tensor& t) { return square(t(Slice(none, none, -2), 1, NewAxis, Slice(1, none))); }) < 1e-8);
  CHECK(check([](const Tensor& t) { return t[1] * t[1] * t[2]; }) < 1e-8);
}

TEST_CASE("slices of open dims", "[slice]") {
  const Tensor x = Tensor::symbol({Shape{none, 4, none}, float32, {}});
  const Tensor* const in[] = {&x};
  const auto inferred = [&](const OpDef& op, const Attrs& a) { return op.infer({op, in, a, no_options})[0].shape; };
  CHECK(x[3].shape() == Shape{4, none});
  CHECK(inferred(slice_op, rules::SliceAttrs{{1, 1, 0}, {2, -1, -1}}) == Shape{2, 3, none});
  CHECK(inferred(strided_slice_op, rules::StridedSliceAttrs{{none, 1, 0}, {none, 3, none}, {1, 1, 1}, 4}) ==
        Shape{none, 2, 1});
  CHECK(inferred(strided_slice_op, rules::StridedSliceAttrs{{1, none, none}, {5, none, none}, {1, 1, 1}, 0}) ==
        Shape{none, 4, none});
}
