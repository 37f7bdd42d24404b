// Gathers, scatters, segments, sorts and candidate samplers on the device: repeated rows in their order, NaN, sizes of
// 0, and indices out of range.
#include "tests/cuda/device.hpp"

namespace cuda_index_test {

using namespace tandem;
using namespace gpu_test;
using Catch::Matchers::ContainsSubstring;

Tensor numbers(const Shape& shape, double low, double high, DType dtype, i64 seed = 1) {
  const DeviceScope host({Device::cpu, 0});
  return cast(floor(random::stateless_uniform(shape, {seed, 3}, {.minval = low, .maxval = high, .dtype = float64})),
              dtype);
}
template <class F, class... T>
void compare(const F& f, const T&... x) {
  check_near(f(x.gpu()...), f(x...));
}
// What the device reports at the next wait, and what the host raises at once, in the part that both have.
template <class F, class... T>
void fails(const char* text, const F& f, const T&... x) {
  CHECK_THROWS_WITH(f(x...), ContainsSubstring(text));
  (void)f(x.gpu()...);
  CHECK_THROWS_WITH(cuda::synchronize(), ContainsSubstring(text));
  cuda::synchronize();
}

constexpr DType element_types[] = {float32, float64, int8, int64, complex64, complex128};

TEST_CASE("CUDA index: gathers and scatters by vectors, with repeated ones") {
  TANDEM_NEEDS_GPU;
  const Tensor idx = stack({numbers({300}, 0, 6, int32), numbers({300}, 0, 5, int32, 2)}, {.axis = 1});
  for (const DType d : element_types)
    for (const i64 inner : {0, 1, 3}) {
      CAPTURE(name(d), inner);
      const Tensor x = numbers({6, 5, inner}, -9, 9, d), u = numbers({300, inner}, -9, 9, d, 2);
      compare([](const Tensor& a, const Tensor& i) { return gather_nd(a, i); }, x, idx);
      compare([](const Tensor& i, const Tensor& a) { return scatter_nd(i, a, {6, 5, a.shape().dim(1)}); }, idx, u);
      compare([](const Tensor& a, const Tensor& i, const Tensor& b) { return tensor_scatter_nd_update(a, i, b); }, x,
              idx, u);
      compare([](const Tensor& a, const Tensor& i, const Tensor& b) { return tensor_scatter_nd_add(a, i, b); }, x, idx,
              u);
      if (is_complex(d)) continue;
      compare([](const Tensor& a, const Tensor& i, const Tensor& b) { return tensor_scatter_nd_max(a, i, b); }, x, idx,
              u);
      compare([](const Tensor& a, const Tensor& i, const Tensor& b) { return tensor_scatter_nd_min(a, i, b); }, x, idx,
              u);
    }
  const Tensor x = numbers({4, 6, 5}, -9, 9, bool_), ids = numbers({4, 7, 1}, 0, 6, int64);
  compare([](const Tensor& a, const Tensor& i) { return gather_nd(a, i, {.batch_dims = 1}); }, x, ids);
}

TEST_CASE("CUDA index: rows along an axis") {
  TANDEM_NEEDS_GPU;
  for (const DType d : element_types)
    for (const int axis : {0, 1, 2}) {
      CAPTURE(name(d), axis);
      const Tensor x = numbers({4, 5, 3}, -9, 9, d);
      Shape s = x.shape();
      s.set(axis, 11);
      const Tensor idx = numbers(s, -3, 3, int32, 2);
      compare([=](const Tensor& a, const Tensor& i) { return take_along_axis(a, i, axis); }, x, idx);
      if (d != float32 && d != float64) continue;
      const auto gradient = [=](const Tensor& a, const Tensor& i) {
        GradientTape tape;
        tape.watch(a);
        return tape.gradient(square(take_along_axis(a, i, axis)), a);
      };
      compare(gradient, x, idx);
    }
}

TEST_CASE("CUDA index: where selects elements of every width as they are") {
  TANDEM_NEEDS_GPU;
  const auto select = [](const Tensor& c, const Tensor& a, const Tensor& b) { return where(c, a, b); };
  for (const DType d : {int8, uint8, bool_, int16, float16, float32, int64, complex64}) {
    CAPTURE(name(d));
    const Tensor x = numbers({3, 50}, -99, 99, d), condition = numbers({3, 50}, 0, 2, bool_, 2);
    for (const Shape& s : {Shape{3, 50}, Shape{50}, Shape{}}) {
      const Tensor y = numbers(s, -99, 99, d, 3);
      compare(select, condition, x, y);
      compare(select, condition, y, x);
    }
  }
}

TEST_CASE("CUDA index: segments in any order") {
  TANDEM_NEEDS_GPU;
  const Tensor ids = numbers({200}, -2, 9, int64);
  for (const DType d : {float32, float64, int8, uint16, int64}) {
    CAPTURE(name(d));
    Tensor x = numbers({200, 3}, 1, 4, d);
    if (d == float32) x = where(equal(x, 2), std::nan(""), x);
    compare([](const Tensor& t, const Tensor& i) { return unsorted_segment_sum(t, i, 12); }, x, ids);
    compare([](const Tensor& t, const Tensor& i) { return unsorted_segment_prod(t, i, 12); }, x, ids);
    compare([](const Tensor& t, const Tensor& i) { return unsorted_segment_max(t, i, 12); }, x, ids);
    compare([](const Tensor& t, const Tensor& i) { return unsorted_segment_min(t, i, 12); }, x, ids);
  }
  compare([](const Tensor& t, const Tensor& i) { return unsorted_segment_mean(t, i, 12); },
          numbers({200, 3}, 1, 9, float32), ids);
  compare([](const Tensor& t, const Tensor& i) { return unsorted_segment_max(t, i, 4); }, zeros({0, 3}),
          zeros({0}, {.dtype = int32}));
}

TEST_CASE("CUDA index: sorts, with ties, NaN and both zeros") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float64, int8, int16, int32, int64, uint8, uint32, uint64}) {
    CAPTURE(name(d));
    Tensor x = numbers({6, 50}, is_integer(d) ? 0 : -9, 9, d);
    if (!is_integer(d)) x = where(equal(x, 3), std::nan(""), where(equal(x, 2), -0.0, x));
    else x = x * full_like(x, 37) - full_like(x, 5);
    for (const Direction direction : {Direction::ascending, Direction::descending})
      for (const int axis : {0, 1}) {
        compare([=](const Tensor& t) { return argsort(t, {.axis = axis, .direction = direction}); }, x);
        const auto sorted = [=](const Tensor& t) { return sort(t, {.axis = axis, .direction = direction}); };
        CHECK(table_calls::same_bits(sorted(x.gpu()), sorted(x)));
      }
    for (const i64 k : {0, 1, 7, 50}) {
      compare([=](const Tensor& t) { return nn::top_k(t, k).indices; }, x);
      CHECK(table_calls::same_bits(nn::top_k(x.gpu(), k).values, nn::top_k(x, k).values));
    }
  }
  compare([](const Tensor& t) { return argsort(t); }, zeros({3, 0}));
  // More than the emulator sorts at once: in one row, and in several.
  for (const DType d : {float32, float64, int16})
    for (const Shape& s : {Shape{many}, Shape{40, 100}, Shape{3, many / 3}}) {
      CAPTURE(name(d), to_string(s));
      const Tensor x = numbers(s, -99, 99, d);
      compare([](const Tensor& t) { return argsort(t); }, x);
      compare([](const Tensor& t) { return nn::top_k(t, 3).values; }, x);
    }
}

TEST_CASE("CUDA index: searches, shuffles and running maxima") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float64, int8, uint64}) {
    const Tensor row = sort(numbers({3, 40}, 0, 20, d)), values = numbers({3, 70}, 0, 20, d, 2);
    for (const Side side : {Side::left, Side::right})
      for (const DType out : {int32, int64})
        compare([=](const Tensor& s, const Tensor& v) { return searchsorted(s, v, {.side = side, .out_type = out}); },
                row, values);
  }
  for (const DType d : element_types)
    compare([](const Tensor& t) { return random::stateless_shuffle(t, {3, 4}); }, numbers({70, 3}, -9, 9, d));
  compare([](const Tensor& t) { return random::stateless_shuffle(t, {3, 4}); }, zeros({0, 3}));
  const Tensor x = numbers({5, 40}, -9, 9, float32), holes = where(equal(x, 2), std::nan(""), x);
  for (const bool reverse : {false, true})
    compare([=](const Tensor& t) { return cumulative_logsumexp(t, {.axis = 1, .reverse = reverse}); }, holes);
}

TEST_CASE("CUDA index: bands, and sums of many tensors") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float16, bool_, complex128})
    for (const i64 lower : {-1, 0, 2})
      for (const i64 upper : {-1, 0, 3})
        compare([=](const Tensor& t) { return linalg::band_part(t, lower, upper); }, numbers({2, 5, 7}, 1, 9, d));
  for (const DType d : element_types)
    for (const std::size_t n : {1u, 7u, 8u, 9u, 20u}) {
      CAPTURE(name(d), n);
      compare([=](const Tensor& t) { return add_n(std::vector<Tensor>(n, t)); }, numbers({70}, -9, 9, d));
    }
  compare([](const Tensor& t) { return bitcast(t, int32); }, numbers({70}, -9, 9, float32));
}

TEST_CASE("CUDA index: a choice among elements of any width") {
  TANDEM_NEEDS_GPU;
  const Tensor m = numbers({6, 5}, 0, 1, bool_), row = numbers({5}, 0, 1, bool_, 3);
  const auto choose = [](const Tensor& c, const Tensor& a, const Tensor& b) { return where(c, a, b); };
  for (const DType d : {bool_, float16, float32, float64, complex64, complex128}) {
    CAPTURE(name(d));
    const Tensor x = numbers({6, 5}, -9, 9, d), y = numbers({6, 5}, -9, 9, d, 2), one = numbers({6, 1}, -9, 9, d, 4);
    compare(choose, m, x, y);
    compare(choose, row, x, one);
    compare([](const Tensor& c, const Tensor& a, const Tensor& b) { return where(c[1], a[1], b[2]); }, m, x, y);
  }
}

TEST_CASE("CUDA index: candidate samplers draw the CPU's classes") {
  TANDEM_NEEDS_GPU;
  for (const auto sampler : {&random::log_uniform_candidate_sampler, &random::uniform_candidate_sampler})
    for (const bool unique : {false, true})
      for (const DType d : {int32, int64}) {
        const Tensor classes = numbers({6, 2}, 0, 50, d);
        const auto draw = [&](const Tensor& t) {
          const random::Generator generator(7);
          return sampler(t, 2, 20, unique, 50, {.generator = &generator});
        };
        const random::Candidates want = draw(classes), got = draw(classes.gpu());
        CHECK(got.sampled.device() == gpu);
        CHECK(table_calls::same_bits(got.sampled, want.sampled));
        check_near(got.true_expected, want.true_expected);
        check_near(got.sampled_expected, want.sampled_expected);
      }
}

TEST_CASE("CUDA index: what is out of range is reported in the same words") {
  TANDEM_NEEDS_GPU;
  const Tensor x = zeros({3, 4}), u = zeros({2, 4}), bad = constant({1, 3}), low = constant({0, -1});
  const auto columns = [](const Tensor& i) { return reshape(i, {2, 1}); };
  fails(
      "gather_nd: index 3 at position", [&](const Tensor& a, const Tensor& i) { return gather_nd(a, i); }, x,
      columns(bad));
  fails(
      "scatter_nd: index -1 at position",
      [&](const Tensor& i, const Tensor& a) {
        return scatter_nd(i, a, {3, 4});
      },
      columns(low), u);
  fails(
      "tensor_scatter_nd_add: index 3 at position",
      [&](const Tensor& a, const Tensor& i, const Tensor& b) { return tensor_scatter_nd_add(a, i, b); }, x,
      columns(bad), u);
  fails(
      "unsorted_segment_sum: index 3 at position",
      [](const Tensor& a, const Tensor& i) { return unsorted_segment_sum(a, i, 3); }, u, bad);
  fails(
      "take_along_axis: index 3 at position", [](const Tensor& a, const Tensor& i) { return take_along_axis(a, i, 0); },
      x, constant({{0, 1, 3, 2}}));
  fails(
      "true class 9 at position 1 is out of range [0, 9)",
      [](const Tensor& t) { return random::uniform_candidate_sampler(t, 1, 2, false, 9); }, constant({{0}, {9}}));
}

}  // namespace cuda_index_test
