// Pooling against loops, examples, NaN, integers, indices; local response normalization; errors. Not here: gradients
// (conv_gradient_test.cpp).
#include "tandem/ops/conv/pool.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tests/ops/conv/conv_loops.hpp"
#include "tests/support/errors.hpp"

namespace pool_test {
using namespace tandem;
using conv_loops::Axis;
using conv_loops::check_close;
using conv_loops::numbers;
using conv_loops::wave;
using testing::error_of;
using Floats = std::vector<float>;

struct Window {
  double largest = -HUGE_VAL, sum = 0;
  i64 count = 0, winner = -1;
};
// The windows of an image [n, axes..., channels].
std::vector<Window> windows(const Tensor& x, const std::vector<Axis>& axes) {
  const i64 channels = x.shape().dim(-1), batch = x.shape().dim(0);
  i64 results = batch;
  for (const Axis& a : axes) results *= a.out();
  std::vector<Window> r(static_cast<std::size_t>(results * channels));
  const auto v = numbers(x);
  // A depthwise "convolution" visits each window's elements.
  conv_loops::each_product(batch, axes, channels, 1, channels, [&](i64 at_y, i64 at_x, i64) {
    Window& w = r[static_cast<std::size_t>(at_y)];
    const double value = v[static_cast<std::size_t>(at_x)];
    if (w.winner < 0 || value > w.largest) w.largest = value, w.winner = at_x;
    w.sum += value;
    ++w.count;
  });
  return r;
}
void check(const std::vector<Axis>& axes, i64 batch, i64 channels, DType dtype) {
  Shape s{batch};
  std::vector<i64> ksize, strides, dilations;
  std::vector<std::pair<i64, i64>> pads;
  for (const Axis& a : axes) {
    s.push_back(a.in);
    ksize.push_back(a.window), strides.push_back(a.stride), dilations.push_back(a.dilation);
    pads.emplace_back(a.before, a.after);
  }
  s.push_back(channels);
  const Tensor x = wave(s, .4, dtype);
  const nn::GeneralPoolOptions o{
      .strides = strides, .padding = axes[0].same ? Padding::same : Padding(pads), .dilations = dilations};
  std::vector<double> largest, mean, g_over_count;
  const auto all = windows(x, axes);
  for (const Window& w : all) {
    largest.push_back(w.largest);
    mean.push_back(w.count ? w.sum / static_cast<double>(w.count) : 0);
  }
  INFO(to_string(x.spec()) << " window " << ksize.back() << " stride " << strides.back());
  CHECK(numbers(nn::pool(x, ksize, nn::PoolingType::max, o)) == largest);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = nn::pool(x, ksize, nn::PoolingType::avg, o), most = nn::pool(x, ksize, nn::PoolingType::max, o);
  check_close(y, mean, dtype == float64 ? 1e-14 : 1e-6);
  const Tensor g = wave(y.shape(), 1, dtype);
  std::vector<double> dx(static_cast<std::size_t>(x.size())), dx_of_maxima = dx;
  const auto vg = numbers(g);
  conv_loops::each_product(batch, axes, channels, 1, channels, [&](i64 at_y, i64 at_x, i64) {
    const auto i = static_cast<std::size_t>(at_y);
    dx[static_cast<std::size_t>(at_x)] += vg[i] / static_cast<double>(all[i].count);
  });
  check_close(tape.gradient(y, x, {.output_gradients = {g}}), dx, dtype == float64 ? 1e-14 : 1e-6);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].winner >= 0) dx_of_maxima[static_cast<std::size_t>(all[i].winner)] += vg[i];
  check_close(tape.gradient(most, x, {.output_gradients = {g}}), dx_of_maxima, dtype == float64 ? 1e-14 : 1e-6);
}

TEST_CASE("pool: values agree with loops on every instruction set") {
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    for (DType dtype : {float32, float64})
      for (i64 channels : {1, 3, 16, 70, 130})
        for (bool same : {false, true}) {
          check({{7, 2, 2, 1, 0, 0, same}, {9, 2, 2, 1, 0, 0, same}}, 2, channels, dtype);
          check({{7, 3, 2, 1, 0, 0, same}, {8, 3, 1, 1, 0, 0, same}}, 2, channels, dtype);
          check({{9, 2, 1, 2, 0, 0, same}, {8, 3, 2, 3, 0, 0, same}}, 1, channels, dtype);
          check({{11, 2, 3, 1, 0, 0, same}}, 3, channels, dtype);
          check({{4, 2, 2, 1, 0, 0, same}, {5, 3, 2, 1, 0, 0, same}, {3, 2, 1, 1, 0, 0, same}}, 2, channels, dtype);
        }
    check({{5, 3, 2, 1, 1, 2}, {6, 2, 1, 1, 0, 1}}, 2, 5, float32);
    check({{8, 3, 3, 1, 1, 0}, {10, 3, 3, 1, 2, 1}}, 2, 37, float32);  // adjacent windows, some of them in the padding
    check({{3, 6, 6, 1, 5, 0}, {9, 2, 2, 1, 0, 0}}, 2, 21, float32);
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("pool: examples") {
  const Tensor a = constant({1.f, .2f, 1.5f, .1f, 1.2f, 1.4f, 1.1f, .4f, .4f}, {.shape = {1, 3, 3, 1}});
  CHECK(nn::max_pool(a, {.ksize = {1, 3, 3, 1}, .strides = {1, 1, 1, 1}}).to_vector<float>() == Floats{1.5f});
  const Tensor b = constant({1.f, 1.f, 1.f, 1.f, .5f, 0.f, 0.f, 0.f, 0.f}, {.shape = {1, 3, 3, 1}});
  CHECK(nn::avg_pool(b, {.ksize = 3}).to_vector<float>() == Floats{.5f});
  const Tensor c = constant({1.f, 2.f, 3.f, 4.f}, {.shape = {1, 2, 2, 1}});
  const nn::PoolOptions same{.ksize = 2, .strides = 1, .padding = Padding::same};
  CHECK(nn::max_pool(c, same).to_vector<float>() == Floats{4, 4, 4, 4});
  CHECK(nn::avg_pool(c, same).to_vector<float>() == Floats{2.5f, 3, 3.5f, 4});
  // Padding is smaller than all numbers.
  CHECK(nn::max_pool(-c, same).to_vector<float>() == Floats{-1, -2, -3, -4});
  CHECK(nn::max_pool(cast(-c, int32), same).to_vector<std::int32_t>() == std::vector<std::int32_t>{-1, -2, -3, -4});
  CHECK(nn::max_pool2d(c).to_vector<float>() == Floats{4});
  CHECK(nn::avg_pool2d(c).to_vector<float>() == Floats{2.5f});
  CHECK(nn::avg_pool1d(reshape(c, {1, 4, 1})).to_vector<float>() == Floats{1.5f, 3.5f});
  CHECK(nn::max_pool1d(reshape(c, {1, 4, 1}), {.ksize = 3, .strides = 1}).to_vector<float>() == Floats{3, 4});
  CHECK(nn::max_pool3d(reshape(c, {1, 2, 2, 1, 1}), {.ksize = {2, 1, 1}}).to_vector<float>() == Floats{3, 4});
  CHECK(nn::avg_pool3d(reshape(c, {1, 2, 2, 1, 1}), {.ksize = {2, 2, 1}}).to_vector<float>() == Floats{2.5f});
}

TEST_CASE("max_pool: every dtype, NaN and infinities") {
  for (DType d : {int8, int16, int32, int64, uint8, uint16, uint32, uint64}) {
    const Tensor x = cast(reshape(range(0, 2 * 5 * 40), {1, 2, 5, 40}) % 100, d);
    const auto y = numbers(nn::max_pool(x, {.ksize = {2, 5}, .strides = 1}));
    const auto v = numbers(x);
    for (std::size_t c = 0; c < 40; ++c) {
      double most = 0;
      for (std::size_t i = 0; i < 10; ++i) most = std::fmax(most, v[i * 40 + c]);
      CHECK(y[c] == most);
    }
  }
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const auto y = nn::max_pool(constant({1.f, nan, inf, 2.f, -inf, -inf}, {.shape = {1, 6, 1}})).to_vector<float>();
  CHECK(std::isnan(y[0]));
  CHECK(y[1] == inf);
  CHECK(y[2] == -inf);
  // In every lane of the vectors, and beside them.
  const i64 channels = 37;
  Floats values(static_cast<std::size_t>(2 * channels), 1);
  for (i64 c = 0; c < channels; c += 3) values[static_cast<std::size_t>(c % 2 * channels + c)] = nan;
  const auto wide = nn::max_pool(constant(values, {.shape = {1, 2, channels}})).to_vector<float>();
  for (i64 c = 0; c < channels; ++c) CHECK(std::isnan(wide[static_cast<std::size_t>(c)]) == (c % 3 == 0));
  const Tensor h = cast(constant({1.f, 2.f, 3.f, 4.f}, {.shape = {1, 4, 1}}), float16);
  CHECK(nn::max_pool(h).dtype() == float16);
  GradientTape tape;
  tape.watch(h);
  CHECK(cast(tape.gradient(nn::avg_pool(h), h), float32).to_vector<float>() == Floats{.5f, .5f, .5f, .5f});
}

TEST_CASE("max_pool: the gradient of a window with more elements than float32 can count") {
  const i64 n = (i64(1) << 24) + 3;
  const Tensor x = concat({zeros({1, n - 1, 1}), ones({1, 1, 1})}, 1);
  GradientTape tape;
  tape.watch(x);
  const Tensor g = tape.gradient(nn::max_pool(x, {.ksize = n}), x);
  CHECK(reduce_sum(g).item<float>() == 1);
  CHECK(reduce_sum(g * x).item<float>() == 1);
}

TEST_CASE("max_pool_with_argmax") {
  const Tensor x = constant({1.f, 9.f, 2.f, 8.f, 9.f, 3.f, 0.f, 8.f, 5.f, 1.f, 5.f, 1.f, 4.f, 7.f, 4.f, 7.f},
                            {.shape = {2, 2, 2, 2}});
  const auto r = nn::max_pool_with_argmax(x);
  CHECK(r.output.to_vector<float>() == Floats{9, 9, 5, 7});
  CHECK(r.argmax.to_vector<i64>() == std::vector<i64>{4, 1, 0, 5});
  const auto all = nn::max_pool_with_argmax(x, {.output_dtype = int32, .include_batch_in_index = true});
  CHECK(all.argmax.to_vector<std::int32_t>() == std::vector<std::int32_t>{4, 1, 8, 13});
  const Tensor y = wave({2, 5, 6, 3}, .3);
  const auto s = nn::max_pool_with_argmax(
      y, {.ksize = 3, .strides = {1, 2, 2, 1}, .padding = Padding::same, .include_batch_in_index = true});
  CHECK(gather(reshape(y, {-1}), s.argmax).to_vector<float>() == s.output.to_vector<float>());
  CHECK(error_of([&] {
          nn::max_pool_with_argmax(x, {.output_dtype = float32});
        }).find("max_pool_with_argmax: output_dtype must be int32 or int64, not float32") == 0);
}

TEST_CASE("pool: channels first, empty images, unknown sizes, threads") {
  const Tensor x = wave({2, 3, 6, 5}, .2);
  const Tensor first =
      nn::max_pool(x, {.ksize = {1, 1, 3, 2}, .strides = {1, 1, 2, 1}, .data_format = DataFormat::nchw});
  const Tensor last =
      nn::max_pool(transpose(x, {.perm = {0, 2, 3, 1}}), {.ksize = {1, 3, 2, 1}, .strides = {1, 2, 1, 1}});
  CHECK(first.shape() == Shape{2, 3, 2, 4});
  CHECK(transpose(first, {.perm = {0, 2, 3, 1}}).to_vector<float>() == last.to_vector<float>());
  CHECK(nn::avg_pool(zeros({0, 4, 4, 2})).shape() == Shape{0, 2, 2, 2});
  CHECK(nn::max_pool(zeros({2, 1, 4, 2})).shape() == Shape{2, 0, 2, 2});
  GradientTape tape;
  const Tensor e = ones({2, 1, 4, 2});
  tape.watch(e);
  CHECK(tape.gradient(nn::max_pool(e), e).to_vector<float>() == Floats(16));
  const auto f = function(
      [](const Tensor& t) {
        GradientTape inner;
        inner.watch(t);
        const Tensor y = nn::max_pool(t) * nn::avg_pool(t);
        CHECK(y.shape().dim(1) == none);
        return inner.gradient(y, t);
      },
      {.input_signature = {TensorSpec({none, none, 4, none})}});
  const auto eager = [](const Tensor& t) {
    GradientTape inner;
    inner.watch(t);
    return inner.gradient(nn::max_pool(t) * nn::avg_pool(t), t);
  };
  for (i64 n : {2, 3}) {
    const Tensor t = wave({n, n + 3, 4, n}, .2);
    CHECK(f(t).to_vector<float>() == eager(t).to_vector<float>());
  }
  const Tensor large = wave({3, 30, 40, 70}, .2);
  std::vector<Floats> results;
  for (int threads : {1, 2, 5}) {
    config::set_intra_op_parallelism_threads(threads);
    results.push_back(eager(large).to_vector<float>());
    CHECK(results.back() == results.front());
  }
  config::set_intra_op_parallelism_threads(0);
}

TEST_CASE("local_response_normalization") {
  const Tensor x = constant({1.f, 2.f, 3.f}, {.shape = {1, 1, 3, 1}});
  const auto y = nn::lrn(x).to_vector<float>();
  CHECK(y[0] == Approx(.70710677f).epsilon(1e-7));
  CHECK(y[1] == Approx(.89442718f).epsilon(1e-7));
  CHECK(y[2] == Approx(.94868326f).epsilon(1e-7));
  const Tensor z = wave({2, 3, 4, 7}, .2, float64);
  const auto v = numbers(z),
             got =
                 numbers(nn::local_response_normalization(z, {.depth_radius = 2, .bias = 2, .alpha = .5, .beta = .75}));
  for (std::size_t i = 0; i < v.size(); ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < 7; ++c)
      if (std::abs(static_cast<int>(c) - static_cast<int>(i % 7)) <= 2) sum += v[i - i % 7 + c] * v[i - i % 7 + c];
    CHECK(got[i] == Approx(v[i] / std::pow(2 + .5 * sum, .75)).epsilon(1e-12));
  }
  // An infinite channel reaches its neighbors only.
  std::vector<float> far(8, 1);
  far[7] = std::numeric_limits<float>::infinity();
  const auto w = nn::lrn(constant(far), {.depth_radius = 2}).to_vector<float>();
  CHECK(w[4] == Approx(1 / std::sqrt(6.0)));
  CHECK(w[5] == 0);
  CHECK(nn::lrn(zeros({0, 4})).shape() == Shape{0, 4});
  const Tensor half = constant({300.f, 400.f}, {.dtype = float16});  // squares overflow
  const auto narrow = numbers(nn::lrn(half, {.beta = .25}));
  CHECK(narrow[1] == Approx(400 / std::pow(250001., .25)).epsilon(1e-3));
  CHECK(error_of([] { nn::lrn(constant(1.f)); }).find("lrn: a scalar has no channels") == 0);
  CHECK(error_of([&] { nn::lrn(x, {.depth_radius = -1}); }).find("lrn: depth_radius is negative: -1") == 0);
}

TEST_CASE("pool: a window wholly in the padding raises") {
  const auto fault = [](i64 size, i64 window, i64 stride, i64 dilation, const Padding& padding) {
    const Tensor x = ones({1, size, 1});
    const nn::GeneralPoolOptions o{.strides = stride, .padding = padding, .dilations = dilation};
    const std::string largest = error_of([&] { nn::pool(x, window, nn::PoolingType::max, o); });
    const bool raised = largest.find("lies wholly in the padding of spatial axis 0") != std::string::npos;
    CHECK((raised || largest == "no error"));
    CHECK((error_of([&] { nn::pool(x, window, nn::PoolingType::avg, o); }) == "no error") == !raised);
    return raised;
  };
  // By brute force over the windows' elements.
  const auto expected = [](i64 size, i64 window, i64 stride, i64 dilation, i64 before, i64 after) {
    for (i64 at = -before; at + (window - 1) * dilation < size + after; at += stride) {
      i64 inside = 0;
      for (i64 k = 0; k < window; ++k) inside += at + k * dilation >= 0 && at + k * dilation < size;
      if (inside == 0) return true;
    }
    return false;
  };
  int raised = 0, accepted = 0;
  for (i64 size : {0, 1, 2, 5})
    for (i64 window : {1, 2, 3})
      for (i64 stride : {1, 2, 4})
        for (i64 dilation : {1, 2, 3})
          for (i64 before : {0, 1, 2, 5})
            for (i64 after : {0, 1, 4}) {
              if (size + before + after < (window - 1) * dilation) continue;  // does not fit: another error
              CAPTURE(size, window, stride, dilation, before, after);
              const bool want = expected(size, window, stride, dilation, before, after);
              CHECK(fault(size, window, stride, dilation, {{before, after}}) == want);
              ++(want ? raised : accepted);
            }
  CHECK((raised > 100 && accepted > 100));
  CHECK(fault(1, 2, 1, 2, Padding::same));  // elements at -1 and 1
  CHECK(!fault(1, 3, 1, 2, Padding::same));
  CHECK_THAT(error_of([] {
               nn::max_pool_with_argmax(ones({1, 2, 2, 1}), {.padding = {{2, 0}, {0, 0}}});
             }),
             ContainsSubstring("lies wholly in the padding of spatial axis 0"));
  // With a size that is known at the call only.
  const auto f = function(
      [](const Tensor& t) {
        return nn::pool(t, 2, nn::PoolingType::max, {.padding = {{1, 1}}, .dilations = 2});
      },
      {.input_signature = {TensorSpec({1, none, 1})}});
  CHECK(f(ones({1, 2, 1})).to_vector<float>() == Floats{1, 1});
  CHECK_THAT(error_of([&] { f(ones({1, 1, 1})); }), ContainsSubstring("lies wholly in the padding"));
}

TEST_CASE("pool: errors") {
  const Tensor x = zeros({2, 5, 6, 3});
  CHECK(error_of([&] {
          nn::max_pool(x, {.ksize = 7, .strides = 1});
        }).find("max_pool: a window of 7 with dilation 1 does not fit into size 5 of spatial axis 0") == 0);
  CHECK(error_of([&] {
          nn::max_pool(zeros({2, 3}));
        }).find("max_pool: float32[2,3] does not have rank 3, 4 or 5: batch, spatial axes, channels") == 0);
  CHECK(error_of([&] { nn::avg_pool3d(x); }).find("avg_pool: float32[2,5,6,3] does not have rank 5") == 0);
  CHECK(error_of([&] {
          nn::avg_pool(x, {.ksize = {1, 2, 2}});
        }).find("avg_pool: ksize has 3 entries for 2 spatial axes") == 0);
  CHECK(error_of([&] {
          nn::avg_pool(x, {.ksize = {1, 2, 2, 3}});
        }).find("avg_pool: ksize must be 1 for batch and channels, not 1 and 3") == 0);
  CHECK(error_of([&] { nn::max_pool(x, {.ksize = {}}); }).find("max_pool: ksize is empty") == 0);
  CHECK(error_of([&] { nn::max_pool(x, {.ksize = 0}); }).find("max_pool: ksize must be positive, not 0") == 0);
  CHECK(error_of([&] { nn::max_pool(x, {.strides = -2}); }).find("max_pool: strides must be positive, not -2") == 0);
  CHECK_THROWS_AS(nn::avg_pool(cast(x, int32)), errors::UnimplementedError);
  CHECK(error_of([&] {
          nn::pool(zeros({3}), {2}, nn::PoolingType::avg);
        }).find("pool: float32[3] does not have rank 3, 4 or 5") == 0);
}

}  // namespace pool_test
