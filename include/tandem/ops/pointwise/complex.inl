// Definitions of ops/pointwise/complex.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/layout/layout.hpp"
#include "tandem/ops/pointwise/complex.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Specs infer_complex(const InferCall& c) {
  const Spec &re = c.spec(0), &im = c.spec(1);
  if (re.dtype != im.dtype) raise_specs(c, "dtypes differ", "cast one of them");
  return Specs(Spec{broadcast_shape(c, re.shape, im.shape),
                    re.dtype == DType::float64 ? DType::complex128 : DType::complex64, re.device});
}
TANDEM_INLINE Grads complex_gradient(const GradCall& c) {
  return {c.needs(0) ? Gradient(real(c.g[0])) : Gradient(), c.needs(1) ? Gradient(imag(c.g[0])) : Gradient()};
}
TANDEM_INLINE Specs infer_complex_part(const InferCall& c) {
  Specs r(c.spec(0));
  r[0].dtype = r[0].dtype == DType::complex128 ? DType::float64 : DType::float32;
  return r;
}
TANDEM_INLINE void real_kernel(const KernelCall& c) { cpu::complex_part(c, 0); }
TANDEM_INLINE void imag_kernel(const KernelCall& c) { cpu::complex_part(c, 1); }
TANDEM_INLINE Grads real_gradient(const GradCall& c) { return {Gradient(complex(c.g[0], 0))}; }
TANDEM_INLINE Grads imag_gradient(const GradCall& c) { return {Gradient(complex(0, c.g[0]))}; }

constexpr OpDef complex_part_row(const char* name, KernelFn kernel, Grads (*gradient)(const GradCall&)) {
  return {.name = name,
          .infer = &infer_complex_part,
          .cpu = kernel,
          .cuda = TANDEM_CUDA(kernel),
          .gradient = gradient,
          .dtypes = dtypes::complex | DType::complex128,
          .saves = Saves::nothing};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef complex_op{.name = "complex",
                                         .input_names = "re, im",
                                         .infer = &detail::infer_complex,
                                         .cpu = &cpu::complex_of_parts,
                                         .cuda = TANDEM_CUDA(&cpu::complex_of_parts),
                                         .gradient = &detail::complex_gradient,
                                         .dtypes = dtypes::floating,
                                         .inputs = 2,
                                         .saves = Saves::shape,
                                         .flags = {.pointwise = true}};
TANDEM_INLINE constexpr OpDef real_op = detail::complex_part_row("real", &detail::real_kernel, &detail::real_gradient);
TANDEM_INLINE constexpr OpDef imag_op = detail::complex_part_row("imag", &detail::imag_kernel, &detail::imag_gradient);

TANDEM_INLINE Tensor complex(const Tensor& re, const Tensor& im, OpOptions o) {
  return apply1(complex_op, no_attrs, o, re, im);
}
TANDEM_INLINE Tensor real(const Tensor& x, OpOptions o) {
  return is_complex(x.dtype()) ? apply1(real_op, no_attrs, o, x) : x;
}
TANDEM_INLINE Tensor imag(const Tensor& x, OpOptions o) {
  return is_complex(x.dtype()) ? apply1(imag_op, no_attrs, o, x) : multiply_no_nan(x, 0, o);
}
TANDEM_INLINE Tensor angle(const Tensor& x, OpOptions o) {
  const detail::CallSite named(o, "angle");
  return atan2(imag(x), real(x), o);
}

}  // namespace TANDEM_NS
