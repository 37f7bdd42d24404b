// Layers for sounds: MelSpectrogram, STFTSpectrogram. Part of the component tandem::signal.
// Not here: the transforms alone (fft.hpp, frames.hpp), the weights of the mel scale (mel.hpp).
#pragma once
#include <optional>

#include "tandem/layers/layer.hpp"
#include "tandem/ops/conv/window.hpp"
#include "tandem/ops/data_format.hpp"
#include "tandem/signal/frames.hpp"

namespace TANDEM_NS::layers {

/// The window by which a layer multiplies each frame: a function that makes one (signal::hann_window,
/// signal::hamming_window), its numbers, or null for none.
class TANDEM_API FrameWindow {
 public:
  FrameWindow(signal::WindowFn make) : make_(make) {}
  FrameWindow(const Tensor& numbers) : numbers_(numbers) {}
  /// float64 [n]; unset if there is none.
  ///   periodic  of a function's window: it is one period, not what ends as it begins
  ///   throws    errors::InvalidArgumentError, in the layer's name, for numbers that are not [n]
  Tensor values(const char* layer, i64 n, bool periodic) const;

 private:
  signal::WindowFn make_ = nullptr;
  Tensor numbers_ = {};
};

struct MelSpectrogramOptions {
  i64 fft_length = 2048;
  i64 sequence_stride = 512;                  ///< samples from one frame to the next
  std::optional<i64> sequence_length = {};    ///< of the window, in the middle of a frame; default: fft_length
  FrameWindow window = &signal::hann_window;  ///< periodic
  i64 sampling_rate = 16000;                  ///< samples per second
  i64 num_mel_bins = 128;
  double min_freq = 20;                 ///< in hertz
  std::optional<double> max_freq = {};  ///< default: half of the sampling rate, rounded down
  bool power_to_db = true;              ///< decibels of power
  double top_db = 80;                   ///< decibels below the largest of the result are raised to so many
  double mag_exp = 2;                   ///< 1: magnitudes, 2: their squares
  double min_power = 1e-10;             ///< what is below is raised to it before the logarithm
  double ref_power = 1;                 ///< the power of 0 decibels
};
/// Mel spectrograms of sounds: frames around every sequence_stride-th sample, of a signal that is mirrored at its ends,
/// their Fourier transforms, the magnitudes summed in bands of the mel scale, and those in decibels.
///   x         [samples] or [batch, samples], more than fft_length / 2 samples, whose number must be known in a traced
///             function; numbers. Other dtypes than float64 are computed in float32
///   returns   [..., num_mel_bins, 1 + samples / sequence_stride] for an even fft_length; x's dtype, or float32 for
///             integers. top_db counts from the largest of the whole batch, as in Keras
///   throws    errors::InvalidArgumentError for options out of range, and for x of another rank
///   gradient  to x
class TANDEM_API MelSpectrogram : public Layer {
 public:
  explicit MelSpectrogram(const MelSpectrogramOptions& options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor spectrum(const Tensor& x) const;
  Tensor decibels(const Tensor& power) const;
  MelSpectrogramOptions options_;
};

/// What an STFTSpectrogram returns of each frequency.
enum class SpectrogramMode : std::uint8_t {
  log,        ///< the logarithm of the magnitude
  magnitude,  ///< at least sqrt(1e-7)
  psd,        ///< power, doubled but for the first and the last frequency
  real,
  imag,
  angle,
  stft  ///< all real parts, then all imaginary ones
};
/// What an STFTSpectrogram divides its window by.
enum class SpectrogramScaling : std::uint8_t {
  none,
  density,  ///< the root of the sum of its squares
  spectrum  ///< the sum of its magnitudes
};
struct STFTSpectrogramOptions {
  SpectrogramMode mode = SpectrogramMode::log;
  i64 frame_length = 256;
  std::optional<i64> frame_step = {};         ///< default: frame_length / 2
  std::optional<i64> fft_length = {};         ///< from frame_length on; default: the power of 2 from there on
  FrameWindow window = &signal::hann_window;  ///< without one nothing is scaled
  bool periodic = false;                      ///< of the window
  SpectrogramScaling scaling = SpectrogramScaling::density;
  Padding padding = Padding::valid;
  bool expand_dims = false;  ///< an axis of frequencies beside that of the channels
  DataFormat data_format = DataFormat::channels_last;
  DType dtype = DType::float32;  ///< of the weights
};
/// Short-time Fourier transforms of sounds by convolutions whose filters are weights, which can be trained or, by
/// set_trainable(false), stay a transform.
///   x         [batch, time, channels], or [batch, channels, time] with DataFormat::channels_first; floating
///   returns   [batch, frames, channels * bins], or [batch, channels * bins, frames], where bins = fft_length / 2 + 1,
///             twice as many with SpectrogramMode::stft; with .expand_dims [batch, frames, bins, channels], or [batch,
///             channels, frames, bins]. x's dtype
///   throws    errors::InvalidArgumentError for options out of range, and for x of another rank or dtype
///   variables real_kernel [frame_length, 1, fft_length / 2 + 1] unless only imaginary parts are asked for,
///             imag_kernel unless only real ones are
///   gradient  to x and the weights
class TANDEM_API STFTSpectrogram : public Layer {
 public:
  explicit STFTSpectrogram(const STFTSpectrogramOptions& options = {});
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor transformed(const Tensor& x, std::size_t weight) const;
  Tensor result(const Tensor& x) const;
  STFTSpectrogramOptions options_;
};

}  // namespace TANDEM_NS::layers
