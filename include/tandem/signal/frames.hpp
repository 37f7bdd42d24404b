// Frames of signals, windows, and short-time Fourier transforms. Part of the component tandem::signal.
#pragma once
#include "tandem/signal/fft.hpp"

namespace TANDEM_NS::signal {

struct FrameOptions {
  TANDEM_OP_OPTIONS;
  bool pad_end = false;  ///< keep the last frames, which the signal does not fill
  double pad_value = 0;  ///< behind the end of the signal; a number that x's dtype has
  i64 axis = -1;
};
/// Cuts an axis into frames that may overlap.
///   x         numbers, [..., n, ...]
///   returns   [..., frames, frame_length, ...], dtype of x: frames = max(0, 1 + (n - frame_length) / frame_step),
///             rounded down, or with `.pad_end` n / frame_step, rounded up
///   throws    errors::InvalidArgumentError for a scalar, a length or step below 1, or a pad_value with a fraction for
///             integers
///   gradient  overlap_and_add(g), as far as x reaches
TANDEM_API Tensor frame(const Tensor& x, i64 frame_length, i64 frame_step, FrameOptions = {});
/// Adds frames up to a signal: y[t] = sum over f of x[f, t - f * frame_step].
///   x         floating or complex, [..., frames, frame_length]
///   returns   [..., (frames - 1) * frame_step + frame_length], an empty signal if there are no frames
///   throws    errors::InvalidArgumentError for a rank below 2 or a step below 1
///   gradient  frame(g)
TANDEM_API Tensor overlap_and_add(const Tensor& x, i64 frame_step, OpOptions = {});

struct WindowOptions {
  TANDEM_OP_OPTIONS;
  bool periodic = true;          ///< an even length is one period; otherwise it ends as it begins
  DType dtype = DType::float32;  ///< floating
};
/// Hann window, 0.5 - 0.5 cos(2 pi k / n). Returns shape [window_length].
///   throws  errors::InvalidArgumentError for a length below 1 or a dtype that is not floating
TANDEM_API Tensor hann_window(i64 window_length, WindowOptions = {});
/// Hamming window, 0.54 - 0.46 cos(2 pi k / n). Otherwise as hann_window.
TANDEM_API Tensor hamming_window(i64 window_length, WindowOptions = {});
/// A function that makes a window; null: none, all ones.
using WindowFn = Tensor (*)(i64 window_length, WindowOptions);
/// The window for inverse_stft that undoes stft with the forward window: it divides by the sum of the squares of the
/// overlapping windows. Shape [window_length].
///   throws  errors::InvalidArgumentError for a length or step below 1
TANDEM_API Tensor inverse_stft_window(i64 window_length, i64 frame_step, WindowFn forward = &hann_window,
                                      WindowOptions = {});

struct StftOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> fft_length = {};  ///< default: the power of 2 from frame_length on
  WindowFn window_fn = &hann_window;
  bool pad_end = false;  ///< stft alone: pad with zeros, so that every sample is in a frame
};
/// Short-time Fourier transform: rfft of each frame times a window.
///   x         floating, [..., n]
///   returns   [..., frames, fft_length / 2 + 1]; complex64, or complex128 for float64
///   throws    errors::InvalidArgumentError as frame and rfft do
///   gradient  of the ops that it is made of
TANDEM_API Tensor stft(const Tensor& x, i64 frame_length, i64 frame_step, StftOptions = {});
/// Adds up the inverse transforms of frames, each times a window. It undoes stft with the window inverse_stft_window,
/// except for the first and the last samples, where frames are missing.
///   x         complex64 or complex128, [..., frames, fft_length / 2 + 1]
///   returns   [..., (frames - 1) * frame_step + frame_length], floating
///   throws    errors::InvalidArgumentError as irfft and overlap_and_add do
///   gradient  of the ops that it is made of
TANDEM_API Tensor inverse_stft(const Tensor& x, i64 frame_length, i64 frame_step, StftOptions = {});

namespace impl {
/// Cuts or pads an axis with zeros to a length. gradient: cut or padded back
TANDEM_API Tensor pad_or_trim(const Tensor& x, i64 axis, i64 length);
}  // namespace impl

}  // namespace TANDEM_NS::signal

namespace TANDEM_NS {

TANDEM_OPS(frame_ops, frame, overlap_and_add, frames_like, pad_or_trim, pad_or_trim_like)

namespace rules {
struct PadOrTrimAttrs {
  i64 axis, length;  // `_like` has no use for the length
  TANDEM_ATTRS(PadOrTrimAttrs, axis, length);
};
}  // namespace rules
}  // namespace TANDEM_NS
