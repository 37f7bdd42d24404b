// Fourier and cosine transforms and frames on the device against the CPU's: lengths, axes, halves of spectra,
// gradients, traced functions, and how long plans are kept.
#include "tandem/signal.hpp"

#include <cmath>
#include <complex>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tests/cuda/device.hpp"

namespace cuda_signal_test {

using namespace tandem;
using namespace gpu_test;
using Catch::Matchers::ContainsSubstring;

std::vector<i64> lengths() {
  std::vector<i64> r{1, 2, 3, 8, 15, 17, 64, 100};
  if (!emulator::barrier) r.insert(r.end(), {1000, 1009, 4096, 65536, 65537});
  return r;
}
DType complex_of(DType d) { return d == float64 ? complex128 : complex64; }
/// Complex numbers for a real or complex dtype.
Tensor noise(const Shape& s, DType d, i64 seed = 1) {
  const DType real = d == complex128 || d == float64 ? float64 : float32;
  return is_complex(d) ? tandem::complex(reals(s, real, seed), reals(s, real, seed + 10)) : reals(s, real, seed);
}
template <class F>
void compare(const F& f, const Tensor& x) {
  const Tensor y = f(x.gpu());
  CHECK(y.device() == gpu);
  check_near(y, f(x), 1);
}
// The gradient of f's value times numbers that differ.
template <class F>
Tensor gradient_of(const F& f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  return tape.gradient(y * noise(y.shape(), y.dtype(), 5).to(x.device()), x);
}
template <class F>
void compare_gradients(const F& f, const Tensor& x) {
  compare(f, x);
  compare([&](const Tensor& t) { return gradient_of(f, t); }, x);
  const auto squared = [&](const Tensor& t) { return square(f(t)); };
  const auto gradient = [&](const Tensor& t) { return gradient_of(squared, t); };
  compare([&](const Tensor& t) { return gradient_of(gradient, t); }, x);
}

TEST_CASE("CUDA signal: every kind of length, along rows and axes in the middle, both directions") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {complex64, complex128})
    for (const i64 n : lengths())
      for (const Shape& s : {Shape{n}, Shape{3, n}, Shape{2, n, 3}, Shape{6, n, 3}, Shape{5, n, 1}}) {
        if (s.size() > 100'000) continue;
        CAPTURE(name(d), to_string(s));
        const Tensor x = noise(s, d);
        compare([](const Tensor& t) { return signal::fft(t); }, x);
        compare([](const Tensor& t) { return signal::ifft(t); }, x);
        if (s.rank() < 2) continue;
        compare([](const Tensor& t) { return signal::fft2d(t); }, x);
        compare([](const Tensor& t) { return signal::ifft2d(t); }, x);
      }
  const Tensor x = noise({2, 6, 5, 4, 3}, complex64);
  compare([](const Tensor& t) { return signal::fft3d(t); }, x);
  compare([](const Tensor& t) { return signal::ifft3d(t); }, x);
  compare([](const Tensor& t) { return signal::fft(t); }, reals({3, 10}, float64));
  if (!emulator::barrier) {
    compare([](const Tensor& t) { return signal::fft(t); }, noise({5, 65536}, complex64));
    compare([](const Tensor& t) { return signal::ifft2d(t); }, noise({7, 300, 500}, complex64));
    compare([](const Tensor& t) { return signal::fft2d(t); }, noise({2, 2048, 1024}, complex64));
  }
}

TEST_CASE("CUDA signal: halves of spectra, cut and padded") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float64})
    for (const i64 n : lengths()) {
      CAPTURE(name(d), n);
      const Tensor x = reals({3, n}, d), z = noise({3, n}, complex_of(d));
      compare([](const Tensor& t) { return signal::rfft(t); }, x);
      compare([](const Tensor& t) { return signal::rfft(t[1]); }, x);  // of odd lengths, not aligned
      compare([](const Tensor& t) { return signal::irfft(t[1]); }, noise({3, n / 2 + 2}, complex_of(d)));
      for (const i64 length : {i64(1), i64(6), i64(7), n, 2 * n, 2 * n + 1}) {
        CAPTURE(length);
        compare([&](const Tensor& t) { return signal::rfft(t, {.fft_length = length}); }, x);
        compare([&](const Tensor& t) { return signal::irfft(t, {.fft_length = length}); }, z);
      }
    }
  compare([](const Tensor& t) { return signal::rfft2d(t); }, reals({2, 6, 9}));
  compare([](const Tensor& t) { return signal::rfft2d(t, {.fft_length = {8, 8}}); }, reals({7, 6, 9}));
  compare([](const Tensor& t) { return signal::irfft2d(t); }, noise({2, 6, 5}, complex128));
  compare([](const Tensor& t) { return signal::irfft2d(t, {.fft_length = {5, 7}}); }, noise({7, 6, 5}, complex64));
  if (!emulator::barrier) compare([](const Tensor& t) { return signal::rfft2d(t); }, reals({16, 512, 512}));
}

TEST_CASE("CUDA signal: irfft leaves its operand as it was, and ignores the imaginary parts of both ends") {
  TANDEM_NEEDS_GPU;
  const Tensor z = noise({2, 9}, complex64), there = z.gpu();
  check_near(signal::irfft(there), signal::irfft(z), 1);
  CHECK(table_calls::same_bits(there, z));
  const Tensor ends = constant(std::vector<std::complex<float>>{{1, NAN}, {2, 3}, {4, NAN}});
  compare([](const Tensor& t) { return signal::irfft(t); }, ends);
}

TEST_CASE("CUDA signal: results of real transforms that begin anywhere in memory") {
  TANDEM_NEEDS_GPU;
  const Tensor z = noise({5}, complex64), w = noise({4}, complex64, 2);
  const auto f = [](const Tensor& a, const Tensor& b) {
    return concat({real(a), signal::irfft(b, {.fft_length = 6}), signal::irfft(b, {.fft_length = 7})}, 0);
  };
  const Tensor want = f(z, w), a = z.gpu(), b = w.gpu();
  const auto traced = function([f](const Tensor& x, const Tensor& y) { return f(x, y); });
  for (int i = 0; i < 3; ++i) check_near(traced(a, b), want, 1);
}

TEST_CASE("CUDA signal: cosine transforms") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, float64})
    for (const i64 n : lengths())
      for (const char* norm : {"", "ortho"})
        for (const int type : {2, 3}) {
          CAPTURE(name(d), n, norm, type);
          const Tensor x = reals({3, n}, d);
          compare([&](const Tensor& t) { return signal::dct(t, {.type = type, .norm = norm}); }, x);
          compare([&](const Tensor& t) { return signal::idct(t, {.type = type, .norm = norm}); }, x);
          compare([&](const Tensor& t) { return signal::dct(t, {.type = type, .n = 12, .norm = norm}); }, x);
        }
}

TEST_CASE("CUDA signal: frames and their sums") {
  TANDEM_NEEDS_GPU;
  for (const DType d : {float32, complex128})
    for (const i64 n : {1, 17})
      for (const i64 length : {1, 4, 9})
        for (const i64 step : {1, 3, 12, 1000}) {
          CAPTURE(name(d), n, length, step);
          const Tensor x = noise({2, n, 3}, d);
          for (const bool pad_end : {false, true}) {
            compare([&](const Tensor& t) { return signal::frame(t, length, step, {.pad_end = pad_end, .axis = 1}); },
                    x);
            compare([&](const Tensor& t) { return signal::frame(t, length, step, {.pad_end = pad_end}); }, x);
          }
          compare([&](const Tensor& t) { return signal::overlap_and_add(t, step); }, noise({2, n, length}, d));
        }
  for (const DType d : {int8, int16, int32, int64, uint8}) {
    CAPTURE(name(d));
    compare([](const Tensor& t) { return signal::frame(t, 4, 3, {.pad_end = true, .pad_value = 7}); },
            cast(reals({2, 21}) * 100.f, d));
  }
  for (const DType d : {float64, complex64})
    compare([](const Tensor& t) { return signal::overlap_and_add(t, 3); }, noise({2, 5, 7}, d));
  const i64 n = many / 10;
  compare([](const Tensor& t) { return signal::frame(t, 400, 160); }, reals({n}));
  compare([](const Tensor& t) { return signal::overlap_and_add(t, 160); }, reals({n / 400, 400}));
}

TEST_CASE("CUDA signal: short-time transforms") {
  TANDEM_NEEDS_GPU;
  const Tensor x = reals({2, 300});
  const auto there = [](const Tensor& t) {
    const DeviceScope scope(t.device());
    return signal::stft(t, 24, 8);
  };
  compare(there, x);
  compare(
      [&](const Tensor& t) {
        const DeviceScope scope(t.device());
        return signal::inverse_stft(there(t), 24, 8);
      },
      x);
}

TEST_CASE("CUDA signal: first and second gradients") {
  TANDEM_NEEDS_GPU;
  for (const i64 n : {1, 2, 5, 8}) {
    CAPTURE(n);
    const Tensor x = reals({2, n}, float64), z = noise({2, n}, complex128);
    compare_gradients([](const Tensor& t) { return signal::fft(t); }, z);
    compare_gradients([](const Tensor& t) { return signal::ifft2d(t); }, z);
    compare_gradients([](const Tensor& t) { return signal::rfft(t); }, x);
    compare_gradients([](const Tensor& t) { return signal::rfft(t, {.fft_length = 6}); }, x);
    compare_gradients([](const Tensor& t) { return signal::irfft(t, {.fft_length = 6}); }, z);
    compare_gradients([](const Tensor& t) { return signal::irfft(t, {.fft_length = 7}); }, z);
    compare_gradients([](const Tensor& t) { return signal::dct(t); }, x);
    compare_gradients([](const Tensor& t) { return signal::dct(t, {.type = 3, .norm = "ortho"}); }, x);
    compare_gradients([](const Tensor& t) { return signal::frame(t, 3, 2, {.pad_end = true}); }, x);
    compare_gradients([](const Tensor& t) { return signal::overlap_and_add(t, 2); }, x);
  }
}

TEST_CASE("CUDA signal: empty axes and batches") {
  TANDEM_NEEDS_GPU;
  for (const Shape& s : {Shape{0}, Shape{3, 0}, Shape{0, 4}, Shape{0, 4, 3}, Shape{2, 0, 3}}) {
    CAPTURE(to_string(s));
    compare([](const Tensor& t) { return signal::fft(t); }, noise(s, complex64));
    if (s.rank() > 1) compare([](const Tensor& t) { return signal::ifft2d(t); }, noise(s, complex64));
    compare([](const Tensor& t) { return signal::rfft(t, {.fft_length = 4}); }, reals(s));
    compare([](const Tensor& t) { return signal::irfft(t, {.fft_length = 4}); }, noise(s, complex64));
    compare([](const Tensor& t) { return signal::dct(t); }, reals(s));
    compare([](const Tensor& t) { return signal::frame(t, 3, 2); }, reals(s));
    compare([](const Tensor& t) { return signal::frame(t, 3, 2, {.pad_end = true, .axis = 0}); }, reals(s));
    if (s.rank() > 1) compare([](const Tensor& t) { return signal::overlap_and_add(t, 2); }, reals(s));
  }
}

TEST_CASE("CUDA signal: errors are the CPU's, and nothing waits") {
  TANDEM_NEEDS_GPU;
  const Tensor x = reals({3, 8}).gpu(), z = noise({3, 5}, complex64).gpu();
  const auto run = [&] {
    (void)signal::irfft(signal::rfft(x)), (void)signal::fft2d(z), (void)signal::dct(x);
    (void)signal::overlap_and_add(signal::frame(x, 4, 2), 2);
  };
  run();  // plans of the tests before this one may make room
  const std::uint64_t waits = cuda::hidden_synchronizations();
  run();
  CHECK(cuda::hidden_synchronizations() == waits);
  CHECK_THROWS_WITH(signal::rfft(zeros({2, 0}).gpu()), ContainsSubstring("the last axis is empty"));
  CHECK_THROWS_WITH(signal::irfft(z, {.fft_length = 0}), ContainsSubstring("fft_length must be at least 1"));
  CHECK_THROWS_WITH(signal::dct(x, {.type = 4}), ContainsSubstring("the type must be 2 or 3"));
  CHECK_THROWS_AS(signal::fft(constant(1.f).gpu()), errors::InvalidArgumentError);
}

TEST_CASE("CUDA signal: traced, as a graph from the third call on") {
  TANDEM_NEEDS_GPU;
  const auto blurred = [](const Tensor& x, const Tensor& by) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = signal::irfft2d(signal::rfft2d(x) * signal::rfft2d(by));
    return y + tape.gradient(y * y, x) + signal::idct(signal::dct(x));
  };
  const Tensor x = reals({6, 8, 10}), w = reals({6, 8, 10}, float32, 2), want = blurred(x, w);
  const auto f = function([=](const Tensor& a, const Tensor& b) { return blurred(a, b); });
  const Tensor a = x.gpu(), b = w.gpu();
  const std::uint64_t before = cuda::graph_launches();
  for (int i = 0; i < 5; ++i) check_near(f(a, b), want, 1);
  CHECK(cuda::graph_launches() > before);
}

TEST_CASE("CUDA signal: plans make room for others, but not those of graphs") {
  TANDEM_NEEDS_GPU;
  const Tensor x = noise({3, 11}, complex64), there = x.gpu();
  const auto round_trip = [](const Tensor& t) { return signal::ifft(signal::fft(t)) * 2.f + t; };
  const auto f = function(round_trip);
  const Tensor want = round_trip(x);
  for (int i = 0; i < 3; ++i) check_near(f(there), want, 1);
  const Tensor row = reals({700}).gpu();
  for (i64 n = 2; n < 300; ++n) (void)signal::rfft(slice(row, {0}, {n}));
  if (cuda::fourier_plans) CHECK(cuda::fourier_plans(0) == 256);
  const std::uint64_t before = cuda::graph_launches();
  for (int i = 0; i < 3; ++i) check_near(f(there), want, 1);
  CHECK(cuda::graph_launches() > before);
  check_near(round_trip(there), want, 1);
}

TEST_CASE("CUDA signal: a plan for which memory is missing is tried again with that of the cache") {
  TANDEM_NEEDS_GPU;
  if (!emulator::fail_fourier_plans) TANDEM_SKIP("needs the emulated device");
  const Tensor x = noise({301}, complex64), there = x.gpu();
  { const Tensor cached = Tensor::allocate({{1 << 22}, uint8, gpu}); }
  emulator::fail_fourier_plans(1);
  check_near(signal::fft(there), signal::fft(x), 1);
  cuda::trim();
  emulator::fail_fourier_plans(1);
  CHECK_THROWS_WITH(signal::ifft(noise({303}, complex64).gpu()), ContainsSubstring("fft: cuFFT: a plan"));
  emulator::fail_fourier_plans(1);
  CHECK_THROWS_AS(signal::ifft(noise({305}, complex64).gpu()), errors::ResourceExhaustedError);
  emulator::fail_fourier_plans(0);
}

TEST_CASE("CUDA signal: without cuFFT an error names it") {
  TANDEM_NEEDS_GPU;
  if (!emulator::hide_fourier) TANDEM_SKIP("needs the emulated device");
  const Tensor x = reals({8}).gpu();
  emulator::hide_fourier(true);
  CHECK_THROWS_AS(signal::rfft(x), errors::UnavailableError);
  CHECK_THROWS_WITH(signal::rfft(x), ContainsSubstring("rfft: Fourier transforms on a GPU need cuFFT: libcufft.so.12"));
  emulator::hide_fourier(false);
}

// Needs no device.
TEST_CASE("CUDA signal: every op of the component has a kernel") {
  for (const OpDef* op : fft_ops) CHECK(op->cuda);
  for (const OpDef* op : frame_ops) CHECK(op->cuda);
}

}  // namespace cuda_signal_test
