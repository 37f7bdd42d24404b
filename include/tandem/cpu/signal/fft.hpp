// CPU kernels of discrete Fourier transforms: complex along any axis, real along the last one, and cosine transforms.
// Not here: shape rules and gradients (signal/), plans (plan.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out = scale * the transform of in0 along an axis; complex64 or complex128. `inverse`: with the exponent's sign
/// positive. Neither direction divides by anything else than 1 / scale.
TANDEM_API void fft(const KernelCall& c, int axis, bool inverse, double scale);
/// out[..., k] = scale * sum over j of in0[..., j] exp(-2 pi i j k / n), for k in [0, n / 2]. `doubled`: twice that for
/// all k but 0 and n / 2.
TANDEM_API void rfft(const KernelCall& c, bool doubled, double scale);
/// out[..., j] = scale * sum over k of w[k] Re(in0[..., k] exp(2 pi i j k / n)), where n is the last size of out. The
/// weights w[k] are 1; `doubled`: 2 for all k but 0 and n / 2, which is the inverse of rfft.
TANDEM_API void irfft(const KernelCall& c, bool doubled, double scale);
/// The cosine transform along the last axis, C[k, j] = cos(pi k (2 j + 1) / (2 n)). Type 2: out[k] = a[k] * sum over j
/// of C[k, j] in0[j]; type 3: out[j] = sum over k of a[k] C[k, j] in0[k]. a[0] = first, the others are `rest`.
TANDEM_API void dct(const KernelCall& c, int type, double first, double rest);

}  // namespace TANDEM_NS::cpu
