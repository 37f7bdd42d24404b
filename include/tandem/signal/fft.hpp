// Discrete Fourier transforms, complex and real, of one to three axes; the cosine transform; shifts of frequencies.
// Part of the component tandem::signal. Not here: frames, windows and short-time transforms (frames.hpp).
#pragma once
#include <optional>
#include <string_view>

#include "tandem/attrs/signal.hpp"
#include "tandem/base/shape_arg.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::signal {

/// Discrete Fourier transform along the last axis: y[k] = sum over j of x[j] exp(-2 pi i j k / n).
///   x         complex64 or complex128, [..., n]; real numbers are taken as complex ones
///   returns   same shape; complex64, or complex128 for complex128 and float64. An empty axis gives an empty tensor
///   throws    errors::InvalidArgumentError for a scalar, errors::UnimplementedError for other dtypes
///   gradient  the adjoint transform: n * ifft(g)
/// Any length takes O(n log n) operations; those without a prime factor above 31 are the fastest.
TANDEM_API Tensor fft(const Tensor& x, OpOptions = {});
/// Inverse of fft: y[j] = 1 / n * sum over k of x[k] exp(2 pi i j k / n). Otherwise as fft. gradient: fft(g) / n
TANDEM_API Tensor ifft(const Tensor& x, OpOptions = {});
/// fft along the last two axes, [..., h, w]. Otherwise as fft. gradient: the adjoint transform
TANDEM_API Tensor fft2d(const Tensor& x, OpOptions = {});
/// ifft along the last two axes. Otherwise as fft. gradient: the adjoint transform
TANDEM_API Tensor ifft2d(const Tensor& x, OpOptions = {});
/// fft along the last three axes, [..., d, h, w]. Otherwise as fft. gradient: the adjoint transform
TANDEM_API Tensor fft3d(const Tensor& x, OpOptions = {});
/// ifft along the last three axes. Otherwise as fft. gradient: the adjoint transform
TANDEM_API Tensor ifft3d(const Tensor& x, OpOptions = {});

struct RfftOptions {
  TANDEM_OP_OPTIONS;
  std::optional<i64> fft_length = {};  ///< the n of the transform; the axis is cut or padded with zeros
};
struct Rfft2dOptions {
  TANDEM_OP_OPTIONS;
  ShapeArg fft_length = {};  ///< {h, w} of the transform; the axes are cut or padded with zeros
};
/// Discrete Fourier transform of real numbers along the last axis, of which the first half is returned: the rest is its
/// mirror image, conjugated.
///   x         floating, [..., n]
///   returns   [..., n / 2 + 1]; complex64, or complex128 for float64
///   throws    errors::InvalidArgumentError for a scalar, an empty axis or a `.fft_length` below 1
///   gradient  the adjoint transform
TANDEM_API Tensor rfft(const Tensor& x, RfftOptions = {});
/// Inverse of rfft, of m complex numbers.
///   x         complex64 or complex128, [..., m]; the imaginary parts at 0 and, for an even length, at the end are
///             ignored
///   returns   [..., fft_length], by default 2 * (m - 1); x is cut or padded with zeros to fft_length / 2 + 1
///   throws    errors::InvalidArgumentError for a scalar, a `.fft_length` below 1, or fewer than 2 numbers without one
///   gradient  the adjoint transform
TANDEM_API Tensor irfft(const Tensor& x, RfftOptions = {});
/// rfft along the last axis, then fft along the one before it: [..., h, w / 2 + 1]. gradient: the adjoint transform
TANDEM_API Tensor rfft2d(const Tensor& x, Rfft2dOptions = {});
/// Inverse of rfft2d. Otherwise as irfft. gradient: the adjoint transform
TANDEM_API Tensor irfft2d(const Tensor& x, Rfft2dOptions = {});

struct DctOptions {
  TANDEM_OP_OPTIONS;
  int type = 2;                ///< 2 or 3
  std::optional<i64> n = {};   ///< the length of the transform; the axis is cut or padded with zeros
  std::string_view norm = {};  ///< "ortho": orthonormal
};
/// Discrete cosine transform along the last axis. Type 2: y[k] = 2 * sum over j of x[j] cos(pi k (2 j + 1) / (2 n)).
/// Type 3: y[j] = x[0] + 2 * sum over k > 0 of x[k] cos(pi k (2 j + 1) / (2 n)). With `.norm = "ortho"`, both are
/// orthogonal matrices, inverses of each other.
///   x         floating, [..., n]
///   returns   same shape (with `.n` in place of n) and dtype
///   throws    errors::InvalidArgumentError for a scalar, another type or norm, or `.n` below 1
///   gradient  the adjoint transform
TANDEM_API Tensor dct(const Tensor& x, DctOptions = {});
/// Inverse of dct of the same `.type`, but for a factor 2 n without "ortho". Otherwise as dct. gradient: the adjoint
/// transform
TANDEM_API Tensor idct(const Tensor& x, DctOptions = {});

struct FftShiftOptions {
  TANDEM_OP_OPTIONS;
  Axes axes = {};  ///< default: all axes
};
/// Moves the frequency 0 to the middle: rotates each axis by n / 2. Any dtype. gradient: ifftshift(g)
///   throws  errors::InvalidArgumentError for an axis out of range or of unknown size
TANDEM_API Tensor fftshift(const Tensor& x, FftShiftOptions = {});
/// Undoes fftshift. gradient: fftshift(g)
TANDEM_API Tensor ifftshift(const Tensor& x, FftShiftOptions = {});
TANDEM_AXES_OVERLOADS(fftshift, FftShiftOptions, axes)
TANDEM_AXES_OVERLOADS(ifftshift, FftShiftOptions, axes)

}  // namespace TANDEM_NS::signal

namespace TANDEM_NS {

TANDEM_OPS(fft_ops, fft, rfft, irfft, dct)
}  // namespace TANDEM_NS
