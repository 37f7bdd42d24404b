// nn::batch_normalization and nn::fused_batch_norm against loops in double precision.
#include "tandem/ops/norm/batch_norm.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tests/ops/reduce/loops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/threads.hpp"

namespace batch_norm_test {
using namespace tandem;
using loops::check_close, loops::numbers;

std::uint32_t all_but(int axis, int rank) { return ((1u << rank) - 1) & ~(1u << axis); }

void check_training(const Shape& s, DataFormat format, DType dtype, double shift) {
  const int axis = format == DataFormat::nchw ? 1 : s.rank() - 1;
  const Tensor x = loops::random(s, 3, dtype) + cast(constant(shift), dtype);
  const Tensor scale = loops::random({s.dim(axis)}, 4, dtype), offset = loops::random({s.dim(axis)}, 5, dtype);
  const auto a = numbers(scale), b = numbers(offset);
  std::vector<double> y(static_cast<std::size_t>(s.size())), means, variances;
  for (const auto& g : loops::groups(s, numbers(x), all_but(axis, s.rank()))) {
    const double n = static_cast<double>(g.values.size());
    double mean = 0, square = 0;
    for (double v : g.values) mean += v / n;
    for (double v : g.values) square += (v - mean) * (v - mean);
    const std::size_t c = means.size();
    for (std::size_t i = 0; i < g.values.size(); ++i)
      y[static_cast<std::size_t>(g.places[i])] = (g.values[i] - mean) / std::sqrt(square / n + 1e-3) * a[c] + b[c];
    means.push_back(mean);
    variances.push_back(square / std::max(n - 1, 1.0));
  }
  INFO(to_string(s) << " channels first " << (format == DataFormat::nchw) << " shift " << shift);
  const auto r = nn::fused_batch_norm(x, scale, offset, {.data_format = format});
  // A shift of 1000 costs three digits of x - mean.
  const double tolerance = dtype == float64 ? (shift == 0 ? 1e-12 : 1e-10) : shift == 0 ? 5e-6 : 1e-3;
  check_close(r.y, y, tolerance);
  check_close(r.mean, means, dtype == float64 ? 1e-13 : 1e-6);
  check_close(r.variance, variances, tolerance);
}

TEST_CASE("fused_batch_norm in training agrees with loops") {
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    for (const DType dtype : {float32, float64}) {
      for (const Shape& s : {Shape{5, 3}, Shape{1000, 3}, Shape{70, 65}, Shape{3, 4, 5, 7}, Shape{2, 3, 2, 3, 33},
                             Shape{40, 5, 5, 64}, Shape{1, 1, 1, 2}})
        for (const double shift : {0.0, 1000.0}) check_training(s, DataFormat::nhwc, dtype, shift);
      for (const Shape& s : {Shape{5, 3}, Shape{3, 4, 5}, Shape{2, 3, 7, 9}, Shape{4, 5, 40, 41}, Shape{2, 3, 2, 2, 3}})
        check_training(s, DataFormat::nchw, dtype, 0);
    }
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("gradients of fused_batch_norm agree with differences, to second order") {
  for (const DataFormat format : {DataFormat::nhwc, DataFormat::nchw})
    for (const Shape& s : {Shape{4, 2}, Shape{3, 2, 2}, Shape{2, 2, 3, 2}}) {
      const Tensor x = loops::random(s, 1, float64), w = loops::random(s, 2, float64);
      const Tensor scale = loops::random({2}, 3, float64), offset = loops::random({2}, 4, float64);
      const auto f = [&](const Tensor& x, const Tensor& scale, const Tensor& offset) {
        const auto r = nn::fused_batch_norm(x, scale, offset, {.data_format = format});
        return reduce_sum(r.y * r.y * w) + reduce_sum(r.mean * r.variance);
      };
      INFO(to_string(s) << " channels first " << (format == DataFormat::nchw));
      CHECK(test::compute_gradient_error(f, {x, scale, offset}, {.delta = 1e-5}) < 1e-7);
      const auto slope = [&](const Tensor& x, const Tensor& scale, const Tensor& offset) {
        GradientTape tape;
        for (const Tensor* t : {&x, &scale, &offset}) tape.watch(*t);
        const auto g = tape.gradient(f(x, scale, offset), {x, scale, offset});
        return reduce_sum(g[0] * w) + reduce_sum(g[1]) + reduce_sum(g[2] * g[2]);
      };
      CHECK(test::compute_gradient_error(slope, {x, scale, offset}, {.delta = 1e-5}) < 1e-5);
    }
}

TEST_CASE("the fused gradient of many rows agrees with its decomposition, for any number of threads") {
  for (const auto& [s, axis] :
       {std::pair(Shape{900, 40}, 1), std::pair(Shape{3000, 3}, 1), std::pair(Shape{9, 5, 700}, 1)}) {
    const Shape channels{s.dim(axis)};
    const Tensor g = loops::random(s, 1), x = loops::random(s, 2), scale = loops::random(channels, 3);
    const Tensor mean = loops::random(channels, 4), variance = square(loops::random(channels, 5)) + 1.f;
    const Attrs a = rules::BatchNormAttrs{axis, 1e-3};
    const std::vector<Tensor> in{g, x, scale, mean, variance};
    const Tensor* const at[] = {&in[0], &in[1], &in[2], &in[3], &in[4]};
    std::vector<Tensors> got;
    for (const int n : {1, 2, 5}) {
      const testing::Threads threads(n);
      got.push_back(apply(fused_batch_norm_grad_op, at, a));
    }
    const Tensors want = fused_batch_norm_grad_op.rare.decomposition(in, a);
    for (std::size_t i = 0; i < 3; ++i) {
      // Gradients to scale and offset are sums over all rows, in another order, whose terms cancel.
      check_close(got[0][i], numbers(want[i]), i == 0 ? 1e-5 : 2e-4);
      CHECK(got[1][i].to_vector<float>() == got[0][i].to_vector<float>());
      CHECK(got[2][i].to_vector<float>() == got[0][i].to_vector<float>());
    }
  }
}

TEST_CASE("fused_batch_norm in inference, with averages, and batch_normalization") {
  const Tensor x = loops::random({2, 3, 4, 2}, 1, float64), mean = loops::random({2}, 2, float64);
  const Tensor variance = square(loops::random({2}, 3, float64)) + .5, scale = loops::random({2}, 4, float64);
  const Tensor offset = loops::random({2}, 5, float64);
  const auto v = numbers(x), m = numbers(mean), s = numbers(variance), a = numbers(scale), b = numbers(offset);
  std::vector<double> want, plain;
  for (std::size_t i = 0; i < v.size(); ++i) {
    plain.push_back((v[i] - m[i % 2]) / std::sqrt(s[i % 2] + .01));
    want.push_back(plain.back() * a[i % 2] + b[i % 2]);
  }
  check_close(nn::batch_normalization(x, mean, variance, offset, scale, .01), want, 1e-13);
  check_close(nn::batch_normalization(x, mean, variance, {}, {}, .01), plain, 1e-13);
  const auto r = nn::fused_batch_norm(x, scale, offset,
                                      {.mean = mean, .variance = variance, .epsilon = .01, .is_training = false});
  check_close(r.y, want, 1e-13);
  CHECK(r.mean.to_vector<double>() == m);
  // Moving averages of three batches [1, 2, 3, 4] with factor .1, in which the variance has n - 1 = 3.
  const Tensor batch = constant({1.f, 2.f, 3.f, 4.f}, {.shape = {4, 1}}), one = constant({1.f}), zero = constant({0.f});
  Tensor moving_mean = zero, moving_variance = one;
  for (int i = 0; i < 3; ++i) {
    const auto step = nn::fused_batch_norm(
        batch, one, zero, {.mean = moving_mean, .variance = moving_variance, .exponential_avg_factor = .1});
    moving_mean = step.mean, moving_variance = step.variance;
  }
  CHECK(moving_mean.to_vector<float>()[0] == Approx(.6775));
  CHECK(moving_variance.to_vector<float>()[0] == Approx(.729 + .271 * 5 / 3));
  const auto f = [](const std::vector<Tensor>& t) {
    return reduce_sum(square(nn::batch_normalization(t[0], t[1], square(t[2]), t[3], t[4], .01)));
  };
  CHECK(test::compute_gradient_error(f, {x, mean, sqrt(variance), offset, scale}, {.delta = 1e-5}) < 1e-6);
}

TEST_CASE("fused_batch_norm in half precision") {
  for (const DType d : {float16, bfloat16}) {
    const Tensor x = cast(loops::random({70000, 2}, 1), d), scale = cast(constant({1.f, 2.f}), d);
    const auto r = nn::fused_batch_norm(x, scale, scale);
    const Tensor wide = cast(scale, float32);
    const auto want = nn::fused_batch_norm(cast(x, float32), wide, wide);
    CHECK(r.y.dtype() == d);
    check_close(cast(r.y, float32), numbers(cast(cast(want.y, d), float32)), 0);
    check_close(cast(r.variance, float32), numbers(want.variance), 1e-2);  // bfloat16 has 8 bits
    GradientTape tape;
    tape.watch(scale);
    const auto given = nn::fused_batch_norm(scale * cast(constant({{1.f}, {3.f}}), d), scale, scale,
                                            {.mean = scale, .variance = scale, .is_training = false});
    const Tensor g = tape.gradient(given.y, scale);
    CHECK(g.dtype() == d);
  }
}

TEST_CASE("fused_batch_norm in inference takes one number for each channel") {
  const Tensor x = loops::random({2, 3, 4}, 1, float64), three = loops::random({3}, 2, float64);
  const Tensor positive = square(three) + .5;
  const auto v = numbers(x), a = numbers(three), s = numbers(positive);
  std::vector<double> want;
  for (std::size_t i = 0; i < v.size(); ++i)
    want.push_back((v[i] - a[i / 4 % 3]) / std::sqrt(s[i / 4 % 3] + 1e-3) * a[i / 4 % 3] + a[i / 4 % 3]);
  const auto run = [&](const Tensor& scale, const Tensor& offset, const Tensor& mean, const Tensor& variance,
                       bool training) {
    return nn::fused_batch_norm(x, scale, offset,
                                {.mean = mean,
                                 .variance = variance,
                                 .data_format = DataFormat::nchw,
                                 .is_training = training,
                                 .exponential_avg_factor = .5})
        .y;
  };
  check_close(run(three, three, three, positive, false), want, 1e-12);
  for (const bool training : {true, false})
    for (const Tensor& wrong : {constant(1.), loops::random({1}, 1, float64), loops::random({4}, 1, float64),
                                loops::random({3}, 1), loops::random({2, 3, 4}, 1, float64)}) {
      CHECK_THROWS_AS(run(wrong, three, three, three, training), errors::InvalidArgumentError);
      CHECK_THROWS_AS(run(three, wrong, three, three, training), errors::InvalidArgumentError);
      CHECK_THROWS_AS(run(three, three, wrong, three, training), errors::InvalidArgumentError);
      CHECK_THROWS_AS(run(three, three, three, wrong, training), errors::InvalidArgumentError);
    }
}

TEST_CASE("fused_batch_norm with unknown dimensions, empty batches and wrong operands") {
  const Tensor scale = constant({1.f, 2.f, 3.f}), offset = constant({0.f, 1.f, 2.f});
  const auto f = function(
      [&](const Tensor& x) {
        GradientTape tape;
        tape.watch(x);
        const auto r = nn::fused_batch_norm(x, scale, offset, {.data_format = DataFormat::nchw});
        return std::vector<Tensor>{r.y, r.variance, tape.gradient(r.y * r.y, x)};
      },
      {.input_signature = {TensorSpec{{none, none, none}, float32}}});
  for (const i64 n : {2, 4}) {
    const Tensor x = loops::random({n, 3, 5}, 6);
    GradientTape tape;
    tape.watch(x);
    const auto r = nn::fused_batch_norm(x, scale, offset, {.data_format = DataFormat::nchw});
    const auto got = f(x);
    check_close(got[0], numbers(r.y), 1e-6);
    check_close(got[1], numbers(r.variance), 1e-6);
    check_close(got[2], numbers(tape.gradient(r.y * r.y, x)), 1e-5);
  }
  const auto none_at_all = nn::fused_batch_norm(constant(std::vector<float>{}, {.shape = {0, 3}}), scale, offset);
  CHECK(none_at_all.y.shape() == Shape{0, 3});
  CHECK(std::isnan(none_at_all.mean.to_vector<float>()[2]));
  const Tensor x = loops::random({2, 3}, 1);
  CHECK_THROWS_WITH(
      nn::fused_batch_norm(x, constant({1.f}), offset),
      ContainsSubstring("fused_batch_norm: scale, offset and statistics need x's dtype and the shape (3,)"));
  CHECK_THROWS_WITH(nn::fused_batch_norm(scale, scale, offset), ContainsSubstring("rank 2 to 5"));
  CHECK_THROWS_WITH(nn::fused_batch_norm(x, scale, offset, {.is_training = false}),
                    ContainsSubstring("needs .mean and .variance"));
  CHECK_THROWS_AS(nn::fused_batch_norm(constant({{1, 2}}), scale, offset), errors::OpError);
}

}  // namespace batch_norm_test
