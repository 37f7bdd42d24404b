// Ops that move whole tensors, each against a loop on random shapes: transpose, reverse, concat, stack, split, unstack,
// tile, pad, broadcast_to.
#include <complex>
#include <cstring>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/threads.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using testing::Index;

namespace {
Axes shuffled(testing::Shapes& random, int rank) {
  std::vector<int> order;
  for (int i = 0; i < rank; ++i) order.insert(order.begin() + random.pick(0, i), i);
  Axes r = Axes::none();
  for (int i : order) r.push_back(random.pick(0, 1) ? i : i - rank);
  return r;
}
template <class F>
double gradient_error(const F& f, const Tensor& x) {
  return test::compute_gradient_error(f, x, {.delta = 1e-5});
}
}  // namespace

TEST_CASE("transpose equals a loop", "[layout]") {
  testing::Shapes random(5);
  for (int round = 0; round < 200; ++round) {
    const Shape s = random.shape();
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    const Axes perm = shuffled(random, s.rank());
    const Tensor y = transpose(x, {.perm = perm}), back = transpose(x);
    for (int i = 0; i < s.rank(); ++i) REQUIRE(y.shape()[i] == s.dim(perm[i]));
    CHECK(testing::misplaced(y, x, [&](const Index& at) {
            Index from(at.size());
            for (int i = 0; i < s.rank(); ++i)
              from[static_cast<std::size_t>((perm[i] + s.rank()) % s.rank())] = at[static_cast<std::size_t>(i)];
            return testing::place(s, from);
          }) == 0);
    CHECK(testing::misplaced(back, x,
                             [&](const Index& at) { return testing::place(s, Index(at.rbegin(), at.rend())); }) == 0);
  }
}

TEST_CASE("large planes turn over by tiles, whatever the width and the number of threads", "[layout]") {
  for (const int threads : {1, 2, 3}) {
    config::set_intra_op_parallelism_threads(threads);
    for (DType d : {uint8, int16, float32, float64, complex128})
      for (const Shape& s : {Shape{70, 131}, Shape{3, 64, 48}, Shape{257, 33, 2}, Shape{5, 4, 70, 3}}) {
        const Tensor x = testing::numbered(s, d), y = transpose(x);
        CHECK(testing::misplaced(
                  y, x, [&](const Index& at) { return testing::place(s, Index(at.rbegin(), at.rend())); }) == 0);
      }
  }
  // Beyond 8 MiB the output is written around the caches.
  const Tensor x = testing::numbered({1536, 1552}, float32);
  CHECK(testing::misplaced(transpose(x), x, [](const Index& at) { return at[1] * 1552 + at[0]; }) == 0);
  config::set_intra_op_parallelism_threads(0);
}

TEST_CASE("transpose: errors, adjoint, gradients", "[layout]") {
  const Tensor x = testing::numbered({2, 3}, float32);
  CHECK_THROWS_WITH(transpose(x, {.perm = {0, 0}}), ContainsSubstring("given twice"));
  CHECK_THROWS_WITH(transpose(x, {.perm = {0}}), ContainsSubstring("float32[2,3]"));
  CHECK_THROWS_AS(transpose(x, {.perm = {0, 2}}), errors::InvalidArgumentError);
  CHECK(transpose(constant(3.f)).item<float>() == 3.f);
  CHECK(linalg::matrix_transpose(testing::numbered({4, 2, 3}, int8)).shape() == Shape{4, 3, 2});
  CHECK_THROWS_AS(linalg::adjoint(constant({1.f})), errors::InvalidArgumentError);
  const Tensor z = constant(std::vector<std::complex<float>>{{1, 2}, {3, -4}}, {.shape = Shape{1, 2}});
  CHECK(linalg::adjoint(z).to_vector<std::complex<float>>() == std::vector<std::complex<float>>{{1, -2}, {3, 4}});
  testing::Shapes random(6);
  const Tensor r = random.reals({2, 3, 4});
  CHECK(gradient_error([](const Tensor& t) { return square(transpose(t, {.perm = {2, -3, 1}})); }, r) < 1e-8);
  CHECK(gradient_error([](const Tensor& t) { return square(reverse(t, {0, 2})); }, r) < 1e-8);
}

TEST_CASE("reverse equals a loop", "[layout]") {
  testing::Shapes random(7);
  for (int round = 0; round < 100; ++round) {
    const Shape s = random.shape();
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    Axes axes = Axes::none();
    std::uint32_t mask = 0;
    for (int i = 0; i < s.rank(); ++i)
      if (random.pick(0, 1)) axes.push_back(i - s.rank()), mask |= 1u << i;
    CHECK(testing::misplaced(reverse(x, axes), x, [&](Index at) {
            for (int i = 0; i < s.rank(); ++i)
              if (mask >> i & 1u) at[static_cast<std::size_t>(i)] = s[i] - 1 - at[static_cast<std::size_t>(i)];
            return testing::place(s, at);
          }) == 0);
  }
  CHECK_THROWS_AS(reverse(constant({1, 2}), 1), errors::InvalidArgumentError);
}

TEST_CASE("roll equals a loop", "[layout]") {
  testing::Shapes random(9);
  for (int round = 0; round < 100; ++round) {
    const Shape s = random.shape();
    if (s.rank() == 0) continue;
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    const int axis = random.pick(0, s.rank() - 1), shift = random.pick(-9, 9);
    CHECK(testing::misplaced(roll(x, shift, random.pick(0, 1) ? axis : axis - s.rank()), x, [&](Index at) {
            i64& i = at[static_cast<std::size_t>(axis)];
            i = ((i - shift) % s[axis] + s[axis]) % s[axis];
            return testing::place(s, at);
          }) == 0);
  }
  CHECK(roll(constant({0, 1, 2, 3, 4}), 2, 0).to_vector<std::int32_t>() == std::vector<std::int32_t>{3, 4, 0, 1, 2});
  const Tensor x = testing::numbered({2, 3}, int32);
  CHECK(roll(x, {1, -1}, {0, 1}).to_vector<std::int32_t>() == roll(roll(x, 1, 0), -1, 1).to_vector<std::int32_t>());
  CHECK(roll(x, {2}, {1}).to_vector<std::int32_t>() == roll(x, 2, 1).to_vector<std::int32_t>());
  CHECK(roll(x, INT64_MIN, 1).to_vector<std::int32_t>() == roll(x, -2, 1).to_vector<std::int32_t>());
  CHECK(roll(zeros({0, 3}), 1, 0).shape() == Shape{0, 3});
  CHECK_THROWS_WITH(roll(x, 1, 2), ContainsSubstring("roll: ") && ContainsSubstring("axis 2"));
  CHECK_THROWS_WITH(roll(x, {1, 2}, {0}), ContainsSubstring("2 shifts for 1 axes"));
  testing::Shapes numbers(10);
  CHECK(gradient_error(
            [](const Tensor& t) {
              return square(roll(t, {4, -1}, {2, 0}));
            },
            numbers.reals({2, 3, 4})) < 1e-8);
}

TEST_CASE("split takes concat apart", "[layout]") {
  testing::Shapes random(8);
  for (int round = 0; round < 200; ++round) {
    const Shape s = random.shape();
    const DType d = testing::moved_dtypes[round % 12];
    const int axis = random.pick(0, s.rank() - 1), parts = random.pick(1, 12);
    std::vector<Tensor> list;
    std::vector<i64> sizes;
    for (int i = 0; i < parts; ++i) {
      Shape p = s;
      p.set(axis, random.pick(0, 4));
      sizes.push_back(p[axis]);
      list.push_back(testing::numbered(p, d, 100 * i));
    }
    const Tensor y = concat(list, axis - (round % 2 ? s.rank() : 0));
    i64 at = 0;
    for (const Tensor& part : list) {
      i64 wrong = 0;
      testing::for_each_index(part.shape(), [&](Index i) {
        const std::string want = testing::element(part, testing::place(part.shape(), i));
        i[static_cast<std::size_t>(axis)] += at;
        wrong += testing::element(y, testing::place(y.shape(), i)) != want;
      });
      CHECK(wrong == 0);
      at += part.shape()[axis];
    }
    REQUIRE(y.shape()[axis] == at);
    if (round % 3 == 0) sizes[static_cast<std::size_t>(random.pick(0, parts - 1))] = -1;
    const std::vector<Tensor> back = split(y, sizes, {.axis = axis});
    REQUIRE(back.size() == list.size());
    for (std::size_t i = 0; i < back.size(); ++i) {
      REQUIRE(back[i].shape() == list[i].shape());
      CHECK(testing::misplaced(back[i], list[i], [&](const Index& k) { return testing::place(list[i].shape(), k); }) ==
            0);
    }
  }
}

TEST_CASE("concat and split share their parts' bytes among any number of threads", "[layout]") {
  for (const int threads : {1, 2, 3}) {
    const testing::Threads use(threads);
    for (const DType d : {uint8, float32, complex128})
      for (const i64 outer : {1, 37}) {
        // Parts of which no boundary falls on a share's, and (the last list) parts too narrow for runs.
        for (const std::vector<i64>& sizes : {std::vector<i64>{9001, 0, 12345, 70}, {20000, 20000, 20000}, {7001, 3}}) {
          CAPTURE(threads, d, outer, sizes.size());
          std::vector<Tensor> list;
          for (const i64 n : sizes) list.push_back(testing::numbered({outer, n}, d, 50 * n));
          const Tensor y = concat(list, 1);
          const std::vector<Tensor> back = split(y, sizes, {.axis = 1});
          const i64 row = y.shape()[1], width = static_cast<i64>(size_of(d));
          const char* const whole = static_cast<const char*>(y.raw());
          i64 at = 0, wrong = 0;
          for (std::size_t p = 0; p < sizes.size(); at += sizes[p++]) {
            const char *part = static_cast<const char*>(list[p].raw()),
                       *again = static_cast<const char*>(back[p].raw());
            for (i64 r = 0; r < outer; ++r, part += sizes[p] * width, again += sizes[p] * width) {
              const auto bytes = static_cast<std::size_t>(sizes[p] * width);
              wrong += bytes && std::memcmp(whole + (r * row + at) * width, part, bytes) != 0;
              wrong += bytes && std::memcmp(again, part, bytes) != 0;
            }
          }
          CHECK(wrong == 0);
        }
      }
  }
}

TEST_CASE("concat and split: errors and examples", "[layout]") {
  const Tensor a = testing::numbered({2, 3}, float32), b = testing::numbered({2, 2}, float32);
  CHECK_THROWS_WITH(concat({a, b}, 0),
                    ContainsSubstring("concat: sizes differ on axis 1: float32[2,3] x float32[2,2]"));
  CHECK_THROWS_AS(concat({a, testing::numbered({2, 2}, float64)}, 1), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(concat({constant(1.f)}, 0), ContainsSubstring("use stack"));
  CHECK_THROWS_AS(concat(std::vector<Tensor>{}, 0), errors::InvalidArgumentError);
  CHECK_THROWS_AS(concat({a, b}, 2), errors::InvalidArgumentError);
  const Tensor five = constant({0, 1, 2, 3, 4});
  CHECK(split(five, {2, -1})[1].to_vector<int>() == std::vector<int>{2, 3, 4});
  CHECK(split(five, 5)[4].raw() == static_cast<int*>(five.raw()) + 4);
  CHECK_THROWS_WITH(split(five, 2), ContainsSubstring("2 does not divide the size of axis 0 of int32[5]"));
  CHECK_THROWS_WITH(split(five, {2, 2}), ContainsSubstring("do not add up"));
  CHECK_THROWS_AS(split(five, {-1, -1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(split(five, 0), errors::InvalidArgumentError);
}

TEST_CASE("stack and unstack", "[layout]") {
  testing::Shapes random(9);
  for (int round = 0; round < 100; ++round) {
    const Shape s = random.shape(0, 3);
    const DType d = testing::moved_dtypes[round % 12];
    const int axis = random.pick(0, s.rank()), parts = random.pick(1, 5);
    std::vector<Tensor> list;
    for (int i = 0; i < parts; ++i) list.push_back(testing::numbered(s, d, 1000 * i));
    const Tensor y = stack(list, {.axis = axis});
    REQUIRE(y.shape()[axis] == parts);
    const std::vector<Tensor> back = unstack(y, {.axis = axis});
    REQUIRE(back.size() == list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      REQUIRE(back[i].shape() == s);
      CHECK(testing::misplaced(back[i], list[i], [&](const Index& k) { return testing::place(s, k); }) == 0);
    }
    i64 wrong = 0;
    testing::for_each_index(y.shape(), [&](Index at) {
      const auto which = static_cast<std::size_t>(at[static_cast<std::size_t>(axis)]);
      Index rest = at;
      rest.erase(rest.begin() + axis);
      wrong +=
          testing::element(y, testing::place(y.shape(), at)) != testing::element(list[which], testing::place(s, rest));
    });
    CHECK(wrong == 0);
  }
  const Tensor x = testing::numbered({3, 2}, float32);
  CHECK(unstack(x)[2].raw() == static_cast<float*>(x.raw()) + 4);
  CHECK_THROWS_WITH(stack({constant({1, 2}), constant({1, 2, 3})}), ContainsSubstring("shapes differ"));
  CHECK_THROWS_AS(stack(std::vector<Tensor>{}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(unstack(x, {.num = 2}), errors::InvalidArgumentError);
}

TEST_CASE("tile and broadcast_to equal loops", "[layout]") {
  testing::Shapes random(10);
  for (int round = 0; round < 150; ++round) {
    const Shape s = random.shape();
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    Shape multiples, ones, wide;
    for (i64 n : s) {
      multiples.push_back(random.pick(0, 3));
      ones.push_back(random.pick(0, 1) ? n : 1);
      wide.push_back(n);
    }
    const Tensor y = tile(x, multiples);
    for (int i = 0; i < s.rank(); ++i) REQUIRE(y.shape()[i] == s[i] * multiples[i]);
    CHECK(testing::misplaced(y, x, [&](Index at) {
            for (int i = 0; i < s.rank(); ++i) at[static_cast<std::size_t>(i)] %= s[i];
            return testing::place(s, at);
          }) == 0);
    if (random.pick(0, 1)) wide.insert(0, random.pick(0, 3));
    const Tensor small = testing::numbered(ones, testing::moved_dtypes[round % 12]), big = broadcast_to(small, wide);
    REQUIRE(big.shape() == wide);
    CHECK(testing::misplaced(big, small, [&](const Index& at) {
            Index from(at.end() - s.rank(), at.end());
            for (int i = 0; i < s.rank(); ++i)
              if (ones[i] == 1) from[static_cast<std::size_t>(i)] = 0;
            return testing::place(ones, from);
          }) == 0);
  }
  CHECK(tile(constant({{1}, {2}}), {1, 2}).to_vector<int>() == std::vector<int>{1, 1, 2, 2});
  CHECK_THROWS_AS(tile(constant({1}), {-1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(tile(constant({1}), {1, 1}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(broadcast_to(constant({1, 2}), {3}), ContainsSubstring("int32[2] does not broadcast to (3,)"));
  CHECK(broadcast_to(constant({1, 2}), constant({3, 2})).shape() == Shape{3, 2});
}

TEST_CASE("pad equals a loop in its three modes", "[layout]") {
  testing::Shapes random(11);
  for (int round = 0; round < 150; ++round) {
    const Shape s = random.shape();
    const PadMode mode = static_cast<PadMode>(round % 3);
    const Tensor x = testing::numbered(s, testing::moved_dtypes[round % 12]);
    std::vector<std::pair<i64, i64>> p;
    for (i64 n : s) {
      const int most =
          mode == PadMode::constant ? 3 : static_cast<int>(mode == PadMode::reflect ? std::max<i64>(n - 1, 0) : n);
      p.push_back({random.pick(0, most), random.pick(0, most)});
      if (mode == PadMode::reflect && n == 0) p.back() = {0, 0};
    }
    const Tensor y = pad(x, p, {.mode = mode});
    CHECK(testing::misplaced(y, x, [&](Index at) {
            for (std::size_t i = 0; i < at.size(); ++i) {
              const i64 n = s[static_cast<int>(i)], k = at[i] - p[i].first, edge = mode == PadMode::symmetric ? 0 : 1;
              if ((k < 0 || k >= n) && mode == PadMode::constant) return i64(-1);
              at[i] = k < 0 ? -k - 1 + edge : k < n ? k : 2 * n - 1 - k - edge;
            }
            return testing::place(s, at);
          }) == 0);
  }
  const Tensor x = constant({{1, 2, 3}, {4, 5, 6}});
  CHECK(pad(x, {{0, 0}, {2, 1}}, {.constant_values = 9})[0].to_vector<int>() == std::vector<int>{9, 9, 1, 2, 3, 9});
  CHECK(pad(x, {{1, 1}, {2, 2}}, {.mode = PadMode::reflect})[1].to_vector<int>() ==
        std::vector<int>{3, 2, 1, 2, 3, 2, 1});
  CHECK(pad(x, {{1, 1}, {2, 2}}, {.mode = PadMode::symmetric})[1].to_vector<int>() ==
        std::vector<int>{2, 1, 1, 2, 3, 3, 2});
  CHECK_THROWS_AS(pad(x, {{2, 0}, {0, 0}}, {.mode = PadMode::reflect}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(pad(x, {{-1, 0}, {0, 0}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(pad(x, {{1, 1}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(pad(x, {{1, 1}, {0, 0}}, {.constant_values = 0.5}), errors::InvalidArgumentError);
}

TEST_CASE("gradients of layout ops", "[layout]") {
  testing::Shapes random(12);
  const Tensor x = random.reals({2, 3}), w = random.reals({4, 3});
  CHECK(gradient_error([&](const Tensor& t) { return square(concat({t, w, t}, 0)); }, x) < 1e-8);
  CHECK(gradient_error([](const Tensor& t) { return square(stack({t, t + t}, 1)); }, x) < 1e-8);
  CHECK(gradient_error([](const Tensor& t) { return square(split(t, {1, 2}, {.axis = 1})[1]); }, x) < 1e-8);
  CHECK(gradient_error([](const Tensor& t) { return split(t, 3, {.axis = 1})[0] * split(t, 3, {.axis = 1})[2]; }, x) <
        1e-8);
  CHECK(gradient_error([](const Tensor& t) { return square(unstack(t)[1]); }, x) < 1e-8);
  CHECK(gradient_error([](const Tensor& t) { return unstack(t, {.axis = 1})[0] * unstack(t, {.axis = 1})[1]; }, x) <
        1e-8);
  CHECK(gradient_error([](const Tensor& t) { return square(tile(t, {2, 3})); }, x) < 1e-8);
  CHECK(gradient_error([](const Tensor& t) { return square(broadcast_to(t, {2, 2, 3})); }, x) < 1e-8);
  for (PadMode mode : {PadMode::constant, PadMode::reflect, PadMode::symmetric})
    CHECK(gradient_error([&](const Tensor& t) { return square(pad(t, {{1, 0}, {2, 1}}, {.mode = mode})); }, x) < 1e-8);
  // Zero-length parts get zero-length gradients.
  const Tensor none_of = random.reals({0, 3});
  GradientTape tape;
  tape.watch(none_of);
  CHECK(tape.gradient(concat({x, none_of}, 0), none_of).shape() == Shape{0, 3});
}

TEST_CASE("second gradients of layout ops", "[layout]") {
  testing::Shapes random(13);
  const Tensor x = random.reals({2, 3});
  const auto once = [](auto f) {
    return [f](const Tensor& t) {
      GradientTape tape;
      tape.watch(t);
      const Tensor y = f(t);
      return tape.gradient(y * y * y, t);
    };
  };
  CHECK(gradient_error(once([](const Tensor& t) { return concat({t, t}, 1); }), x) < 1e-6);
  CHECK(gradient_error(once([](const Tensor& t) { return tile(t, {2, 1}); }), x) < 1e-6);
  CHECK(gradient_error(once([](const Tensor& t) { return t(Slice(none, none, -1), 1); }), x) < 1e-6);
  CHECK(gradient_error(once([](const Tensor& t) { return pad(t, {{1, 1}, {0, 2}}); }), x) < 1e-6);
  CHECK(gradient_error(once([](const Tensor& t) { return split(t, 3, {.axis = 1})[1]; }), x) < 1e-6);
}
