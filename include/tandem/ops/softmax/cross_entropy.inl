// Definitions of ops/softmax/cross_entropy.hpp.
#pragma once
#include "tandem/cpu/softmax/softmax.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/softmax/cross_entropy.hpp"
#include "tandem/ops/softmax/softmax.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE void check_same(const InferCall& c, const Spec& a, const Spec& b) {
  if (a.dtype != b.dtype) raise_specs(c, "dtypes differ", "use the sparse form for integer class labels");
  if (!a.shape.is_compatible_with(b.shape)) raise_specs(c, "shapes of labels and logits differ");
}
TANDEM_INLINE Specs infer_cross_entropy(const InferCall& c) {
  check_same(c, c.spec(0), c.spec(1));
  Specs r(c.spec(1));
  r[0].shape.erase(resolve_axis(c.op.name, c.get<rules::SoftmaxAttrs>().axis, r[0].shape.rank()));
  return r;
}
TANDEM_INLINE Specs like_logits(const InferCall& c, std::size_t logits) { return Specs(c.spec(logits)); }
// Of backward ops: inputs 0 and 2 are the upstream gradient and the logits, which only a graph file can mix.
TANDEM_INLINE void check_gradient(const InferCall& c, Specs (*forward)(const InferCall&)) {
  if (c.spec(0).dtype != c.spec(2).dtype) raise_specs(c, "the dtypes of gradient and logits differ");
  check_upstream(c, forward, c.attrs, c.in.subspan(1));
}
TANDEM_INLINE Specs infer_cross_entropy_grad(const InferCall& c) {
  check_gradient(c, &infer_cross_entropy);
  return like_logits(c, 2);
}

TANDEM_INLINE void check_sparse(const InferCall& c, const Spec& labels, const Spec& logits) {
  if (!dtypes::index.has(labels.dtype))
    raise_specs(c, std::string("labels must be int32 or int64, not ") + name(labels.dtype),
                "use softmax_cross_entropy_with_logits for distributions");
  if (logits.shape.rank() == 0) raise_specs(c, "logits need a class axis");
  Shape s = logits.shape;
  s.erase(s.rank() - 1);
  if (!s.is_compatible_with(labels.shape)) raise_specs(c, "labels need the shape of logits without the last axis");
}
TANDEM_INLINE Specs infer_sparse(const InferCall& c) {
  check_sparse(c, c.spec(0), c.spec(1));
  Specs r(c.spec(0));
  r[0].dtype = c.spec(1).dtype;
  return r;
}
TANDEM_INLINE Specs infer_sparse_grad(const InferCall& c) {
  check_gradient(c, &infer_sparse);
  return like_logits(c, 2);
}
TANDEM_INLINE Specs infer_one_hot_like(const InferCall& c) {
  check_sparse(c, c.spec(0), c.spec(1));
  return like_logits(c, 1);
}
// Scratch size: the labels as 64-bit integers.
TANDEM_INLINE std::size_t labels_first(Span<const Spec> in, const Attrs&) {
  return static_cast<std::size_t>(in[0].shape.size()) * sizeof(i64);
}
TANDEM_INLINE std::size_t labels_second(Span<const Spec> in, const Attrs&) {
  return static_cast<std::size_t>(in[1].shape.size()) * sizeof(i64);
}

inline int class_axis(const Attrs& a) { return static_cast<int>(a.get<rules::SoftmaxAttrs>().axis); }
TANDEM_INLINE Grads gradient_cross_entropy(const GradCall& c) {
  const int axis = class_axis(c.attrs);
  Grads r{Gradient(), Gradient()};
  if (c.needs(0)) r[0] = -(broadcast_like(c.g[0], c.in[1], axis) * nn::log_softmax(c.in[1], axis));
  if (c.needs(1)) r[1] = apply1(softmax_cross_entropy_grad_op, c.attrs, no_options, c.g[0], c.in[0], c.in[1]);
  return r;
}
TANDEM_INLINE Tensors reference_cross_entropy(Span<const Tensor> in, const Attrs& a) {
  const int axis = class_axis(a);
  const Tensor term = in[0] * nn::log_softmax(in[1], axis);
  return Tensors(-reduce_sum(where(equal(in[0], 0), 0, term), axis));
}
TANDEM_INLINE Tensors reference_cross_entropy_grad(Span<const Tensor> in, const Attrs& a) {
  const int axis = class_axis(a);
  const Tensor mass = reduce_sum(in[1], {.axis = axis, .keepdims = true});
  return Tensors(broadcast_like(in[0], in[2], axis) * (nn::softmax(in[2], axis) * mass - in[1]));
}
TANDEM_INLINE Grads gradient_sparse(const GradCall& c) {
  return {Gradient(), apply1(sparse_softmax_cross_entropy_grad_op, no_attrs, no_options, c.g[0], c.in[0], c.in[1])};
}
TANDEM_INLINE Tensor one_hot_like(const Tensor& labels, const Tensor& logits) {
  return apply1(one_hot_like_op, no_attrs, no_options, labels, logits);
}
TANDEM_INLINE Tensors reference_sparse(Span<const Tensor> in, const Attrs&) {
  const Tensor hot = equal(one_hot_like(in[0], in[1]), 1);
  return Tensors(-reduce_sum(where(hot, nn::log_softmax(in[1]), 0), -1));
}
TANDEM_INLINE Tensors reference_sparse_grad(Span<const Tensor> in, const Attrs&) {
  return Tensors(broadcast_like(in[0], in[2], -1) * (nn::softmax(in[2]) - one_hot_like(in[1], in[2])));
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef softmax_cross_entropy_op{
    .name = "softmax_cross_entropy_with_logits",
    .input_names = "labels, logits",
    .infer = &detail::infer_cross_entropy,
    .cpu = &cpu::softmax_cross_entropy,
    .cuda = TANDEM_CUDA(&cuda::softmax_cross_entropy),
    .gradient = &detail::gradient_cross_entropy,
    .dtypes = dtypes::floating,
    .dtype_input = 1,  // labels of other dtypes are rejected by infer
    .inputs = 2,
    .saves = Saves::inputs,
    .flags = {.takes_half = kernels_take_half},
    .attrs = &detail::attr_type<rules::SoftmaxAttrs>,
    .rare = {.decomposition = &detail::reference_cross_entropy}};
TANDEM_INLINE constexpr OpDef softmax_cross_entropy_grad_op{
    .name = "softmax_cross_entropy_grad",
    .input_names = "g, labels, logits",
    .infer = &detail::infer_cross_entropy_grad,
    .cpu = &cpu::softmax_cross_entropy_grad,
    .cuda = TANDEM_CUDA(&cuda::softmax_cross_entropy_grad),
    .dtypes = dtypes::floating,
    .inputs = 3,
    .saves = Saves::inputs,
    .flags = {.takes_half = kernels_take_half},
    .attrs = &detail::attr_type<rules::SoftmaxAttrs>,
    .rare = {.decomposition = &detail::reference_cross_entropy_grad}};
TANDEM_INLINE constexpr OpDef sparse_softmax_cross_entropy_op{.name = "sparse_softmax_cross_entropy_with_logits",
                                                              .input_names = "labels, logits",
                                                              .infer = &detail::infer_sparse,
                                                              .cpu = &cpu::sparse_softmax_cross_entropy,
                                                              .cuda = TANDEM_CUDA(&cuda::sparse_softmax_cross_entropy),
                                                              .gradient = &detail::gradient_sparse,
                                                              .workspace = &detail::labels_first,
                                                              .dtypes = dtypes::floating,
                                                              .dtype_input = 1,
                                                              .inputs = 2,
                                                              .saves = Saves::inputs,
                                                              .flags = {.takes_half = kernels_take_half},
                                                              .rare = {.decomposition = &detail::reference_sparse}};
TANDEM_INLINE constexpr OpDef sparse_softmax_cross_entropy_grad_op{
    .name = "sparse_softmax_cross_entropy_grad",
    .input_names = "g, labels, logits",
    .infer = &detail::infer_sparse_grad,
    .cpu = &cpu::sparse_softmax_cross_entropy_grad,
    .cuda = TANDEM_CUDA(&cuda::sparse_softmax_cross_entropy_grad),
    .workspace = &detail::labels_second,
    .dtypes = dtypes::floating,
    .inputs = 3,
    .saves = Saves::inputs,
    .flags = {.takes_half = kernels_take_half},
    .rare = {.decomposition = &detail::reference_sparse_grad}};
TANDEM_INLINE constexpr OpDef one_hot_like_op{.name = "one_hot_like",
                                              .input_names = "labels, logits",
                                              .infer = &detail::infer_one_hot_like,
                                              .cpu = &cpu::one_hot_like,
                                              .cuda = TANDEM_CUDA(&cuda::one_hot_like),
                                              .workspace = &detail::labels_first,
                                              .dtypes = dtypes::floating,
                                              .dtype_input = 1,
                                              .inputs = 2,
                                              .saves = Saves::nothing,
                                              .flags = {.non_differentiable = true}};
TANDEM_INLINE Tensor nn::softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                                           CrossEntropyOptions o) {
  return apply1(softmax_cross_entropy_op, rules::SoftmaxAttrs{o.axis}, {o.name, o.where}, labels, logits);
}
TANDEM_INLINE Tensor nn::sparse_softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                                                  OpOptions o) {
  return apply1(sparse_softmax_cross_entropy_op, no_attrs, o, labels, logits);
}

namespace detail {
TANDEM_INLINE void check_elementwise(const OpDef& op, const Tensor& labels, const Tensor& logits, const OpOptions& o) {
  const Tensor* const in[] = {&labels, &logits};
  check_same({op, in, no_attrs, o}, labels.spec(), logits.spec());
}
}  // namespace detail
TANDEM_INLINE Tensor nn::sigmoid_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits, OpOptions o) {
  detail::check_elementwise(sigmoid_cross_entropy_with_logits_op, labels, logits, o);
  return apply1(sigmoid_cross_entropy_with_logits_op, no_attrs, o, labels, logits);
}
TANDEM_INLINE Tensor nn::weighted_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                                            const Tensor& pos_weight, OpOptions o) {
  detail::check_elementwise(sigmoid_cross_entropy_with_logits_op, labels, logits, o);
  const tandem::detail::ShapeChecks lenient(false);
  const Tensor weight = (pos_weight - 1) * labels + 1;
  return (logits - labels * logits) + weight * softplus(-logits);
}
TANDEM_INLINE Tensor nn::weighted_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                                            Scalar pos_weight, OpOptions o) {
  return weighted_cross_entropy_with_logits(labels, logits, tandem::detail::scalar_like(pos_weight, logits), o);
}

}  // namespace TANDEM_NS
