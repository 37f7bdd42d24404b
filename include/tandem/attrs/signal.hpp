// The attributes of Fourier and cosine transforms, and of frames, which kernels of both devices read.
#pragma once
#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS::rules {

struct FftAttrs {
  i64 axis;
  bool inverse, divided;  // by n
  TANDEM_ATTRS(FftAttrs, axis, inverse, divided);
};
// `doubled`: all but the first and the last of an even length. The transposes have the same.
struct RealFftAttrs {
  i64 length;  // irfft's n; none: 2 (m - 1), or that of the second input
  bool doubled, divided;
  TANDEM_ATTRS(RealFftAttrs, length, doubled, divided);
};
// The factors are sqrt(1 / n) and sqrt(2 / n) if orthonormal, else 2, the first one of them 1 if `halved`.
struct DctAttrs {
  i64 type;
  bool ortho, halved;
  TANDEM_ATTRS(DctAttrs, type, ortho, halved);
};
struct FrameAttrs {
  i64 axis, length, step;  // overlap_and_add has no use for the length
  bool pad_end;
  TANDEM_ATTRS(FrameAttrs, axis, length, step, pad_end);
};

}  // namespace TANDEM_NS::rules
