// gather, gather_nd, scatter_nd, take_along_axis against loops on random shapes; bounds; sparse and dense gradients.
#include "tandem/ops/index/gather.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/index/gather_nd.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::Index;

namespace {

// Indices of a shape in [low, n), int32 and int64 by turns.
Tensor indices(testing::Shapes& random, const Shape& s, i64 low, i64 n, int round) {
  std::vector<i64> v(static_cast<std::size_t>(s.size()));
  for (i64& i : v) i = random.pick(static_cast<int>(low), static_cast<int>(n) - 1);
  if (round % 2) return constant(v, {.shape = s});
  return constant(std::vector<int>(v.begin(), v.end()), {.shape = s});
}
i64 index_at(const Tensor& t, i64 i) {
  return t.dtype() == int64 ? static_cast<const i64*>(t.raw())[i] : static_cast<const int*>(t.raw())[i];
}

}  // namespace

TEST_CASE("gather equals a loop", "[gather]") {
  testing::Shapes random(1);
  for (int round = 0; round < 300; ++round) {
    const Shape s = random.shape();
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    const int axis = random.pick(0, s.rank() - 1), batch = random.pick(0, axis);
    Shape idx;
    for (int i = 0; i < batch; ++i) idx.push_back(s[i]);
    for (int i = random.pick(0, 2); i > 0; --i) idx.push_back(s[axis] ? random.pick(0, 4) : 0);
    if (s[axis] == 0 && idx.rank() == batch) idx.push_back(0);
    const Tensor at = indices(random, idx, 0, std::max<i64>(s[axis], 1), round);
    const Tensor y = gather(x, at, {.axis = round % 3 ? axis : axis - s.rank(), .batch_dims = batch});
    REQUIRE(y.rank() == s.rank() - 1 + idx.rank() - batch);
    const auto own = static_cast<std::size_t>(idx.rank() - batch);
    CHECK(testing::misplaced(y, x, [&](const Index& i) {
            Index which(i.begin(), i.begin() + batch), from(i.begin(), i.begin() + axis);
            which.insert(which.end(), i.begin() + axis, i.begin() + axis + static_cast<std::ptrdiff_t>(own));
            from.push_back(index_at(at, testing::place(idx, which)));
            from.insert(from.end(), i.begin() + axis + static_cast<std::ptrdiff_t>(own), i.end());
            return testing::place(s, from);
          }) == 0);
  }
  CHECK(gather(constant({10, 20, 30}), constant({2, 0, 2})).to_vector<int>() == std::vector<int>{30, 10, 30});
}

TEST_CASE("an index out of range is named, with its position and the range", "[gather]") {
  const Tensor x = testing::numbered({5, 3}, float32);
  const auto index_error = [&](auto f, const char* text) {
    CHECK_THROWS_AS(f(), errors::InvalidArgumentError);
    CHECK_THROWS_WITH(f(), ContainsSubstring(text));
  };
  index_error([&] { return gather(x, constant({{0, 1}, {7, -1}})); }, "gather: index 7 at position [1,0]");
  index_error([&] { return gather(x, constant({0, -1})); }, "out of range [0, 5)");
  index_error([&] { return gather(x, constant({i64(1) << 31})); }, "index 2147483648 at position [0]");
  index_error([&] { return gather(x, constant({0, 3}), {.axis = 1}); }, "index 3 at position [1]");
  index_error([&] { return gather(testing::numbered({0, 2}, float32), constant(0)); }, "out of range [0, 0)");
  index_error([&] { return gather_nd(x, constant({{0, 1}, {4, 3}})); }, "gather_nd: index 3 at position [1,1]");
  index_error([&] { return scatter_nd(constant({{8}}), constant({1.f}), {8}); },
              "scatter_nd: index 8 at position [0,0]");
  index_error([&] { return take_along_axis(x, constant({{-6, 0, 0}}), 0); }, "index -6 at position [0,0]");
  index_error([&] { return gather(x, constant({1.f})); }, "indices must be int32 or int64");
  index_error([&] { return gather(x, constant({1}), {.axis = 0, .batch_dims = 1}); }, "batch_dims = 1");
  index_error([&] { return take_along_axis(x, constant({0}), 0); }, "rank");
}

TEST_CASE("gather_nd and scatter_nd equal loops", "[gather]") {
  testing::Shapes random(2);
  for (int round = 0; round < 200; ++round) {
    Shape s = random.shape();
    for (int i = 0; i < s.rank(); ++i) s.set(i, std::max<i64>(s[i], 1));
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    const int batch = random.pick(0, s.rank() - 1), width = random.pick(0, s.rank() - batch);
    Shape idx;
    for (int i = 0; i < batch; ++i) idx.push_back(s[i]);
    for (int i = random.pick(0, 2); i > 0; --i) idx.push_back(random.pick(0, 4));
    idx.push_back(width);
    std::vector<int> v(static_cast<std::size_t>(idx.size()));
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = random.pick(0, static_cast<int>(s[batch + static_cast<int>(i) % width]) - 1);
    const Tensor at = constant(v, {.shape = idx}), y = gather_nd(x, at, {.batch_dims = batch});
    const auto head = static_cast<std::size_t>(idx.rank() - 1);
    CHECK(testing::misplaced(y, x, [&](const Index& i) {
            Index from(i.begin(), i.begin() + batch), which(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(head));
            which.push_back(0);
            for (int k = 0; k < width; ++k) {
              which.back() = k;
              from.push_back(index_at(at, testing::place(idx, which)));
            }
            from.insert(from.end(), i.begin() + static_cast<std::ptrdiff_t>(head), i.end());
            return testing::place(s, from);
          }) == 0);
  }
  const Tensor x = constant({{1, 2}, {3, 4}});
  CHECK(gather_nd(x, constant({{0, 0}, {1, 1}})).to_vector<int>() == std::vector<int>{1, 4});
  CHECK(gather_nd(x, constant({{1}, {0}})).to_vector<int>() == std::vector<int>{3, 4, 1, 2});
  CHECK(scatter_nd(constant({{4}, {3}, {1}, {7}}), constant({9, 10, 11, 12}), {8}).to_vector<int>() ==
        std::vector<int>{0, 11, 0, 10, 9, 0, 0, 12});
  CHECK(scatter_nd(constant({{1}, {1}}), constant({{1, 2}, {30, 40}}), {2, 2}).to_vector<int>() ==
        std::vector<int>{0, 0, 31, 42});
  CHECK_THROWS_WITH(scatter_nd(constant({{1}, {1}}), constant({1, 2, 3}), {4}),
                    ContainsSubstring("updates must have the shape (2,)"));
}

TEST_CASE("take_along_axis equals a loop and sorts by argsort", "[gather]") {
  testing::Shapes random(3);
  for (int round = 0; round < 200; ++round) {
    const Shape s = random.shape();
    const int axis = random.pick(0, s.rank() - 1);
    const i64 n = s[axis];
    Shape idx = s;
    idx.set(axis, n ? random.pick(0, 4) : 0);
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    const Tensor at = indices(random, idx, -n, std::max<i64>(n, 1), round);
    CHECK(testing::misplaced(take_along_axis(x, at, axis), x, [&](Index i) {
            const i64 k = index_at(at, testing::place(idx, i));
            i[static_cast<std::size_t>(axis)] = k < 0 ? k + n : k;
            return testing::place(s, i);
          }) == 0);
    const Tensor r = random.reals(s);
    CHECK(take_along_axis(r, argsort(r, {.axis = axis}), axis).to_vector<double>() ==
          sort(r, {.axis = axis}).to_vector<double>());
  }
}

TEST_CASE("the gradient of gather on axis 0 is row-sparse", "[gather]") {
  const Variable table(testing::numbered({100, 3}, float32));
  table.assign_add(testing::numbered({100, 3}, float32));  // from here on its buffer is not the initial value's
  GradientTape tape;
  const Tensor y = nn::embedding_lookup(table, constant({{7, 2}, {7, 0}}));
  const std::vector<Gradient> g = tape.gradient(y, std::vector<Variable>{table});
  REQUIRE(g[0].is_sparse());
  const IndexedSlices s = g[0].slices();
  CHECK(s.values.shape() == Shape{4, 3});
  CHECK(s.indices.to_vector<int>() == std::vector<int>{7, 2, 7, 0});
  CHECK(s.dense_shape() == Shape{100, 3});
  std::vector<float> want(300);
  for (int row : {7, 2, 7, 0})
    for (int k = 0; k < 3; ++k) want[static_cast<std::size_t>(3 * row + k)] += 1;
  CHECK(convert_to_tensor(s).to_vector<float>() == want);
  // Nothing of the gradient holds the table: it can be updated in place.
  const void* before = table.value_untracked().raw();
  table.assign_add(testing::numbered({100, 3}, float32));
  CHECK(table.value_untracked().raw() == before);
}

TEST_CASE("gradients of indexing ops", "[gather]") {
  testing::Shapes random(4);
  const Tensor x = random.reals({3, 4, 2}), scalar = constant(1), list = constant({2, 0, 2});
  const auto check = [&](auto f) { return test::compute_gradient_error(f, x, {.delta = 1e-5}); };
  CHECK(check([&](const Tensor& t) { return square(gather(t, scalar)); }) < 1e-8);
  CHECK(check([&](const Tensor& t) { return square(gather(t, list)); }) < 1e-8);
  CHECK(check([&](const Tensor& t) { return gather(t, list) * gather(t, constant({1, 1, 2})); }) < 1e-8);
  CHECK(check([&](const Tensor& t) { return square(gather(t, constant({{3, 3}, {0, 1}}), {.axis = 1})); }) < 1e-8);
  CHECK(check([&](const Tensor& t) {
          return square(gather(t, constant({{3, 3}, {0, 1}, {1, 3}}), {.axis = 1, .batch_dims = 1}));
        }) < 1e-8);
  CHECK(check([&](const Tensor& t) { return square(nn::batch_gather(t, constant({{3}, {0}, {1}}))); }) < 1e-8);
  CHECK(check([&](const Tensor& t) { return square(gather_nd(t, constant({{0, 3}, {2, 1}, {0, 3}}))); }) < 1e-8);
  CHECK(check([&](const Tensor& t) {
          return square(gather_nd(t, constant({{1}, {3}, {3}}), {.batch_dims = 1}));
        }) < 1e-8);
  CHECK(check([&](const Tensor& t) { return square(scatter_nd(constant({{4}, {1}, {4}}), t, {5, 4, 2})); }) < 1e-8);
  CHECK(check([&](const Tensor& t) { return square(take_along_axis(t, argsort(t, {.axis = 1}), 1)); }) < 1e-8);
  const auto once = [](auto f) {
    return [f](const Tensor& t) {
      GradientTape tape;
      tape.watch(t);
      const Tensor y = f(t);
      return tape.gradient(y * y * y, t);
    };
  };
  CHECK(check(once([](const Tensor& t) { return gather(t, constant({2, 0, 2})); })) < 1e-6);
  CHECK(check(once([](const Tensor& t) { return gather(t, constant({1, 1}), {.axis = 2}); })) < 1e-6);
  CHECK(check(once([](const Tensor& t) { return gather_nd(t, constant({{0, 3}, {0, 3}})); })) < 1e-6);
  CHECK(check(once([](const Tensor& t) { return nn::top_k(t, 1).values; })) < 1e-6);
}
