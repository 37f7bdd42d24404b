// Definitions of signal/layers.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/conv/conv.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/complex.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/signal/fft.hpp"
#include "tandem/signal/layers.hpp"
#include "tandem/signal/mel.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::layers {

namespace detail {
[[noreturn, gnu::cold]] inline void raise_spectrogram(const char* layer, const std::string& what) {
  errors::raise<errors::InvalidArgumentError>(layer, what);
}
inline double positive_number(const char* layer, const char* what, double x) {
  if (!(x > 0))
    raise_spectrogram(layer, std::string(what) + " must be positive, not " + tandem::detail::shortest_text(x));
  return x;
}
// A window in the middle of n samples, as a constant.
inline Tensor centred(const Tensor& window, i64 n, DType dtype) {
  const tandem::detail::OutsideTrace outside;
  const i64 rest = n - window.size(), before = rest / 2;
  return cast(pad(window, {{before, rest - before}}), dtype);
}
}  // namespace detail

TANDEM_INLINE Tensor FrameWindow::values(const char* layer, i64 n, bool periodic) const {
  const tandem::detail::OutsideTrace outside;
  if (numbers_.is_set()) {
    if (numbers_.shape() != Shape{n})
      detail::raise_spectrogram(layer, "the window must have the shape [" + std::to_string(n) + "] of a frame, not " +
                                           to_string(numbers_.spec()));
    return cast(numbers_, DType::float64);
  }
  if (!make_) return {};
  if (n == 1) return make_(1, {.dtype = DType::float64});
  // A period is what ends as it begins, without its end, also for an odd length.
  const Tensor whole = make_(periodic ? n + 1 : n, {.periodic = false, .dtype = DType::float64});
  return periodic ? whole(Slice(0, n)) : whole;
}

TANDEM_INLINE MelSpectrogram::MelSpectrogram(const MelSpectrogramOptions& options)
    : Layer("mel_spectrogram"), options_(options) {
  constexpr const char* layer = "MelSpectrogram";
  MelSpectrogramOptions& o = options_;
  for (const auto& [name, n] : {std::pair("fft_length", o.fft_length), std::pair("sequence_stride", o.sequence_stride),
                                std::pair("sampling_rate", o.sampling_rate), std::pair("num_mel_bins", o.num_mel_bins)})
    detail::positive(layer, name, n);
  const i64 length = detail::positive(layer, "sequence_length", o.sequence_length.value_or(o.fft_length));
  if (length > o.fft_length)
    detail::raise_spectrogram(layer, "sequence_length, " + std::to_string(length) + ", must not exceed fft_length, " +
                                         std::to_string(o.fft_length));
  if (!o.max_freq) o.max_freq = static_cast<double>(o.sampling_rate / 2);
  detail::positive_number(layer, "mag_exp", o.mag_exp);
  detail::positive_number(layer, "min_power", o.min_power);
  (void)o.window.values(layer, length, true);
  const tandem::detail::CallSite call(no_options, layer);
  (void)signal::linear_to_mel_weight_matrix({.num_mel_bins = 1,
                                             .num_spectrogram_bins = 1,
                                             .sample_rate = static_cast<double>(o.sampling_rate),
                                             .lower_edge_hertz = o.min_freq,
                                             .upper_edge_hertz = *o.max_freq});
}
// The magnitudes of frames to the power mag_exp, [..., frames, fft_length / 2 + 1].
TANDEM_INLINE Tensor MelSpectrogram::spectrum(const Tensor& x) const {
  const i64 n = options_.fft_length, length = options_.sequence_length.value_or(n), half = n / 2;
  const i64 samples = x.shape().dim(-1);
  if (samples != none && samples <= half)
    detail::raise_spectrogram("MelSpectrogram", "needs more than " + std::to_string(half) +
                                                    " samples, fft_length / 2, to mirror: " + to_string(x.spec()));
  const Paddings sides = x.rank() == 2 ? Paddings{{0, 0}, {half, half}} : Paddings{{half, half}};
  Tensor frames = signal::frame(pad(x, sides, {.mode = PadMode::reflect}), n, options_.sequence_stride);
  if (const Tensor window = options_.window.values("MelSpectrogram", length, true); window.is_set())
    frames = frames * detail::centred(window, n, frames.dtype());
  const Tensor y = signal::rfft(frames);
  if (options_.mag_exp == 2) return square(real(y)) + square(imag(y));
  const Tensor magnitudes = abs(y);
  return options_.mag_exp == 1 ? magnitudes : pow(magnitudes, options_.mag_exp);
}
TANDEM_INLINE Tensor MelSpectrogram::decibels(const Tensor& power) const {
  const auto& o = options_;
  const Tensor db = log(maximum(power, o.min_power)) * (10 / std::numbers::ln10) -
                    10 * std::log10(std::max(std::fabs(o.ref_power), o.min_power));
  return maximum(db, reduce_max(db) - o.top_db);
}
TANDEM_INLINE Tensor MelSpectrogram::operator()(const Tensor& x) const {
  const InCall here(*this);
  const tandem::detail::CallSite call(no_options, "MelSpectrogram");
  if ((x.rank() != 1 && x.rank() != 2) || (!is_floating(x.dtype()) && !is_integer(x.dtype())))
    detail::raise_spectrogram("MelSpectrogram",
                              "needs real numbers [samples] or [batch, samples], not " + to_string(x.spec()));
  const DType dtype = x.dtype() == DType::float64 ? DType::float64 : DType::float32;
  const Tensor weights =
      signal::linear_to_mel_weight_matrix({.num_mel_bins = options_.num_mel_bins,
                                           .num_spectrogram_bins = options_.fft_length / 2 + 1,
                                           .sample_rate = static_cast<double>(options_.sampling_rate),
                                           .lower_edge_hertz = options_.min_freq,
                                           .upper_edge_hertz = *options_.max_freq,
                                           .dtype = dtype});
  const Tensor power = matmul(spectrum(cast(x, dtype)), weights);
  const Tensor y = options_.power_to_db ? decibels(power) : power;
  const Tensor by_band = transpose(y, {.perm = x.rank() == 1 ? Axes{1, 0} : Axes{0, 2, 1}});
  return is_floating(x.dtype()) ? cast(by_band, x.dtype()) : by_band;
}

namespace detail {
inline Dim product(const DimValue& a, const DimValue& b) {
  if (a.is_known() && b.is_known()) return a.number * b.number;
  return a.value() * b.value();
}
// The filters of a transform: cos or sin of -2 pi t f / n, times the window.
inline Tensor stft_filters(const STFTSpectrogramOptions& o, bool is_real) {
  const tandem::detail::OutsideTrace outside;
  const i64 bins = *o.fft_length / 2 + 1, length = o.frame_length, n = std::max<i64>(2 * (bins - 1), 1);
  const Tensor window = o.window.values("STFTSpectrogram", length, o.periodic);
  std::vector<double> w(static_cast<std::size_t>(length), 1.);
  if (window.is_set()) w = window.to_vector<double>();
  double sum = 0;
  for (const double v : w) sum += o.scaling == SpectrogramScaling::density ? v * v : std::fabs(v);
  const double divisor = !window.is_set() || o.scaling == SpectrogramScaling::none ? 1
                         : o.scaling == SpectrogramScaling::density                ? std::sqrt(sum)
                                                                                   : sum;
  if (divisor == 0)
    raise_spectrogram("STFTSpectrogram", "the window of frame_length = " + std::to_string(length) +
                                             " has zeros alone, by which it cannot be scaled: use a longer frame, "
                                             "another window or SpectrogramScaling::none");
  const Tensor filters = Tensor::allocate({Shape{length, 1, bins}, DType::float64, {}});
  double* at = static_cast<double*>(filters.raw());
  for (i64 t = 0; t < length; ++t)
    for (i64 f = 0; f < bins; ++f, ++at) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(t * f % n) / static_cast<double>(n);
      *at = (is_real ? std::cos(angle) : std::sin(angle)) * w[static_cast<std::size_t>(t)] / divisor;
    }
  return cast(filters, o.dtype);
}
}  // namespace detail

TANDEM_INLINE STFTSpectrogram::STFTSpectrogram(const STFTSpectrogramOptions& options)
    : Layer("stft_spectrogram"), options_(options) {
  constexpr const char* layer = "STFTSpectrogram";
  STFTSpectrogramOptions& o = options_;
  detail::positive(layer, "frame_length", o.frame_length);
  o.frame_step = detail::positive(layer, "frame_step", o.frame_step.value_or(std::max<i64>(o.frame_length / 2, 1)));
  if (*o.frame_step > o.frame_length)
    detail::raise_spectrogram(layer, "frame_step, " + std::to_string(*o.frame_step) +
                                         ", must not exceed frame_length, " + std::to_string(o.frame_length));
  if (!o.fft_length)
    for (o.fft_length = 1; *o.fft_length < o.frame_length;) o.fft_length = *o.fft_length * 2;
  if (*o.fft_length < o.frame_length)
    detail::raise_spectrogram(layer, "fft_length, " + std::to_string(*o.fft_length) +
                                         ", must not be less than frame_length, " + std::to_string(o.frame_length));
  if (!is_floating(o.dtype)) detail::raise_spectrogram(layer, "the dtype must be floating");
  Weights weights;
  std::vector<Tensor> values;
  const auto add = [&](const char* name, bool is_real) {
    values.push_back(detail::stft_filters(o, is_real));
    weights.push_back({name, values.back().shape(), initializers::Zeros(), o.dtype});
  };
  if (o.mode != SpectrogramMode::imag) add("real_kernel", true);
  if (o.mode != SpectrogramMode::real) add("imag_kernel", false);
  build_once([&] { add_weights(weights, values); });
}
// The product of each frame of each channel with the filters of a weight: [batch, channels, frames, bins].
TANDEM_INLINE Tensor STFTSpectrogram::transformed(const Tensor& x, std::size_t weight) const {
  const bool is_last = options_.data_format == DataFormat::channels_last;
  const Tensor by_channel = is_last ? transpose(x, {.perm = {0, 2, 1}}) : x;
  const std::vector<DimValue> sizes = get_shape(by_channel);
  const Tensor y =
      nn::conv1d(reshape(by_channel, {detail::product(sizes[0], sizes[1]), sizes[2], 1}),
                 cast(variable(weight), x.dtype()), {.stride = *options_.frame_step, .padding = options_.padding});
  const std::vector<DimValue> of_y = get_shape(y);
  return reshape(y, {sizes[0], sizes[1], of_y[1], of_y[2]});
}
// [batch, channels, frames, bins]
TANDEM_INLINE Tensor STFTSpectrogram::result(const Tensor& x) const {
  constexpr double epsilon = 1e-7;
  const SpectrogramMode mode = options_.mode;
  const Tensor first = transformed(x, 0);
  if (mode == SpectrogramMode::real || mode == SpectrogramMode::imag) return first;
  const Tensor second = transformed(x, 1);
  if (mode == SpectrogramMode::angle) return atan2(second, first);
  if (mode == SpectrogramMode::stft) return concat({first, second}, 3);
  const Tensor power = square(first) + square(second);
  if (mode == SpectrogramMode::psd) {
    if (*options_.fft_length < 4) return power;  // the first and the last frequency are all
    return power + pad(power(Ellipsis, Slice(1, -1)), {{0, 0}, {0, 0}, {0, 0}, {1, 1}});
  }
  const Tensor magnitude = sqrt(maximum(power, epsilon));
  return mode == SpectrogramMode::magnitude ? magnitude : log(maximum(magnitude, epsilon));
}
TANDEM_INLINE Tensor STFTSpectrogram::operator()(const Tensor& x) const {
  const InCall here(*this);
  if (!is_checked()) [[unlikely]]
    check_registered();
  const tandem::detail::CallSite call(no_options, "STFTSpectrogram");
  const bool is_last = options_.data_format == DataFormat::channels_last;
  if (x.rank() != 3 || !is_floating(x.dtype()))
    detail::raise_spectrogram("STFTSpectrogram", std::string("needs floating numbers ") +
                                                     (is_last ? "[batch, time, channels]" : "[batch, channels, time]") +
                                                     ", not " + to_string(x.spec()));
  const Tensor y = result(x);
  if (options_.expand_dims) return is_last ? transpose(y, {.perm = {0, 2, 3, 1}}) : y;
  const Tensor by_place = transpose(y, {.perm = is_last ? Axes{0, 2, 1, 3} : Axes{0, 1, 3, 2}});
  const std::vector<DimValue> n = get_shape(by_place);
  return is_last ? reshape(by_place, {n[0], n[1], detail::product(n[2], n[3])})
                 : reshape(by_place, {n[0], detail::product(n[1], n[2]), n[3]});
}

}  // namespace TANDEM_NS::layers
