// MelSpectrogram and STFTSpectrogram against transforms by hand, the weights of the mel scale, cepstral coefficients;
// gradients, traces, errors. Not here: the values of Keras (tests/golden).
#include "tandem/signal/layers.hpp"

#include <cmath>
#include <numbers>
#include <optional>

#include "tandem/signal.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/layer_checks.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::distance, testing::floats, testing::wave;

namespace sound_layers_test {
namespace {

using Mode = layers::SpectrogramMode;
using Mel = layers::MelSpectrogramOptions;
using Stft = layers::STFTSpectrogramOptions;

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
Mel small() { return {.fft_length = 16, .sequence_stride = 4, .sampling_rate = 2000, .num_mel_bins = 3}; }
Tensor sound(const Shape& shape) { return random::stateless_normal(shape, {1, 2}, {.dtype = float64}); }

}  // namespace

TEST_CASE("linear_to_mel_weight_matrix: triangles of equal width on the mel scale") {
  const Tensor w = signal::linear_to_mel_weight_matrix({.num_mel_bins = 5,
                                                        .num_spectrogram_bins = 33,
                                                        .sample_rate = 4000,
                                                        .lower_edge_hertz = 100,
                                                        .upper_edge_hertz = 1900,
                                                        .dtype = float64});
  REQUIRE(w.shape() == Shape{33, 5});
  const double low = mel_of(100), width = (mel_of(1900) - low) / 6;
  for (i64 i = 0; i < 33; ++i)
    for (i64 k = 0; k < 5; ++k) {
      const double m = mel_of(2000. * static_cast<double>(i) / 32), left = low + static_cast<double>(k) * width;
      const double up = (m - left) / width, down = (left + 2 * width - m) / width;
      const double want = i == 0 ? 0 : std::max(0., std::min(up, down));
      CHECK(w.at<double>({i, k}) == Approx(want).margin(2e-5));  // 2595 log10(x) is 1127.01 log(x)
    }
  CHECK(signal::linear_to_mel_weight_matrix().spec() == Spec{{129, 20}, float32, {}});
  const auto text = ContainsSubstring("linear_to_mel_weight_matrix");
  CHECK_THROWS_WITH(signal::linear_to_mel_weight_matrix({.num_mel_bins = 0}),
                    text && ContainsSubstring("num_mel_bins"));
  CHECK_THROWS_WITH(signal::linear_to_mel_weight_matrix({.num_spectrogram_bins = -1}),
                    text && ContainsSubstring("num_spectrogram_bins"));
  CHECK_THROWS_WITH(signal::linear_to_mel_weight_matrix({.lower_edge_hertz = 4000}),
                    text && ContainsSubstring("edges"));
  CHECK_THROWS_WITH(signal::linear_to_mel_weight_matrix({.upper_edge_hertz = 4001}), text && ContainsSubstring("8000"));
  CHECK_THROWS_WITH(signal::linear_to_mel_weight_matrix({.lower_edge_hertz = -1}), text);
  CHECK_THROWS_WITH(signal::linear_to_mel_weight_matrix({.dtype = int32}), text && ContainsSubstring("int32"));
}

TEST_CASE("mfccs_from_log_mel_spectrograms: a cosine transform, divided") {
  const Tensor x = sound({2, 3, 8}), y = signal::mfccs_from_log_mel_spectrograms(x);
  for (i64 k = 0; k < 8; ++k) {
    double sum = 0;
    for (i64 j = 0; j < 8; ++j)
      sum += x.at<double>({1, 2, j}) *
             std::cos(std::numbers::pi * static_cast<double>(k) * (static_cast<double>(j) + .5) / 8);
    CHECK(y.at<double>({1, 2, k}) == Approx(sum * 2 / std::sqrt(16.)).margin(1e-12));
  }
  const auto text = ContainsSubstring("mfccs_from_log_mel_spectrograms");
  CHECK_THROWS_WITH(signal::mfccs_from_log_mel_spectrograms(constant(1.f)), text);
  CHECK_THROWS_WITH(signal::mfccs_from_log_mel_spectrograms(zeros({2, 0})), text);
}

TEST_CASE("MelSpectrogram: the loudest band is that of the tone, at 0 decibels less at most top_db") {
  const i64 rate = 8000;
  const Tensor t = cast(range(rate / 2), float32) / static_cast<float>(rate);
  const Tensor tone = sin(t * static_cast<float>(2 * std::numbers::pi * 1000));
  const layers::MelSpectrogram l(
      {.fft_length = 512, .sequence_stride = 128, .sampling_rate = rate, .num_mel_bins = 40});
  const Tensor y = l(tone);
  CHECK(y.shape() == Shape{40, 1 + rate / 2 / 128});
  const double width = (mel_of(4000) - mel_of(20)) / 41;
  const i64 band = argmax(reduce_mean(y, {.axis = 1}), 0).item<i64>();
  CHECK(std::fabs(static_cast<double>(band + 1) - (mel_of(1000) - mel_of(20)) / width) < 1);
  CHECK(reduce_min(y).item<float>() == Approx(reduce_max(y).item<float>() - 80));
  CHECK(distance(l(stack({tone, tone}))(1), y) < 1e-3);  // in decibels
  CHECK(l(cast(tone * 1000.f, int16)).dtype() == float32);
  CHECK(l(cast(tone, float16)).dtype() == float16);
}

TEST_CASE("MelSpectrogram: windows by function, by numbers, periodic for odd lengths, none") {
  const Tensor x = sound({40});
  const auto of = [&](const layers::FrameWindow& window, i64 length) {
    Mel o = small();
    o.window = window, o.sequence_length = length;
    return layers::MelSpectrogram(o)(x);
  };
  std::vector<double> hann(7);
  for (std::size_t k = 0; k < 7; ++k) hann[k] = .5 - .5 * std::cos(2 * std::numbers::pi * static_cast<double>(k) / 7);
  CHECK(distance(cast(of(&signal::hann_window, 7), float32), cast(of(constant(hann), 7), float32)) < 1e-5);
  CHECK(distance(cast(of(&signal::hann_window, 1), float32), cast(of(ones({1}), 1), float32)) < 1e-5);
  // As in Keras, without a window the whole frame counts.
  for (const i64 length : {6, 16})
    CHECK(distance(cast(of(nullptr, length), float32), cast(of(ones({16}), 16), float32)) < 1e-5);
}

TEST_CASE("MelSpectrogram: gradients, also of silence; traces of any batch") {
  for (const double mag_exp : {1., 2., 1.5}) {
    Mel o = small();
    o.mag_exp = mag_exp, o.power_to_db = false;
    const layers::MelSpectrogram l(o);
    testing::check_layer_gradients(l, sound({2, 20}), {});
    GradientTape tape;
    const Tensor silence = zeros({20});
    tape.watch(silence);
    CHECK(reduce_all(is_finite(tape.gradient(reduce_sum(l(silence)), silence))).item<bool>());
  }
  const layers::MelSpectrogram l(small());
  testing::check_layer_gradients(l, sound({2, 20}), {});
  testing::check_traced(
      [&](const Tensor& x) {
        return layers::MelSpectrogram([] {
          Mel o = small();
          o.top_db = INFINITY;
          return o;
        }())(x);
      },
      wave({2, 20}));
  const auto open = function([&](const Tensor& x) { return l(x); }, {.input_signature = {{{none, 33}, float32}}});
  CHECK(distance(open(wave({2, 33})), l(wave({2, 33}))) < 1e-4);
}

TEST_CASE("sound layers: the defaults of Keras") {
  const Mel m;
  CHECK((m.fft_length == 2048 && m.sequence_stride == 512 && !m.sequence_length && m.sampling_rate == 16000));
  CHECK((m.num_mel_bins == 128 && m.min_freq == 20 && !m.max_freq && m.power_to_db && m.top_db == 80));
  CHECK((m.mag_exp == 2 && m.min_power == 1e-10 && m.ref_power == 1));
  const Stft s;
  CHECK((s.mode == Mode::log && s.frame_length == 256 && !s.frame_step && !s.fft_length && !s.periodic));
  CHECK((s.scaling == layers::SpectrogramScaling::density && !s.expand_dims));
}

TEST_CASE("MelSpectrogram: errors name the layer") {
  const auto name = ContainsSubstring("MelSpectrogram");
  const auto fails = [&](const Mel& o, const char* what) {
    CHECK_THROWS_WITH(layers::MelSpectrogram(o), name && ContainsSubstring(what));
  };
  fails({.fft_length = 0}, "fft_length");
  fails({.sequence_stride = 0}, "sequence_stride");
  fails({.fft_length = 8, .sequence_length = 9}, "sequence_length, 9, must not exceed fft_length, 8");
  fails({.fft_length = 8, .window = ones({7})}, "window");
  fails({.sampling_rate = 0}, "sampling_rate");
  fails({.num_mel_bins = 0}, "num_mel_bins");
  fails({.min_freq = 9000}, "edges");
  fails({.max_freq = 9000}, "edges");
  fails({.mag_exp = 0}, "mag_exp");
  fails({.min_power = 0}, "min_power");
  const layers::MelSpectrogram l(small());
  CHECK_THROWS_WITH(l(zeros({1, 2, 40})), name && ContainsSubstring("[batch, samples]"));
  CHECK_THROWS_WITH(l(fill({40}, true)), name);
  CHECK_THROWS_WITH(l(zeros({8})), name && ContainsSubstring("more than 8 samples"));
}

TEST_CASE("STFTSpectrogram: the modes are parts of signal::stft") {
  const Tensor x = sound({2, 30});
  const Tensor window = signal::hann_window(8, {.periodic = false, .dtype = float64});
  const Tensor frames = signal::frame(x, 8, 4) * window / sqrt(reduce_sum(square(window)));
  const Tensor z = signal::rfft(frames);  // [2, 6, 5]
  const auto of = [&](Mode mode) {
    return layers::STFTSpectrogram({.mode = mode, .frame_length = 8, .dtype = float64})(expand_dims(x, 2));
  };
  const auto near = [](const Tensor& a, const Tensor& b) {
    REQUIRE(a.shape() == b.shape());
    return reduce_max(abs(a - b)).item<double>() < 1e-12;
  };
  CHECK(near(of(Mode::real), real(z)));
  CHECK(near(of(Mode::imag), imag(z)));
  CHECK(near(of(Mode::stft), concat({real(z), imag(z)}, 2)));
  const Tensor power = square(abs(z)), least = constant(1e-7, {.dtype = float64});
  CHECK(near(of(Mode::psd), power * constant({1, 2, 2, 2, 1}, {.dtype = float64})));
  CHECK(near(of(Mode::magnitude), sqrt(maximum(power, least))));
  CHECK(near(of(Mode::log), log(sqrt(maximum(power, least)))));
  CHECK(near(sin(of(Mode::angle)) * abs(z), imag(z)));
}

TEST_CASE("STFTSpectrogram: power of one frequency and of two, none of which is doubled") {
  const Tensor x = sound({2, 10, 1});
  for (const i64 length : {1, 2}) {
    const layers::STFTSpectrogram psd(
        {.mode = Mode::psd, .frame_length = length, .frame_step = 1, .window = nullptr, .dtype = float64}),
        magnitude(
            {.mode = Mode::magnitude, .frame_length = length, .frame_step = 1, .window = nullptr, .dtype = float64});
    const Tensor y = psd(x);
    CHECK(y.shape() == Shape{2, 11 - length, length});
    CHECK(reduce_max(abs(maximum(y, 1e-7) - square(magnitude(x)))).item<double>() < 1e-12);
  }
}

TEST_CASE("STFTSpectrogram: channels, layouts, weights that are trained or frozen") {
  const Tensor x = wave({2, 30, 3});
  const layers::STFTSpectrogram flat({.frame_length = 8}), wide({.frame_length = 8, .expand_dims = true}),
      first({.frame_length = 8, .data_format = DataFormat::channels_first}),
      wide_first({.frame_length = 8, .expand_dims = true, .data_format = DataFormat::channels_first});
  const Tensor y = flat(x), of_wide = wide(x);
  CHECK(y.shape() == Shape{2, 6, 15});
  CHECK(of_wide.shape() == Shape{2, 6, 5, 3});
  CHECK(floats(reshape(transpose(of_wide, {.perm = {0, 1, 3, 2}}), {2, 6, 15})) == floats(y));
  const Tensor turned = transpose(x, {.perm = {0, 2, 1}});
  CHECK(floats(transpose(first(turned), {.perm = {0, 2, 1}})) == floats(y));
  CHECK(floats(transpose(wide_first(turned), {.perm = {0, 2, 3, 1}})) == floats(of_wide));
  CHECK(layers::STFTSpectrogram({.frame_length = 8, .fft_length = 32, .padding = Padding::same})(x).shape() ==
        Shape{2, 8, 51});
  REQUIRE(flat.named_variables().size() == 2);
  CHECK(flat.named_variables()[0].path == "real_kernel");
  CHECK(flat.variables()[1].shape() == Shape{8, 1, 5});
  CHECK(layers::STFTSpectrogram({.mode = Mode::imag}).named_variables()[0].path == "imag_kernel");
  CHECK(flat.trainable_variables().size() == 2);
  flat.set_trainable(false);
  CHECK(flat.trainable_variables().empty());
}

TEST_CASE("STFTSpectrogram: gradients to the sound and the weights; traces") {
  for (const Mode mode : {Mode::log, Mode::psd, Mode::stft}) {
    const layers::STFTSpectrogram l({.mode = mode, .frame_length = 6, .frame_step = 4, .dtype = float64});
    testing::check_layer_gradients(l, sound({2, 14, 2}) * 4., l.variables());
    testing::check_traced(l, sound({2, 14, 2}));
  }
  std::optional<layers::STFTSpectrogram> made;  // by the traced function
  const auto makes = function([&](const Tensor& x) {
    if (!made) made.emplace(Stft{.frame_length = 6});
    return (*made)(x);
  });
  const layers::STFTSpectrogram l({.frame_length = 6});
  CHECK(distance(makes(wave({2, 20, 3})), l(wave({2, 20, 3}))) < 1e-6);
  const auto open =
      function([&](const Tensor& x) { return l(x); }, {.input_signature = {{{none, none, none}, float32}}});
  CHECK(distance(open(wave({2, 20, 3})), l(wave({2, 20, 3}))) < 1e-6);
  CHECK(open(zeros({0, 20, 3})).shape() == l(zeros({0, 20, 3})).shape());
}

TEST_CASE("STFTSpectrogram: errors name the layer") {
  const auto name = ContainsSubstring("STFTSpectrogram");
  const auto fails = [&](const Stft& o, const char* what) {
    CHECK_THROWS_WITH(layers::STFTSpectrogram(o), name && ContainsSubstring(what));
  };
  fails({.frame_length = 0}, "frame_length");
  fails({.frame_step = 0}, "frame_step");
  fails({.frame_length = 8, .frame_step = 9}, "frame_step, 9, must not exceed frame_length, 8");
  fails({.frame_length = 8, .fft_length = 7}, "fft_length, 7, must not be less than frame_length, 8");
  fails({.window = ones({3})}, "window");
  fails({.dtype = int32}, "dtype");
  fails({.frame_length = 2}, "the window of frame_length = 2 has zeros alone");  // as it ends in zeros
  fails({.frame_length = 4, .window = zeros({4}), .scaling = layers::SpectrogramScaling::spectrum}, "zeros alone");
  CHECK_NOTHROW(layers::STFTSpectrogram({.frame_length = 2, .scaling = layers::SpectrogramScaling::none}));
  CHECK_NOTHROW(layers::STFTSpectrogram({.frame_length = 2, .periodic = true}));
  const layers::STFTSpectrogram l({.frame_length = 8});
  CHECK_THROWS_WITH(l(zeros({2, 30})), name && ContainsSubstring("[batch, time, channels]"));
  CHECK_THROWS_WITH(l(zeros({2, 30, 1}, int32)), name);
}

}  // namespace sound_layers_test
