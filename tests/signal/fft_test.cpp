// Fourier and cosine transforms against their definitions, their gradients, wrong operands, plans across threads.
#include "tandem/signal/fft.hpp"

#include <thread>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/signal/complex_values.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using namespace signal_test;

namespace {

// Powers, products of small primes, primes below and above the largest that has a pass of its own, neighbours of the
// widths of registers.
constexpr long lengths[] = {1,   2,   3,   4,   5,   6,   7,   8,   9,   11,  12,  13,  15,  16,   17,   18,  20,
                            23,  25,  29,  31,  32,  33,  36,  37,  48,  49,  60,  64,  67,  96,   100,  101, 121,
                            127, 128, 144, 210, 243, 256, 300, 343, 360, 512, 521, 625, 961, 1000, 1024, 1155};
double tolerance(DType d) { return d == complex64 ? 2e-6 : 1e-13; }
// f on each instruction set of this machine.
template <class F>
void each_isa(const F& f) {
  const auto before = cpu::isa_level.load();
  for (int level = 0; level <= cpu::best_isa(); ++level) {
    cpu::isa_level = static_cast<signed char>(level);
    CAPTURE(level);
    f();
  }
  cpu::isa_level = before;
}

}  // namespace

TEST_CASE("fft: the numbers of the definition") {
  const Tensor x = constant(std::vector<std::complex<float>>{1, 2, 3, 4});
  CHECK(numbers_of(signal::fft(x)) == std::vector<C>{10, {-2, 2}, -2, {-2, -2}});
  CHECK(numbers_of(signal::ifft(signal::fft(x))) == std::vector<C>{1, 2, 3, 4});
  CHECK(numbers_of(signal::fft(constant({1.f, 2.f, 3.f, 4.f}))) == std::vector<C>{10, {-2, 2}, -2, {-2, -2}});
  CHECK(signal::fft(constant({1.f}, float64)).dtype() == complex128);
  CHECK(signal::fft(cast(constant({1.f}), float16)).dtype() == complex64);
}

TEST_CASE("fft: every kind of length, both directions and precisions, one row and many") {
  each_isa([] {
    for (const long n : lengths)
      for (const DType d : {complex64, complex128})
        for (const long rows : {1L, 19L}) {
          CAPTURE(n, name(d), rows);
          const std::vector<C> x = noise(n * rows);
          const Tensor t = complex_tensor(x, {rows, n}, d);
          const std::vector<C> y = numbers_of(signal::fft(t)), z = numbers_of(signal::ifft(t));
          for (const long r : {0L, rows - 1}) {
            CHECK(error_of(part(y, r * n, n), transformed(part(x, r * n, n))) < tolerance(d));
            CHECK(error_of(part(z, r * n, n), transformed(part(x, r * n, n), true)) < tolerance(d));
          }
        }
  });
}

TEST_CASE("fft: float32 keeps six digits at 2^16 and at a prime beside it") {
  for (const long n : {65536L, 65537L}) {
    const std::vector<C> x = noise(n);
    const std::vector<C> exact = numbers_of(signal::fft(complex_tensor(x, {n}, complex128)));
    CHECK(error_of(numbers_of(signal::fft(complex_tensor(x, {n}, complex64))), exact) < 1e-6);
    for (const long k : {0L, 1L, 12345L, n - 1}) {
      C sum = 0;
      for (long j = 0; j < n; ++j) sum += x[static_cast<std::size_t>(j)] * root(j * k % n, n);
      CHECK(std::abs(sum - exact[static_cast<std::size_t>(k)]) < 1e-9);
    }
  }
}

TEST_CASE("fft2d and fft3d: a transform of each axis") {
  for (const auto& [d, h, w] :
       {std::array{2L, 3L, 4L}, std::array{1L, 37L, 20L}, std::array{1L, 100L, 3L}, std::array{3L, 8L, 33L}}) {
    const std::vector<C> x = noise(d * h * w);
    std::vector<C> y = x;
    const auto along = [&](long count, long n, long step, long jump) {  // columns of n numbers, `step` apart
      for (long i = 0; i < count; ++i) {
        const long from = i / step * jump + i % step;
        const std::vector<C> column = transformed(part(y, from, n, step));
        for (long k = 0; k < n; ++k) y[static_cast<std::size_t>(from + k * step)] = column[static_cast<std::size_t>(k)];
      }
    };
    along(d * h, w, 1, w);
    along(d * w, h, w, h * w);
    const Tensor t = complex_tensor(x, {d, h, w}, complex128);
    CHECK(error_of(numbers_of(signal::fft2d(t)), y) < 1e-13);
    CHECK(error_of(numbers_of(signal::ifft2d(signal::fft2d(t))), x) < 1e-13);
    along(h * w, d, h * w, d * h * w);
    CHECK(error_of(numbers_of(signal::fft3d(t)), y) < 1e-13);
    CHECK(error_of(numbers_of(signal::ifft3d(signal::fft3d(t))), x) < 1e-13);
  }
}

TEST_CASE("rfft and irfft: half of the transform of real numbers, and back") {
  each_isa([] {
    for (const long n : lengths)
      for (const DType d : {float32, float64})
        for (const long rows : {1L, 18L}) {
          CAPTURE(n, name(d), rows);
          std::vector<C> x = noise(n * rows);
          for (C& z : x) z = z.real();
          const Tensor t = real(complex_tensor(x, {rows, n}, d == float32 ? complex64 : complex128));
          const Tensor y = signal::rfft(t);
          CHECK(y.shape() == Shape{rows, n / 2 + 1});
          const double eps = d == float32 ? 2e-6 : 1e-13;
          const std::vector<C> have = numbers_of(y);
          for (const long r : {0L, rows - 1})
            CHECK(error_of(part(have, r * (n / 2 + 1), n / 2 + 1), part(transformed(part(x, r * n, n)), 0, n / 2 + 1)) <
                  eps);
          CHECK(error_of(numbers_of(signal::irfft(y, {.fft_length = n})), x) < eps);
        }
  });
  // The default length is even; imaginary parts that no real signal has are ignored.
  const Tensor y = constant(std::vector<std::complex<double>>{{10, 5}, {-2, 2}, {-2, 7}});
  CHECK(error_of(numbers_of(signal::irfft(y)), {1, 2, 3, 4}) < 1e-15);
}

TEST_CASE("rfft: the length of the transform cuts or pads") {
  const Tensor x = constant({1.f, 2.f, 3.f, 4.f, 5.f}, float64);
  CHECK(error_of(numbers_of(signal::rfft(x, {.fft_length = 4})), {10, {-2, 2}, -2}) < 1e-15);
  CHECK(error_of(numbers_of(signal::rfft(x, {.fft_length = 8})), part(transformed({1, 2, 3, 4, 5, 0, 0, 0}), 0, 5)) <
        1e-14);
  const Tensor y = signal::rfft(x, {.fft_length = 8});
  CHECK(error_of(numbers_of(signal::irfft(y, {.fft_length = 8})), {1, 2, 3, 4, 5, 0, 0, 0}) < 1e-14);
  CHECK(signal::irfft(y, {.fft_length = 13}).shape() == Shape{13});
  const Tensor image = constant({{1., 2., 3.}, {4., 5., 6.}}, float64);
  CHECK(signal::rfft2d(image).shape() == Shape{2, 2});
  CHECK(signal::rfft2d(image, {.fft_length = {4, 6}}).shape() == Shape{4, 4});
  CHECK(error_of(numbers_of(signal::irfft2d(signal::rfft2d(image), {.fft_length = {2, 3}})), {1, 2, 3, 4, 5, 6}) <
        1e-14);
  CHECK(error_of(numbers_of(signal::irfft2d(signal::rfft2d(image, {.fft_length = {2, 4}}))), {1, 2, 3, 0, 4, 5, 6, 0}) <
        1e-14);
}

TEST_CASE("dct: both types against their sums") {
  for (const long n : {1L, 2L, 3L, 4L, 5L, 8L, 17L, 32L, 37L, 100L, 255L})
    for (const DType d : {float32, float64}) {
      CAPTURE(n, name(d));
      std::vector<C> x = noise(n), two(x.size()), three(x.size());
      for (C& z : x) z = z.real();
      for (long k = 0; k < n; ++k)
        for (long j = 0; j < n; ++j) {
          const auto cosine = [&](long a, long b) {
            return std::cos(std::numbers::pi * static_cast<double>(a * (2 * b + 1) % (4 * n)) /
                            static_cast<double>(2 * n));
          };
          two[static_cast<std::size_t>(k)] += 2 * cosine(k, j) * x[static_cast<std::size_t>(j)];
          three[static_cast<std::size_t>(k)] += (j ? 2 : 1) * cosine(j, k) * x[static_cast<std::size_t>(j)];
        }
      const Tensor t = cast(real(complex_tensor(x, {n}, complex128)), d);
      const double eps = d == float32 ? 2e-6 : 1e-13, size = static_cast<double>(n);
      CHECK(error_of(numbers_of(signal::dct(t)), two) < eps);
      // 18 rows, more than a group: the multiples 1 to 18 of one, each as if it were alone.
      const Tensor rows = t * reshape(cast(range(1, 19), d), {18, 1});
      for (const int type : {2, 3}) {
        const std::vector<C> have = numbers_of(signal::dct(rows, {.type = type})), &one = type == 2 ? two : three;
        for (long r = 0; r < 18; ++r) {
          std::vector<C> want = one;
          for (C& z : want) z *= static_cast<double>(r + 1);
          CHECK(error_of(part(have, r * n, n), want) < eps);
        }
      }
      CHECK(error_of(numbers_of(signal::dct(t, {.type = 3})), three) < eps);
      CHECK(error_of(numbers_of(signal::idct(signal::dct(t)) / constant(2 * size, d)), x) < eps);
      const Tensor y = signal::dct(t, {.norm = "ortho"});
      CHECK(error_of(numbers_of(signal::dct(y, {.type = 3, .norm = "ortho"})), x) < eps);
      CHECK(std::abs(numbers_of(y)[0] - two[0] / (2 * std::sqrt(size))) < eps * size);
    }
  // scipy.fft.dct([1, 2, 3, 4])
  CHECK(error_of(numbers_of(signal::dct(constant({1., 2., 3., 4.}, float64))),
                 {20, -6.30864405979, 0, -0.448341529167}) < 1e-11);
  CHECK(signal::dct(constant({1., 2., 3., 4.}), {.n = 6}).shape() == Shape{6});
}

TEST_CASE("fftshift: the frequency 0 in the middle, and back") {
  const Tensor x = range(5), y = reshape(range(6), {2, 3});
  CHECK(signal::fftshift(x).to_vector<std::int32_t>() == std::vector<std::int32_t>{3, 4, 0, 1, 2});
  CHECK(signal::ifftshift(signal::fftshift(x)).to_vector<std::int32_t>() == x.to_vector<std::int32_t>());
  CHECK(signal::fftshift(y).to_vector<std::int32_t>() == std::vector<std::int32_t>{5, 3, 4, 2, 0, 1});
  CHECK(signal::fftshift(y, 1).to_vector<std::int32_t>() == std::vector<std::int32_t>{2, 0, 1, 5, 3, 4});
  CHECK(signal::ifftshift(y, {-1}).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 2, 0, 4, 5, 3});
}

TEST_CASE("fft: empty operands") {
  CHECK(signal::fft(zeros({3, 0}, {.dtype = complex64})).shape() == Shape{3, 0});
  CHECK(signal::fft(zeros({0, 3}, {.dtype = complex64})).shape() == Shape{0, 3});
  CHECK(signal::fft2d(zeros({0, 3}, {.dtype = complex64})).shape() == Shape{0, 3});
  CHECK(signal::rfft(zeros({0, 6})).shape() == Shape{0, 4});
  CHECK(signal::irfft(zeros({0, 4}, {.dtype = complex64})).shape() == Shape{0, 6});
  CHECK(signal::dct(zeros({3, 0})).shape() == Shape{3, 0});
  CHECK(numbers_of(signal::rfft(zeros({0}), {.fft_length = 2})) == std::vector<C>{0, 0});
}

TEST_CASE("fft: wrong operands say what is wrong") {
  using testing::error_of;
  const Tensor z = zeros({4}, {.dtype = complex64});
  CHECK_THAT(error_of([] { signal::fft(constant(1.f)); }),
             ContainsSubstring("fft: the operand must have at least 1 axes"));
  CHECK_THAT(error_of([&] { signal::fft2d(z); }),
             ContainsSubstring("fft2d: the operand must have at least 2 axes: complex64[4]"));
  CHECK_THAT(error_of([] { signal::fft(constant({1, 2})); }), ContainsSubstring("fft: no kernel for int32"));
  CHECK_THAT(error_of([&] { signal::rfft(z); }), ContainsSubstring("rfft: no kernel for complex64"));
  CHECK_THAT(error_of([] {
               signal::rfft(zeros({2, 0}));
             }),
             ContainsSubstring("rfft: the last axis is empty: float32[2,0] (.fft_length pads it with zeros)"));
  CHECK_THAT(error_of([] { signal::rfft(zeros({4}), {.fft_length = 0}); }),
             ContainsSubstring("rfft: fft_length must be at least 1, not 0"));
  CHECK_THAT(error_of([] { signal::irfft(zeros({1}, {.dtype = complex64})); }),
             ContainsSubstring("irfft: the length of the result would be 0: complex64[1] (set .fft_length)"));
  CHECK_THAT(error_of([] {
               signal::rfft2d(zeros({4, 4}), {.fft_length = {4}});
             }),
             ContainsSubstring("rfft2d: fft_length must have 2 entries: (4,)"));
  CHECK_THAT(error_of([] { signal::dct(zeros({4}), {.type = 7}); }),
             ContainsSubstring("dct: the type must be 2 or 3, not 7"));
  CHECK_THAT(error_of([] { signal::dct(zeros({4}), {.norm = "full"}); }),
             ContainsSubstring("dct: the norm must be \"ortho\" or empty, not \"full\""));
  CHECK_THAT(error_of([] { signal::fftshift(zeros({4}), 1); }), ContainsSubstring("fftshift"));
}

namespace {
// A number that depends on every real (or imaginary) part, with second derivatives.
Tensor energy(const Tensor& parts) {
  const Tensor w = 1 + cast(range(parts.size()), float64) / 7;
  return reduce_sum(square(square(reshape(parts, {-1}))) * w);
}
template <class F>
double worst_gradient(const F& f, const Tensor& x) {
  double worst = 0, scale = 1;
  for (const test::Jacobians& j : test::compute_gradient(f, {x}, {.delta = 1e-5})) {
    worst = std::fmax(worst, test::max_error(j.theoretical, j.numerical));
    for (const double v : j.numerical.template to_vector<double>()) scale = std::fmax(scale, std::fabs(v));
  }
  return worst / scale;
}
template <class F>
void check_first(const F& f, const Tensor& x) {
  CHECK(worst_gradient(f, x) < 1e-7);
}
template <class F>
void check_orders(const F& f, const Tensor& x) {
  check_first(f, x);
  const auto slope = [&](const Tensor& t) {
    GradientTape tape;
    tape.watch(t);
    return square(tape.gradient(f(t), t));
  };
  CHECK(worst_gradient(slope, x) < 1e-7);
}
}  // namespace

TEST_CASE("fft: gradients of both orders against differences") {
  for (const auto part : {static_cast<Tensor (*)(const Tensor&, OpOptions)>(&real), &imag}) {
    const auto of = [&](const Tensor& y) { return energy(part(y, {})); };
    for (const long n : {4L, 5L, 8L}) {
      CAPTURE(n);
      const Tensor x = real(complex_tensor(noise(n), {n}, complex128)), half = cast(range(n), float64) * 0.1 + 0.3;
      check_orders([&](const Tensor& t) { return of(signal::fft(t)); }, x);
      check_orders([&](const Tensor& t) { return of(signal::rfft(t)); }, x);
      check_orders([&](const Tensor& t) { return of(signal::rfft(t, {.fft_length = n + 3})); }, x);
      check_orders([&](const Tensor& t) { return of(signal::rfft(t, {.fft_length = n - 2})); }, x);
      check_first([&](const Tensor& t) { return of(signal::ifft(tandem::complex(t, half * t))); }, x);
    }
    const Tensor image = real(complex_tensor(noise(12), {3, 4}, complex128));
    check_orders([&](const Tensor& t) { return of(signal::rfft2d(t)); }, image);
    check_orders([&](const Tensor& t) { return of(signal::fftshift(signal::fft2d(t))); }, image);
  }
  for (const long n : {4L, 5L, 8L}) {
    CAPTURE(n);
    const Tensor x = real(complex_tensor(noise(n), {n}, complex128)), half = cast(range(n), float64) * 0.1 + 0.3;
    check_first([&](const Tensor& t) { return energy(signal::irfft(tandem::complex(t, half * t))); }, x);
    check_orders([&](const Tensor& t) { return energy(signal::irfft(cast(t, complex128))); }, x);
    check_orders([&](const Tensor& t) { return energy(signal::irfft(cast(t, complex128), {.fft_length = 5})); }, x);
    check_orders([](const Tensor& t) { return energy(signal::dct(t)); }, x);
    check_orders([](const Tensor& t) { return energy(signal::dct(t, {.type = 3})); }, x);
    check_orders([](const Tensor& t) { return energy(signal::idct(t, {.norm = "ortho"})); }, x);
  }
  const Tensor image = real(complex_tensor(noise(12), {3, 4}, complex128));
  check_orders([](const Tensor& t) { return energy(signal::irfft2d(cast(t, complex128))); }, image);
}

TEST_CASE("fft: traced functions with unknown sizes, and their gradients") {
  const auto loss = [](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = signal::rfft(x), z = signal::irfft(y * y, {.fft_length = 6});
    return tape.gradient(square(z), x);
  };
  auto traced = function(loss, {.input_signature = {TensorSpec({none, none})}});
  for (const long n : {5L, 6L, 9L}) {
    const Tensor x = cast(real(complex_tensor(noise(2 * n), {2, n}, complex64)), float32);
    CHECK(traced(x).to_vector<float>() == loss(x).to_vector<float>());
  }
}

TEST_CASE("fft: the number of threads does not change a bit, and threads share plans") {
  const int before = config::intra_op_parallelism_threads();
  const Tensor long_row = complex_tensor(noise(1 << 16), {1 << 16}, complex64);
  const Tensor rows = complex_tensor(noise(300 * 360), {300, 360}, complex64);
  config::set_intra_op_parallelism_threads(1);
  const auto one = numbers_of(signal::fft(long_row)), many = numbers_of(signal::fft2d(rows));
  config::set_intra_op_parallelism_threads(4);
  CHECK(numbers_of(signal::fft(long_row)) == one);
  CHECK(numbers_of(signal::fft2d(rows)) == many);
  config::set_intra_op_parallelism_threads(before);
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&right, t] {
      for (long n = 2; n < 150; ++n) {  // more lengths than plans are kept
        const Tensor y = signal::fft(ones({n}));
        right[t] += std::abs(numbers_of(y)[0] - static_cast<double>(n)) < 1e-4 && std::abs(numbers_of(y)[1]) < 1e-4;
      }
    });
  for (std::thread& t : threads) t.join();
  for (const int r : right) CHECK(r == 148);
}
