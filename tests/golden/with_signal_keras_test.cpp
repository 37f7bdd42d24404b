// Layers of tandem::signal against Keras 3. Not here: their options' errors, gradients and traces (tests/signal).
#include "tandem/ops/all.hpp"
#include "tandem/signal.hpp"
#include "tests/golden/golden.hpp"

namespace keras_signal_golden_test {

using namespace ::golden;

namespace {

int number_of(const GoldenCase& c) { return std::stoi(c.name.substr(c.name.find(':') + 1)); }

GoldenList mel(const GoldenCase& c, const GoldenList& x) {
  layers::MelSpectrogramOptions o{.fft_length = 16, .sequence_stride = 5, .sampling_rate = 2000, .num_mel_bins = 4};
  switch (number_of(c)) {
    case 1: o.window = &signal::hamming_window, o.sequence_length = 12; break;
    case 2: o.window = nullptr, o.power_to_db = false, o.mag_exp = 1; break;
    case 3: o.mag_exp = 1.5, o.ref_power = 4, o.top_db = 20, o.max_freq = 700; break;
    default: break;
  }
  return {layers::MelSpectrogram(o)(x[0])};
}
GoldenList stft(const GoldenCase& c, const GoldenList& x) {
  layers::STFTSpectrogramOptions o{.frame_length = 6, .dtype = x[0].dtype()};
  switch (const int i = number_of(c)) {
    case 7:
      o.window = &signal::hamming_window, o.periodic = true, o.scaling = layers::SpectrogramScaling::spectrum;
      o.padding = Padding::same, o.frame_step = 3;
      break;
    case 8: o.window = nullptr, o.expand_dims = true; break;
    case 9:
      o.scaling = layers::SpectrogramScaling::none, o.mode = layers::SpectrogramMode::real, o.expand_dims = true;
      break;
    default: o.mode = static_cast<layers::SpectrogramMode>(i); break;  // log, magnitude, psd, ...: Keras's order
  }
  const Tensor y = layers::STFTSpectrogram(o)(x[0]);
  if (o.mode != layers::SpectrogramMode::angle) return {y};
  // Real numbers below 0 have the angle pi or -pi, by the sign of a zero that is a sum.
  const Tensor want = cast(c.y[0], y.dtype());
  return {where(logical_and(abs(y) > 3.14159, abs(want) > 3.14159), want, y)};
}

}  // namespace

TEST_CASE("Keras 3: layers for sounds") {
  // Logarithms of sums that cancel.
  const GoldenBounds of_sums{.output = Of::largest, .float64 = 1e-12, .float32 = 1e-5};
  check("keras_signal", {{"layer.MelSpectrogram", {&mel, of_sums}}, {"layer.STFTSpectrogram", {&stft, of_sums}}});
}

}  // namespace keras_signal_golden_test
