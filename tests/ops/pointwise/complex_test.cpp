// Parts of complex numbers and their modulus against std::complex: values, special values, gradients, errors.
#include "tandem/ops/pointwise/complex.hpp"

#include <complex>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/ops/pointwise/values.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using namespace pointwise_test;

namespace {
using C = std::complex<float>;
using Z = std::complex<double>;
}  // namespace

TEST_CASE("complex, real, imag, conj, angle and abs are std::complex's") {
  const std::vector<C> z{{3, 4}, {-1, 0}, {0, 0}, {0, -2}, {1e30f, 1e30f}, {1e-30f, -1e-30f}, {-3, -4}};
  const Tensor x = constant(z);
  Floats re, im, size, phase;
  std::vector<C> conjugate;
  for (const C c : z) {
    re.push_back(c.real()), im.push_back(c.imag()), size.push_back(std::abs(c)), phase.push_back(std::arg(c));
    conjugate.push_back(std::conj(c));
  }
  CHECK(tandem::real(x).to_vector<float>() == re);
  CHECK(tandem::imag(x).to_vector<float>() == im);
  CHECK(tandem::conj(x).to_vector<C>() == conjugate);
  CHECK(tandem::complex(f32(re), f32(im)).to_vector<C>() == z);
  CHECK(close(abs(x), size, 2));
  CHECK(close(angle(x), phase, 4));
  CHECK(abs(constant(std::vector<C>{{3, 4}})).item<float>() == 5);
  CHECK(angle(constant(std::vector<C>{{0, 0}})).item<float>() == 0);
}

TEST_CASE("complex128 has the same parts") {
  const std::vector<Z> z{{3, 4}, {1e300, -1e300}};
  const Tensor x = constant(z);
  CHECK(x.dtype() == complex128);
  CHECK(close(abs(x), Doubles{5, std::abs(z[1])}, 2));
  CHECK(tandem::complex(tandem::real(x), tandem::imag(x)).to_vector<Z>() == z);
  CHECK(tandem::imag(x).dtype() == float64);
}

TEST_CASE("the modulus of what is not finite") {
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(same(abs(constant(std::vector<C>{{inf, qnan}, {qnan, -inf}, {qnan, 1}, {-inf, inf}, {inf, 0}})),
             {inf, inf, qnan, inf, inf}));
}

TEST_CASE("hypot neither overflows nor vanishes, in every instruction set's lanes") {
  Floats a, b, want;
  for (int i = -60; i <= 60; ++i)
    for (const float ratio : {0.f, 1e-6f, .3f, 1.f}) {
      a.push_back(std::ldexp(1.1f, 2 * i)), b.push_back(-a.back() * ratio);
      want.push_back(static_cast<float>(std::hypot(double(a.back()), double(b.back()))));
    }
  CHECK(close(hypot(f32(a), f32(b)), want, 2));
  CHECK(close(
      hypot(cast(f32(a), float64), cast(f32(b), float64)),
      [&] {
        Doubles r;
        for (std::size_t i = 0; i < a.size(); ++i) r.push_back(std::hypot(double(a[i]), double(b[i])));
        return r;
      }(),
      2));
  CHECK(close(hypot(f32({3, 5}), 4), Floats{5, std::sqrt(41.f)}, 2));
}

TEST_CASE("parts of complex numbers broadcast, take empty tensors and real ones") {
  const Tensor z = tandem::complex(f32({1, 2, 3}), 0.5);
  CHECK(z.to_vector<C>() == std::vector<C>{{1, .5f}, {2, .5f}, {3, .5f}});
  CHECK(tandem::complex(zeros({2, 1}), ones({3})).shape() == Shape{2, 3});
  CHECK(tandem::real(zeros({0, 3}, complex64)).shape() == Shape{0, 3});
  const Tensor x = f32({-1, 2});
  CHECK(tandem::real(x).to_vector<float>() == Floats{-1, 2});
  CHECK(tandem::imag(x).to_vector<float>() == Floats{0, 0});
  CHECK(tandem::conj(x).to_vector<float>() == Floats{-1, 2});
  CHECK(close(angle(x), Floats{3.14159265f, 0}));
}

TEST_CASE("gradients of abs, real, imag and angle; 0 at 0") {
  const Tensor z = constant(std::vector<C>{{3, 4}, {0, 0}});
  const auto slope = [&](auto f) {
    GradientTape tape;
    tape.watch(z);
    return tape.gradient(reduce_sum(f(z)), z).template to_vector<C>();
  };
  CHECK(slope([](const Tensor& x) { return abs(x); }) == std::vector<C>{{.6f, .8f}, {0, 0}});
  CHECK(slope([](const Tensor& x) { return tandem::real(x); }) == std::vector<C>{{1, 0}, {1, 0}});
  CHECK(slope([](const Tensor& x) { return tandem::imag(x); }) == std::vector<C>{{0, 1}, {0, 1}});
  const std::vector<C> turn = slope([](const Tensor& x) { return angle(x); });
  CHECK(turn[0].real() == Approx(-4. / 25));
  CHECK(turn[0].imag() == Approx(3. / 25));
  CHECK(turn[1] == C(0, 0));
  CHECK(function([](const Tensor& x) { return abs(x) * 2; })(z).to_vector<float>() == Floats{10, 0});
}

TEST_CASE("complex: errors name the op and the dtypes") {
  CHECK_THROWS_WITH(tandem::complex(f32({1}), f64({1})),
                    ContainsSubstring("complex: dtypes differ") && ContainsSubstring("float32[1] x float64[1]"));
  CHECK_THROWS_AS(tandem::complex(i32({1}), i32({1})), errors::UnimplementedError);
  CHECK_THROWS_WITH(tandem::complex(f32({1, 2}), f32({1, 2, 3})), ContainsSubstring("broadcast"));
}

TEST_CASE("complex numbers: division and multiplication without NaN, and the Euclidean norm") {
  const Tensor a = tandem::complex(constant({1.f, 3.f}), constant({2.f, -1.f}));
  const Tensor b = tandem::complex(constant({0.f, 1.f}), constant({0.f, 1.f}));
  using List = std::vector<std::complex<float>>;
  CHECK(div_no_nan(a, b).to_vector<std::complex<float>>() == List{0, {1, -2}});
  CHECK(xdivy(b, a - a).to_vector<std::complex<float>>()[0] == std::complex<float>(0));
  const Tensor infinite = tandem::complex(constant({INFINITY, 3.f}), constant({2.f, -1.f}));
  CHECK(multiply_no_nan(infinite, b).to_vector<std::complex<float>>() == List{0, {4, 2}});
  const Tensor z = tandem::complex(constant({3.f, 0.f}), constant({0.f, 4.f}));
  CHECK(reduce_euclidean_norm(z).item<float>() == 5);
  GradientTape tape;
  tape.watch(z);
  const List g = Tensor(tape.gradient(reduce_euclidean_norm(z), z)).to_vector<std::complex<float>>();
  CHECK(std::abs(g[0] - std::complex<float>(.6f, 0)) < 1e-6f);
  CHECK(std::abs(g[1] - std::complex<float>(0, .8f)) < 1e-6f);
}
