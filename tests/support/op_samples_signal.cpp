// Samples of the component tandem::signal.
#include "tandem/ops/all.hpp"
#include "tandem/signal.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

Tensor complex_numbers(Numbers& n, const Shape& s) {
  return is_complex(n.real()) ? n.reals(s) : tandem::complex(n.reals(s), n.reals(s));
}
void fft_calls(Numbers& n) {
  signal::fft(complex_numbers(n, {2, 6}));
  signal::ifft2d(complex_numbers(n, {2, 3, 4}));
}
void irfft_calls(Numbers& n) {
  signal::irfft(complex_numbers(n, {2, 4}));
  signal::irfft(complex_numbers(n, {2, 4}), {.fft_length = 7});
  if (!is_complex(n.real())) back([](const Tensor& x) { return real(signal::rfft(x)); }, n.reals({2, 5}));
}
void rfft_calls(Numbers& n) {
  signal::rfft(n.reals({2, 6}));
  signal::rfft(n.reals({2, 5}));
}
void dct_calls(Numbers& n) {
  signal::dct(n.reals({2, 5}));
  signal::dct(n.reals({2, 6}), {.type = 3, .norm = "ortho"});
  signal::idct(n.reals({4}));
}
void frame_calls(Numbers& n) {
  signal::frame(n.reals({2, 9}), 4, 2);
  signal::frame(n.reals({7, 2}), 3, 2, {.pad_end = true, .axis = 0});
}
// Also the op of its gradient's gradient.
void overlap_calls(Numbers& n) {
  const Tensor x = n.reals({2, 3, 4});
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor y = square(signal::overlap_and_add(x, 2));
  (void)outer.gradient(inner.gradient(y, x), x);
}
void pad_calls(Numbers& n) {
  const Tensor x = n.reals({2, 5});
  for (const i64 length : {3, 7}) {
    GradientTape tape;
    tape.watch(x);
    (void)tape.gradient(square(signal::impl::pad_or_trim(x, 1, length)), x);
  }
}

}  // namespace

tandem::Span<const Sample> signal_samples() {
  static const Sample list[] = {
      {"fft", fft_calls},
      {"rfft", rfft_calls},
      {"irfft", irfft_calls},
      {"dct", dct_calls},
      {"frame", frame_calls},
      {"overlap_and_add", overlap_calls},
      {"frames_like", overlap_calls},
      {"pad_or_trim", pad_calls},
      {"pad_or_trim_like", pad_calls},
  };
  return list;
}

}  // namespace samples::detail
