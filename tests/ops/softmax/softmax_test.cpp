// softmax and log_softmax against loops on every axis; large and infinite logits, empty axes; gradients twice.
#include "tandem/ops/softmax/softmax.hpp"

#include <limits>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/ops/reduce/loops.hpp"
#include "tests/support/catch.hpp"

namespace softmax_test {
using namespace tandem;
using loops::numbers;
constexpr float inf = std::numeric_limits<float>::infinity();

void check_axes(const Tensor& x, double tolerance) {
  const auto values = numbers(x);
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto y = numbers(nn::softmax(x, axis)), l = numbers(nn::log_softmax(x, axis - x.rank()));
    for (const auto& g : loops::groups(x.shape(), values, 1u << axis)) {
      double top = -1e300, sum = 0;
      for (double v : g.values) top = v > top ? v : top;
      for (double v : g.values) sum += std::exp(v - top);
      for (std::size_t i = 0; i < g.values.size(); ++i) {
        const auto p = static_cast<std::size_t>(g.places[i]);
        const double log_p = g.values[i] - top - std::log(sum);
        INFO(to_string(x.spec()) << " axis " << axis << " at " << p);
        REQUIRE(std::abs(y[p] - std::exp(log_p)) <= tolerance * std::exp(log_p) + 2e-45);  // a subnormal's last bit
        REQUIRE(std::abs(l[p] - log_p) <= tolerance * (1 + std::abs(log_p)));
      }
    }
  }
}

TEST_CASE("softmax of rows without elements takes no time for them") {
  const Tensor x = zeros({i64{1} << 58, 0});
  for (const Tensor& y : {nn::softmax(x), nn::log_softmax(x), nn::softmax(cast(x, DType::bfloat16))})
    CHECK(y.shape() == x.shape());
}

TEST_CASE("softmax agrees with loops on every axis and instruction set") {
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    for (int rank = 1; rank <= 4; ++rank)
      for (const Shape& s : loops::shapes(rank)) {
        check_axes(loops::random(s, 3), 3e-6);
        check_axes(loops::random(s, 4, DType::float64), 1e-14);
      }
    check_axes(loops::random({9, 1000}, 5) * 30, 1e-5);
    check_axes(loops::random({40, 7, 65}, 6), 3e-6);
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("softmax examples") {
  CHECK(nn::softmax(constant({1000.f, 0.f})).to_vector<float>() == std::vector<float>{1, 0});
  CHECK(nn::log_softmax(constant({1000.f, 0.f})).to_vector<float>() == std::vector<float>{0, -1000});
  const auto y = nn::softmax(constant({1.f, 2.f, 3.f})).to_vector<float>();
  CHECK(y[0] == Approx(.0900306).epsilon(1e-5));
  CHECK(y[1] == Approx(.2447285).epsilon(1e-5));
  CHECK(y[2] == Approx(.6652410).epsilon(1e-5));
  const auto l = nn::log_softmax(constant({1.f, 2.f, 3.f})).to_vector<float>();
  CHECK(l[0] == Approx(-2.4076060));
  CHECK(l[2] == Approx(-.4076060));
}

TEST_CASE("softmax at infinities, NaN and over nothing") {
  CHECK(nn::softmax(constant({-inf, 0.f})).to_vector<float>() == std::vector<float>{0, 1});
  CHECK(nn::log_softmax(constant({-inf, 0.f})).to_vector<float>() == std::vector<float>{-inf, 0});
  for (const Tensor& x : {constant({-inf, -inf}), constant({inf, 0.f}), constant({std::nanf(""), 0.f})})
    for (float v : nn::softmax(x).to_vector<float>()) CHECK(std::isnan(v));
  CHECK(nn::softmax(constant(std::vector<float>{}, {.shape = {3, 0}})).shape() == Shape{3, 0});
  CHECK(nn::softmax(constant(std::vector<float>{}, {.shape = {0, 3}})).shape() == Shape{0, 3});
  CHECK_THROWS_WITH(nn::softmax(constant(1.f)), ContainsSubstring("softmax: axis -1 is out of range for rank 0"));
  CHECK_THROWS_AS(nn::softmax(constant({1, 2})), errors::UnimplementedError);
}

TEST_CASE("masked logits get no share, on every instruction set") {
  std::vector<float> logits(100, -1e9f);
  logits[3] = 2, logits[70] = 2, logits[99] = -inf;
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    const auto y = nn::softmax(constant(logits)).to_vector<float>();
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == (i == 3 || i == 70 ? 0.5f : 0.f));
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("softmax gradients agree with differences, to second order") {
  for (const Shape& s : {Shape{4}, Shape{2, 3}, Shape{2, 3, 2}})
    for (int axis = 0; axis < s.rank(); ++axis)
      for (bool logs : {false, true}) {
        const Tensor x = loops::random(s, 41, DType::float64), w = loops::random(s, 42, DType::float64);
        const auto value = [&](const Tensor& t) {
          const Tensor y = logs ? nn::log_softmax(t, axis) : nn::softmax(t, axis);
          return y * y * w;
        };
        INFO(to_string(s) << " axis " << axis << " logs " << logs);
        CHECK(test::compute_gradient_error(value, x, {.delta = 1e-5}) < 1e-8);
        const auto slope = [&](const Tensor& t) {
          GradientTape tape;
          tape.watch(t);
          return tape.gradient(value(t), t);
        };
        CHECK(test::compute_gradient_error(slope, x, {.delta = 1e-5}) < 1e-7);
      }
}

TEST_CASE("fused softmax rows agree with their references") {
  for (const Shape& s : {Shape{5, 37}, Shape{3, 4, 6}})
    for (i64 axis : {0, 1}) {
      const Tensor x = loops::random(s, 1), g = loops::random(s, 2);
      const Tensor y = nn::softmax(x, axis), l = nn::log_softmax(x, axis);
      const Attrs a = rules::SoftmaxAttrs{axis};
      const auto same = [&](const OpDef& op, const std::vector<Tensor>& in) {
        std::vector<const Tensor*> at;
        for (const Tensor& t : in) at.push_back(&t);
        const auto fused = numbers(apply(op, at, a)[0]), small = numbers(op.rare.decomposition(in, a)[0]);
        for (std::size_t i = 0; i < fused.size(); ++i) REQUIRE(std::abs(fused[i] - small[i]) < 2e-5);
      };
      same(softmax_op, {x});
      same(log_softmax_op, {x});
      same(softmax_grad_op, {g, y});
      same(log_softmax_grad_op, {g, l});
    }
}

TEST_CASE("softmax does not depend on the number of threads") {
  for (const Shape& s : {Shape{300, 700}, Shape{20, 300, 30}})
    for (int axis : {0, 1}) {
      const Tensor x = loops::random(s, 9);
      config::set_intra_op_parallelism_threads(1);
      const auto one = nn::softmax(x, axis).to_vector<float>();
      for (int threads : {2, 5}) {
        config::set_intra_op_parallelism_threads(threads);
        CHECK(nn::softmax(x, axis).to_vector<float>() == one);
      }
      config::set_intra_op_parallelism_threads(0);
    }
}

}  // namespace softmax_test
