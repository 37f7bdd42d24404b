// Definitions of ops/linalg/matmul.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/gemm/matmul.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/rule.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Shape without_matrix(const Shape& s) {
  return Shape(Span(s.begin(), static_cast<std::size_t>(s.rank() - 2)));
}

[[noreturn, gnu::cold]] TANDEM_INLINE void raise_inner(const InferCall& c, const rules::MatmulAttrs& t) {
  const Shape &a = c.spec(0).shape, &b = c.spec(1).shape;
  const i64 inner_a = a.dim(t.transpose_a ? -2 : -1), inner_b = b.dim(t.transpose_b ? -1 : -2);
  const i64 outer_a = a.dim(t.transpose_a ? -1 : -2), outer_b = b.dim(t.transpose_b ? -2 : -1);
  std::string hint;
  if (inner_a == outer_b) hint = std::string("did you mean .transpose_b = ") + (t.transpose_b ? "false?" : "true?");
  else if (outer_a == inner_b)
    hint = std::string("did you mean .transpose_a = ") + (t.transpose_a ? "false?" : "true?");
  raise_specs(c, "inner dimensions differ", hint);
}
TANDEM_INLINE Specs infer_matmul(const InferCall& c) {
  const Spec &a = c.spec(0), &b = c.spec(1);
  const auto& t = c.get<rules::MatmulAttrs>();
  if (a.dtype != b.dtype) raise_specs(c, "dtypes differ", "cast one of them, or set .dtype where it is created");
  if (a.shape.rank() < 2 || b.shape.rank() < 2)
    raise_specs(c, "operands need rank 2 or more", "linalg::matvec takes a matrix and a vector; or use expand_dims");
  const i64 inner_a = a.shape.dim(t.transpose_a ? -2 : -1), inner_b = b.shape.dim(t.transpose_b ? -1 : -2);
  if (inner_a != inner_b && inner_a != none && inner_b != none) raise_inner(c, t);
  Specs r(a);
  Shape& s = r[0].shape;
  if (a.shape.rank() > 2 || b.shape.rank() > 2) {
    s = broadcast_shape(c, without_matrix(a.shape), without_matrix(b.shape));
    s.push_back(0), s.push_back(0);
  }
  s.set(s.rank() - 2, a.shape.dim(t.transpose_a ? -1 : -2));
  s.set(s.rank() - 1, b.shape.dim(t.transpose_b ? -2 : -1));
  return r;
}
TANDEM_INLINE cpu::MatmulFlags matmul_flags(const Attrs& attrs) {
  const auto& t = attrs.get<rules::MatmulAttrs>();
  return {t.transpose_a, t.transpose_b, t.conjugate_a, t.conjugate_b};
}
TANDEM_INLINE void matmul_kernel(const KernelCall& c) { cpu::matmul(c, matmul_flags(c.attrs)); }
TANDEM_INLINE std::size_t matmul_workspace(Span<const Spec> in, const Attrs& attrs) {
  return cpu::matmul_workspace(in[0], in[1], matmul_flags(attrs));
}

TANDEM_INLINE Tensor flagged_product(const Tensor& a, bool transpose_a, bool conjugate_a, const Tensor& b,
                                     bool transpose_b, bool conjugate_b) {
  const bool complex = is_complex(a.dtype());
  return apply1(matmul_op, rules::MatmulAttrs{transpose_a, transpose_b, complex && conjugate_a, complex && conjugate_b},
                no_options, a, b);
}
// Sums a gradient over broadcast batch axes. If the other operand is a single matrix, nothing was broadcast.
TANDEM_INLINE Tensor back_to_batch(const Tensor& d, const Tensor& like, const Tensor& other) {
  return other.rank() == 2 ? d : tandem::detail::sum_to_like(d, like);
}
// With y = A B: dA = g B^H, dB = A^H g. The gradient of an operand that was transposed or conjugated is transposed
// or conjugated as well, through the flags of the product.
TANDEM_INLINE Grads matmul_gradient(const GradCall& c) {
  const auto& t = c.get<rules::MatmulAttrs>();
  const Tensor &g = c.g[0], &a = c.in[0], &b = c.in[1];
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) {
    const bool cb = !t.conjugate_b != t.conjugate_a;
    const Tensor d = t.transpose_a ? flagged_product(b, t.transpose_b, cb, g, true, t.conjugate_a)
                                   : flagged_product(g, false, t.conjugate_a, b, !t.transpose_b, cb);
    r[0] = Gradient(back_to_batch(d, a, b));
  }
  if (c.needs(1)) {
    const bool ca = !t.conjugate_a != t.conjugate_b;
    // One matrix for the entire batch: a single product over all rows also sums over the batch.
    const bool fold = b.rank() == 2 && a.rank() > 2 && !t.transpose_a;
    const Tensor rows = fold ? collapse_leading(a, a.rank() - 1) : a,
                 g_rows = fold ? collapse_leading(g, g.rank() - 1) : g;
    const Tensor d = t.transpose_b ? flagged_product(g_rows, true, t.conjugate_b, rows, t.transpose_a, ca)
                                   : flagged_product(rows, !t.transpose_a, ca, g_rows, false, t.conjugate_b);
    r[1] = Gradient(fold ? d : back_to_batch(d, b, a));
  }
  return r;
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef matmul_op{
    .name = "matmul",
    .input_names = "a, b",
    .infer = &detail::infer_matmul,
    .cpu = &detail::matmul_kernel,
    .cuda = TANDEM_CUDA(&cuda::matmul),
    .gradient = &detail::matmul_gradient,
    .workspace = &detail::matmul_workspace,
    .dtypes = dtypes::floating | dtypes::complex | dtypes::index | DType::uint32 | DType::uint64 | DType::complex128,
    .inputs = 2,
    .saves = Saves::inputs,
    .flags = {.keeps_packed = true, .takes_half = kernels_take_half, .cuda_takes_half = true},
    .attrs = &detail::attr_type<rules::MatmulAttrs>,
    .rare = {.display = "MatMul"}};

namespace detail {
// In 32 bits, since modulo 2^n that is the same.
TANDEM_INLINE Tensor narrow_product(const Tensor& a, const Tensor& b, MatmulOptions o) {
  const CallSite call(o);
  if (a.dtype() != b.dtype())
    errors::raise<errors::InvalidArgumentError>(
        "matmul", "dtypes differ: " + to_string(a.spec()) + " x " + to_string(b.spec()) + " (cast one of them)");
  const auto [name, where] = OpOptions{o.name, o.where};
  o.name = {};
  return cast(matmul(cast(a, DType::int32), cast(b, DType::int32), o), a.dtype(), {name, where});
}
}  // namespace detail

TANDEM_INLINE Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions o) {
  if ((o.transpose_a && o.adjoint_a) || (o.transpose_b && o.adjoint_b)) {
    const tandem::detail::CallSite call(o);
    errors::raise<errors::InvalidArgumentError>("matmul",
                                                "an operand is both transposed and adjoint; give one of them");
  }
  const DType d = a.dtype();
  if (is_integer(d) && size_of(d) < 4) return tandem::detail::narrow_product(a, b, o);
  const bool complex = is_complex(d);
  return apply1(matmul_op,
                rules::MatmulAttrs{o.transpose_a || o.adjoint_a, o.transpose_b || o.adjoint_b, complex && o.adjoint_a,
                                   complex && o.adjoint_b},
                {o.name, o.where}, a, b);
}
TANDEM_INLINE Tensor linalg::matvec(const Tensor& a, const Tensor& v, MatvecOptions o) {
  const tandem::detail::CallSite call(o);
  if (v.rank() == 0 || a.rank() < 2)
    errors::raise<errors::InvalidArgumentError>(
        "matvec", "needs a matrix and a vector: " + to_string(a.spec()) + " x " + to_string(v.spec()));
  const Tensor y = matmul(a, expand_dims(v, -1),
                          {.name = o.name, .where = o.where, .transpose_a = o.transpose_a, .adjoint_a = o.adjoint_a});
  return squeeze(y, {.axis = {-1}});
}

}  // namespace TANDEM_NS
