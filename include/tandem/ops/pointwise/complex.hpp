// Complex numbers and their parts: complex, real, imag, angle. Not here: the modulus, which is abs, and conj
// (arith.hpp).
#pragma once
#include "tandem/ops/pointwise/operand.hpp"

namespace TANDEM_NS {

/// Creates complex numbers from real and imaginary parts: re + i im.
///   re, im    float32 or float64, same dtype; shapes that broadcast
///   returns   the broadcast shape; complex64 or complex128
///   throws    errors::InvalidArgumentError if dtypes differ or shapes do not broadcast
///   gradient  to re: the real part of g; to im: its imaginary part
TANDEM_API Tensor complex(const Tensor& re, const Tensor& im, OpOptions = {});
TANDEM_SCALAR_OVERLOADS(complex)
/// Returns the real part of complex64 or complex128, as float32 or float64; x itself if it is real. gradient: g + 0i
TANDEM_API Tensor real(const Tensor& x, OpOptions = {});
/// Returns the imaginary part; zeros if x is floating. Otherwise as real. gradient: 0 + ig
TANDEM_API Tensor imag(const Tensor& x, OpOptions = {});
/// Returns the argument atan2(imag(x), real(x)), in [-pi, pi]; 0 or pi for real x. Complex or floating. gradient: g
/// i x / |x|^2, 0 at 0
TANDEM_API Tensor angle(const Tensor& x, OpOptions = {});

TANDEM_OPS(complex_ops, complex, real, imag)

}  // namespace TANDEM_NS
