// Norms, standardizations, distances and their gradients over the range of float32: squares of their arguments overflow
// or underflow, they do not.
#include <cmath>
#include <limits>

#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace features_range {

using namespace tandem;

namespace {

const double sizes[] = {1e-30, 1e-23, 1e-12, 1, 1e15, 1e23, 1e30, 1e37};
const Tensor x = testing::wave({3, 40});
Tensor times(double size) { return cast(cast(x, float64) * size, float32); }
// The largest difference of float32 numbers from float64 ones, relative to the largest.
double error(const Tensor& got, const Tensor& want) {
  const Tensor g = cast(got, float64);
  return reduce_max(abs(g - want)).item<double>() / reduce_max(abs(want)).item<double>();
}
template <class F>
void check_range(const char* name, const F& f) {
  for (const double size : sizes) {
    CAPTURE(name, size);
    const Tensor t = times(size);
    CHECK(error(f(t), f(cast(t, float64))) < 1e-5);
  }
}
// Gradients to x, with gradients of the results that differ.
template <class F>
auto gradient_of(const F& f) {
  return [&f](const Tensor& t) {
    GradientTape tape;
    tape.watch(t);
    const Tensor y = f(t);
    return tape.gradient(y, t, {.output_gradients = {testing::wave(y.shape(), 2, y.dtype())}});
  };
}

}  // namespace

TEST_CASE("Norms and standard deviations: any size of the elements") {
  check_range("reduce_euclidean_norm", [](const Tensor& t) { return reduce_euclidean_norm(t, -1); });
  check_range("reduce_std", [](const Tensor& t) { return reduce_std(t, -1); });
  check_range("reduce_std of columns", [](const Tensor& t) { return reduce_std(t, 0); });
  const auto direction = [](const Tensor& t) { return nn::l2_normalize(t, {.axis = -1, .epsilon = 0}); };
  check_range("l2_normalize", direction);
  check_range("global_norm", [](const Tensor& t) { return global_norm({Gradient(t), Gradient(2 * t)}); });
  for (const double size : {1., 1e23, 1e30}) {
    CAPTURE(size);
    for (const Constraint& c : {constraints::UnitNorm(1), constraints::MaxNorm(2, 1)})
      CHECK(error(c(times(size)), c(cast(times(size), float64))) < 1e-5);
  }
}
TEST_CASE("Standard deviations: zeros, constants, infinities and mixed rows") {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor t = constant({{0.f, 0.f}, {7.f, 7.f}, {1e30f, -1e30f}, {1e-30f, 3e-30f}, {inf, 1.f}, {3e38f, 3e38f}});
  const std::vector<float> y = reduce_std(t, -1).to_vector<float>();
  CHECK(y[0] == 0);
  CHECK(y[1] == 0);
  CHECK(y[2] == Approx(1e30f));
  CHECK(y[3] / 1e-30f == Approx(1));
  CHECK(std::isnan(y[4]));
  CHECK(y[5] == 0);
  CHECK(reduce_variance(constant({3e38f, 3e38f})).item<float>() == 0);
}
TEST_CASE("Layer and RMS normalization: any size of the rows, with their gradients") {
  const Tensor scale = testing::wave({40}, 4), offset = testing::wave({40}, 5);
  for (const bool rms : {false, true}) {
    CAPTURE(rms);
    const auto norm = [&](const Tensor& t) {
      const Tensor s = cast(scale, t.dtype()), o = cast(offset, t.dtype());
      return rms ? nn::rms_norm(t, {.epsilon = 0, .scale = s})
                 : nn::layer_norm(t, {.epsilon = 0, .scale = s, .offset = o});
    };
    check_range("norm", norm);
    for (const double size : {1e-20, 1e-12, 1., 1e15, 1e23, 1e30}) {  // the gradients are in range, too
      CAPTURE(size);
      const Tensor t = times(size);
      const auto gradient = gradient_of(norm);
      CHECK(error(gradient(t), gradient(cast(t, float64))) < 1e-4);
    }
  }
  // A large row does not change those beside it.
  const Tensor mixed = concat({x, fill({1, 40}, 1.f) * times(1e30)(Slice(0, 1)), x}, 0);
  const Tensor y = nn::layer_norm(mixed), alone = nn::layer_norm(x);
  CHECK(testing::same_bits(y(Slice(0, 3)), alone));
  CHECK(testing::same_bits(y(Slice(4, 7)), alone));
  CHECK(error(y(Slice(3, 4)), nn::layer_norm(cast(mixed(Slice(3, 4)), float64))) < 1e-5);
}
TEST_CASE("Gradients of angles and distances: any size of the arguments") {
  const Tensor other = testing::wave({3, 40}, 1);
  for (const double size : {1e-30, 1e-23, 1e-19, 1., 1e19, 1e23, 1e30}) {
    CAPTURE(size);
    const Tensor a = times(size), b = cast(cast(other, float64) * size, float32);
    const auto check = [&](const char* name, const auto& f) {
      CAPTURE(name);
      const auto gradients = [&](DType dtype) {
        const Tensor p = cast(a, dtype), q = cast(b, dtype);
        GradientTape tape;
        tape.watch(p), tape.watch(q);
        // Gradients of the size of the arguments keep those of angles in range.
        const Tensor y = f(p, q);
        const auto [dp, dq] =
            tape.gradient(y, {p, q}, {.output_gradients = {testing::wave({3, 40}, 2, dtype) * std::min(size, 1.)}});
        return stack({dp, dq});
      };
      CHECK(error(gradients(float32), gradients(float64)) < 1e-5);
    };
    check("atan2", [](const Tensor& p, const Tensor& q) { return atan2(p, q); });
    check("hypot", [](const Tensor& p, const Tensor& q) { return hypot(p, q); });
    check("abs", [](const Tensor& p, const Tensor& q) { return abs(tandem::complex(p, q)); });
    check("angle", [](const Tensor& p, const Tensor& q) { return angle(tandem::complex(p, q)); });
    check("norm", [](const Tensor& p, const Tensor& q) { return reduce_euclidean_norm(stack({p, q}), 0); });
  }
  for (const float big : {1e19f, 1e25f, 1e30f}) {
    const Tensor t = constant({big});
    const auto slope = [&](const auto& f) {
      GradientTape tape;
      tape.watch(t);
      return tape.gradient(f(t), t).template item<float>();
    };
    CHECK(slope([](const Tensor& v) { return asinh(v); }) * big == Approx(1));
    CHECK(slope([](const Tensor& v) { return acosh(v); }) * big == Approx(1));
  }
}

}  // namespace features_range
