// nn::layer_norm, rms_norm, group_norm and instance_norm against loops in double precision.
#include "tandem/ops/norm/layer_norm.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tests/ops/reduce/loops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/threads.hpp"

namespace layer_norm_test {
using namespace tandem;
using loops::check_close, loops::numbers;
using testing::error_of;

// (x - mean) / sqrt(variance + epsilon) of each group of elements; by the mean square without centering.
std::vector<double> normalized(const std::vector<loops::Group>& groups, std::size_t size, double epsilon,
                               bool centered = true) {
  std::vector<double> y(size);
  for (const auto& g : groups) {
    const double n = static_cast<double>(g.values.size());
    double mean = 0, square = 0;
    for (double v : g.values) mean += v / n;
    if (!centered) mean = 0;
    for (double v : g.values) square += (v - mean) * (v - mean) / n;
    for (std::size_t i = 0; i < g.values.size(); ++i)
      y[static_cast<std::size_t>(g.places[i])] = (g.values[i] - mean) / std::sqrt(square + epsilon);
  }
  return y;
}
template <class F>
void on_every_set(const F& f) {
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    f();
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("layer_norm and rms_norm agree with loops over all sets of axes") {
  on_every_set([] {
    for (const Shape& s : {Shape{7}, Shape{5, 37}, Shape{3, 4, 6}, Shape{2, 3, 4, 5}, Shape{3, 1000}})
      for (std::uint32_t mask = 1; mask < 1u << s.rank(); ++mask) {
        Axes axes = Axes::none();
        for (int d = 0; d < s.rank(); ++d)
          if (mask >> d & 1u) axes.push_back(d - (d % 2 ? s.rank() : 0));
        for (const DType dtype : {float32, float64}) {
          const Tensor x = loops::random(s, 7, dtype);
          const auto groups = loops::groups(s, numbers(x), mask);
          const auto size = static_cast<std::size_t>(s.size());
          const double tolerance = dtype == float32 ? 3e-6 : 1e-13;
          INFO(to_string(s) << " mask " << mask);
          check_close(nn::layer_norm(x, {.axis = axes}), normalized(groups, size, 1e-3), tolerance);
          check_close(nn::rms_norm(x, {.axis = axes}), normalized(groups, size, 1e-6, false), tolerance);
        }
      }
  });
}

TEST_CASE("layer_norm of an example, with scale and offset") {
  const Tensor x = constant({1.f, 2.f, 3.f, 4.f});
  check_close(nn::layer_norm(x), {-1.3411045, -.4470348, .4470348, 1.3411045}, 1e-7);
  const Tensor scale = constant({1.f, 2.f, 3.f, 4.f}), offset = constant({.5f, 0.f, -.5f, 1.f});
  check_close(nn::layer_norm(x, {.scale = scale, .offset = offset}), {-1.3411045 + .5, -.8940696, .8411044, 6.364418},
              1e-6);
  // Leading axes, whose parameters have their shape.
  const Tensor columns = transpose(reshape(x, {1, 4}));
  check_close(nn::layer_norm(columns, 0, {.scale = scale, .offset = offset}),
              {-1.3411045 + .5, -.8940696, .8411044, 6.364418}, 1e-6);
  check_close(nn::rms_norm(constant({3.f, 4.f}), {.scale = constant({1.f, 2.f})}), {.8485281, 2.2627417}, 1e-6);
}

TEST_CASE("a large mean does not hurt layer_norm") {
  const Tensor x = loops::random({4, 300}, 3) + 4096.f;  // where float32 numbers are 5e-4 apart
  check_close(nn::layer_norm(x), normalized(loops::groups(x.shape(), numbers(x), 2), 1200, 1e-3), 2e-3);
}

TEST_CASE("gradients of layer_norm and rms_norm agree with differences, to second order") {
  for (const Shape& s : {Shape{4}, Shape{3, 5}, Shape{2, 3, 4}, Shape{20, 19}}) {
    const Shape last{s.dim(-1)};
    const Tensor x = loops::random(s, 1, float64), w = loops::random(s, 2, float64);
    const Tensor scale = loops::random(last, 3, float64), offset = loops::random(last, 4, float64);
    for (const bool centered : {true, false}) {
      const auto f = [&](const Tensor& x, const Tensor& scale, const Tensor& offset) {
        const Tensor y = centered ? nn::layer_norm(x, {.scale = scale, .offset = offset})
                                  : nn::rms_norm(x, {.scale = scale}) + offset;
        return reduce_sum(y * y * w);
      };
      INFO(to_string(s) << " centered " << centered);
      CHECK(test::compute_gradient_error(f, {x, scale, offset}, {.delta = 1e-5}) < 1e-7);
      const auto slope = [&](const Tensor& x, const Tensor& scale, const Tensor& offset) {
        GradientTape tape;
        for (const Tensor* t : {&x, &scale, &offset}) tape.watch(*t);
        const auto g = tape.gradient(f(x, scale, offset), {x, scale, offset});
        return reduce_sum(g[0] * w) + reduce_sum(g[1]) + reduce_sum(g[2] * g[2]);
      };
      if (s.size() < 100) CHECK(test::compute_gradient_error(slope, {x, scale, offset}, {.delta = 1e-5}) < 1e-5);
    }
  }
}

TEST_CASE("the fused gradients agree with their decompositions on every instruction set") {
  on_every_set([] {
    for (const Shape& s : {Shape{200, 33}, Shape{3, 1000}})
      for (const bool centered : {true, false}) {
        const Tensor g = loops::random(s, 1), x = loops::random(s, 2), scale = loops::random({s.dim(1)}, 3);
        const OpDef& op = centered ? layer_norm_grad_op : rms_norm_grad_op;
        const Attrs a = rules::LayerNormAttrs{1, 1e-3, true, centered};
        const Tensor* const in[] = {&g, &x, &scale};
        const std::vector<Tensor> copies{g, x, scale};
        const Tensors got = apply(op, in, a), want = op.rare.decomposition(copies, a);
        REQUIRE(got.size() == want.size());
        for (std::size_t i = 0; i < got.size(); ++i) check_close(got[i], numbers(want[i]), 2e-5);
      }
  });
}

TEST_CASE("results of layer_norm do not depend on the number of threads") {
  const Tensor x = loops::random({700, 130}, 1), scale = loops::random({130}, 2), g = loops::random({700, 130}, 3);
  const auto all = [&] {
    GradientTape tape;
    tape.watch(x);
    tape.watch(scale);
    const Tensor y = nn::layer_norm(x, {.scale = scale});
    const auto r = tape.gradient(y, {x, scale}, {.output_gradients = {g}});
    return std::vector<Tensor>{y, r[0], r[1]};
  };
  std::vector<Tensor> one;
  {
    const testing::Threads threads(1);
    one = all();
  }
  for (const int n : {2, 5}) {
    const testing::Threads threads(n);
    const auto many = all();
    for (std::size_t i = 0; i < one.size(); ++i) CHECK(many[i].to_vector<float>() == one[i].to_vector<float>());
  }
}

TEST_CASE("layer_norm and rms_norm: NaN and infinity stay in their rows, forward and backward") {
  on_every_set([] {
    const Tensor x = constant(
        {{1.f, NAN, 2.f}, {1.f, INFINITY, 2.f}, {1e30f, 2e30f, 3e30f}, {1.f, 2.f, 4.f}, {-INFINITY, NAN, 0.f}});
    for (const bool centered : {true, false}) {
      const auto norm = [&](const Tensor& t) { return centered ? nn::layer_norm(t) : nn::rms_norm(t); };
      GradientTape tape;
      tape.watch(x);
      const Tensor y = norm(x), g = tape.gradient(reduce_sum(y * y * y), x);
      const auto v = numbers(y), slopes = numbers(g);
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK((std::isnan(v[i]) && std::isnan(v[12 + i]) && std::isnan(slopes[i]) && std::isnan(slopes[12 + i])));
        CHECK(std::isnan(slopes[3 + i]));
        if (centered) CHECK(std::isnan(v[3 + i]));
        else CHECK((i == 1 ? std::isnan(v[4]) : v[3 + i] == 0));
      }
      check_close(numbers(norm(constant({{1., 2., 3.}, {1., 2., 4.}}))),
                  std::vector<double>(v.begin() + 6, v.begin() + 12), 1e-3);
      for (std::size_t i = 6; i < 12; ++i) CHECK(std::isfinite(slopes[i]));
    }
  });
}
TEST_CASE("layer_norm of empty tensors, unknown dimensions and wrong operands") {
  CHECK(nn::layer_norm(constant(std::vector<float>{}, {.shape = {0, 3}})).shape() == Shape{0, 3});
  CHECK(nn::layer_norm(constant(std::vector<float>{}, {.shape = {3, 0}})).shape() == Shape{3, 0});
  {
    const Tensor x = constant(std::vector<float>{}, {.shape = {0, 3}}), scale = constant({1.f, 2.f, 3.f});
    GradientTape tape;
    tape.watch(scale);
    CHECK(tape.gradient(nn::layer_norm(x, {.scale = scale}), scale).to_vector<float>() == std::vector<float>{0, 0, 0});
  }
  const Tensor scale = constant({1.f, 2.f, 3.f});
  const auto f = function(
      [&](const Tensor& x) {
        GradientTape tape;
        tape.watch(x);
        const Tensor y = nn::layer_norm(x, {.scale = scale}) + nn::layer_norm(x, 0);
        return std::vector<Tensor>{y, tape.gradient(y * y, x), nn::group_norm(x, 3), nn::instance_norm(x)};
      },
      {.input_signature = {TensorSpec{{none, none}, float32}}});
  for (const i64 rows : {2, 5}) {
    const Tensor x = loops::random({rows, 3}, 4);
    const auto got = f(x);
    GradientTape tape;
    tape.watch(x);
    const Tensor y = nn::layer_norm(x, {.scale = scale}) + nn::layer_norm(x, 0);
    check_close(got[0], numbers(y), 1e-5);
    check_close(got[1], numbers(tape.gradient(y * y, x)), 1e-5);
    check_close(got[2], std::vector<double>(static_cast<std::size_t>(x.size())), 1e-6);
    check_close(got[3], std::vector<double>(static_cast<std::size_t>(x.size())), 1e-6);
  }
  CHECK_THROWS_WITH(nn::layer_norm(constant(1.f)), ContainsSubstring("layer_norm: axis -1 is out of range for rank 0"));
  CHECK_THROWS_WITH(nn::layer_norm(constant({1.f}), 1), ContainsSubstring("axis 1 is out of range for rank 1"));
  CHECK_THROWS_WITH(nn::layer_norm(constant({{1.f, 2.f}}), {.scale = scale}),
                    ContainsSubstring("layer_norm: scale and offset need x's dtype and the shape of the normalized "
                                      "axes, (2,): float32[1,2] x float32[3]"));
  // The same over other axes than the last, where a wrong parameter must not broadcast.
  const Tensor block = loops::random({2, 1, 4}, 1);
  for (const Tensor& wrong : {loops::random({5}, 2), loops::random({2, 1}, 2), loops::random({1}, 2, float64)}) {
    CHECK(error_of([&] { nn::layer_norm(block, 1, {.scale = wrong}); })
              .find("layer_norm: scale and offset need x's dtype and the shape of the normalized axes, (1,): "
                    "float32[2,1,4] x ") == 0);
    CHECK_THROWS_AS(nn::layer_norm(block, 1, {.offset = wrong}), errors::InvalidArgumentError);
    CHECK_THROWS_AS(nn::rms_norm(block, 1, {.scale = wrong}), errors::InvalidArgumentError);
  }
  const auto first = function([](const Tensor& x, const Tensor& s) { return nn::layer_norm(x, 0, {.scale = s}); },
                              {.input_signature = {TensorSpec{{none, none}, float32}, TensorSpec{{none}, float32}}});
  CHECK(first(loops::random({2, 3}, 1), loops::random({2}, 2)).shape() == Shape{2, 3});
  CHECK_THROWS_AS(first(loops::random({1, 3}, 1), loops::random({2}, 2)), errors::InvalidArgumentError);
  CHECK_THROWS_AS(nn::layer_norm(constant({1, 2})), errors::UnimplementedError);
}

TEST_CASE("norms in half precision round only their results") {
  const Tensor large = loops::random({6, 4, 8}, 1) * 400.f;  // squares overflow float16
  for (const DType d : {float16, bfloat16}) {
    const Tensor x = cast(large, d), wide = cast(x, float32);
    const Tensor a = cast(loops::random({8}, 2), d), b = cast(loops::random({6}, 3), d);
    const auto check = [&](const auto& f) {
      const Tensor y = f(x, a, b), want = f(wide, cast(a, float32), cast(b, float32));
      CHECK(y.dtype() == d);
      CHECK(cast(y, float32).to_vector<float>() == cast(cast(want, d), float32).to_vector<float>());
    };
    using T = const Tensor&;
    check([](T x, T a, T) { return nn::layer_norm(x, {.scale = a, .offset = a}); });
    check([](T x, T, T b) { return nn::layer_norm(x, 0, {.scale = b, .offset = b}); });
    check([](T x, T, T b) { return nn::rms_norm(x, 0, {.scale = b}); });
    check([](T x, T a, T) { return nn::group_norm(x, 2, {.scale = a, .offset = a}); });
    check([](T x, T, T) { return nn::group_norm(x, 2, {.axis = 1}); });
    check([](T x, T a, T) { return nn::instance_norm(x, {.scale = a, .offset = a}); });
  }
}

TEST_CASE("group_norm and instance_norm agree with loops") {
  check_close(nn::group_norm(constant({{0.f, 1.f, 2.f, 3.f}, {4.f, 5.f, 6.f, 7.f}}), 2),
              {-.998006, .998006, -.998006, .998006, -.998006, .998006, -.998006, .998006}, 1e-6);
  for (const bool last : {true, false}) {
    const Shape s = last ? Shape{2, 3, 5, 6} : Shape{2, 6, 3, 5};
    const Tensor x = loops::random(s, 5, float64), scale = loops::random({6}, 6, float64);
    const Tensor offset = loops::random({6}, 7, float64);
    const auto v = numbers(x), a = numbers(scale), b = numbers(offset);
    for (const i64 groups : {1, 2, 3, 6}) {
      // Element (image, pixel, channel) of x, and the group it belongs to.
      const auto place = [&](i64 n, i64 p, i64 c) {
        return static_cast<std::size_t>((last ? (n * 15 + p) * 6 + c : (n * 6 + c) * 15 + p));
      };
      std::vector<double> want(v.size());
      const i64 width = 6 / groups;
      for (i64 n = 0; n < 2; ++n)
        for (i64 k = 0; k < groups; ++k) {
          double mean = 0, square = 0;
          const double count = static_cast<double>(15 * width);
          for (i64 p = 0; p < 15; ++p)
            for (i64 c = k * width; c < (k + 1) * width; ++c) mean += v[place(n, p, c)] / count;
          for (i64 p = 0; p < 15; ++p)
            for (i64 c = k * width; c < (k + 1) * width; ++c)
              square += (v[place(n, p, c)] - mean) * (v[place(n, p, c)] - mean) / count;
          for (i64 p = 0; p < 15; ++p)
            for (i64 c = k * width; c < (k + 1) * width; ++c) {
              const auto i = static_cast<std::size_t>(c);
              want[place(n, p, c)] = (v[place(n, p, c)] - mean) / std::sqrt(square + 1e-5) * a[i] + b[i];
            }
        }
      const nn::GroupNormOptions o{.axis = last ? -1 : 1, .epsilon = 1e-5, .scale = scale, .offset = offset};
      check_close(nn::group_norm(x, groups, o), want, 1e-12);
      if (groups == 6) check_close(nn::instance_norm(x, o), want, 1e-12);
      if (groups != 2) continue;
      const auto f = [&](const Tensor& x, const Tensor& scale) {
        auto with = o;
        with.scale = scale;
        const Tensor y = nn::group_norm(x, 2, with) + nn::instance_norm(x, with);
        return reduce_sum(y * y);
      };
      CHECK(test::compute_gradient_error(f, {x, scale}, {.delta = 1e-5}) < 1e-6);
    }
  }
  CHECK(error_of([] {
          nn::group_norm(constant({{1.f, 2.f, 3.f}}), 2);
        }).find("group_norm: 2 groups do not divide the channels of float32[1,3]") != std::string::npos);
  CHECK_THROWS_WITH(nn::group_norm(constant({{1.f, 2.f}}), 1, {.axis = 0}),
                    ContainsSubstring("group_norm: axis 0 is the batch, not the channels"));
  CHECK_THROWS_WITH(
      nn::instance_norm(constant({{1.f, 2.f}}), {.scale = constant({1.f})}),
      ContainsSubstring("instance_norm: scale and offset need x's dtype and the shape [channels], not float32[1]"));
}

// Results of that size are stored past the caches (cpu/streaming.hpp).
TEST_CASE("layer_norm: many rows give what few of them give") {
  const i64 rows = 8200, n = 512;
  const Tensor x = loops::random({rows, n}, 1, float32), g = loops::random({rows, n}, 2, float32);
  const Tensor scale = loops::random({n}, 3, float32), offset = loops::random({n}, 4, float32);
  struct Results {
    Tensor y, dx, dscale, doffset;
  };
  const auto run = [&](const Tensor& x, const Tensor& g) {
    GradientTape tape;
    for (const Tensor* t : {&x, &scale, &offset}) tape.watch(*t);
    const Tensor y = nn::layer_norm(x, {.scale = scale, .offset = offset});
    const auto [dx, dscale, doffset] = tape.gradient(y, {x, scale, offset}, {.output_gradients = {g}});
    return Results{y, dx, dscale, doffset};
  };
  for (const int threads : {1, 2}) {
    const ::testing::Threads scope(threads);
    on_every_set([&] {
      const Results all = run(x, g);
      double dscale = 0, doffset = 0;  // of column 7
      for (i64 row = 0; row < rows; row += 41) {
        const Slice some(row, row + 41);
        const Results part = run(x(some), g(some));
        REQUIRE(all.y(some).to_vector<float>() == part.y.to_vector<float>());
        REQUIRE(all.dx(some).to_vector<float>() == part.dx.to_vector<float>());
        dscale += part.dscale.at<float>({7}), doffset += part.doffset.at<float>({7});
      }
      // Sums of thousands of terms near 1, in another order.
      CHECK(std::abs(all.dscale.at<float>({7}) - dscale) < 1e-3);
      CHECK(std::abs(all.doffset.at<float>({7}) - doffset) < 1e-3);
    });
  }
}

}  // namespace layer_norm_test
