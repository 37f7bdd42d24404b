// Jacobians computed by a tape.
#pragma once
#include <cstring>

#include "tandem/autodiff/log.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

// Zero except for a one at every index first, first + step, ...
TANDEM_INLINE Tensor basis_tensor(const Spec& spec, i64 first, i64 step) {
  const Tensor t = Tensor::allocate({spec.shape, spec.dtype, {}});
  std::memset(t.raw(), 0, spec.bytes());
  for (i64 i = first, n = spec.shape.size(); i < n; i += step) {
    if (spec.dtype == DType::float64) static_cast<double*>(t.raw())[i] = 1;
    else static_cast<float*>(t.raw())[i] = 1;
  }
  return t.to(spec.device);
}
TANDEM_INLINE void check_jacobian(const Spec& y, bool persistent) {
  if (!persistent)
    errors::raise<errors::FailedPreconditionError>("jacobian", "needs a tape made with {.persistent = true}");
  if (!dtypes::floating.has(y.dtype) || !y.shape.is_fully_defined())
    errors::raise<errors::InvalidArgumentError>("jacobian", "needs a float target of known shape, not " + to_string(y));
}

}  // namespace detail

TANDEM_INLINE Tensor GradientTape::jacobian(const Tensor& target, const Source& source) {
  detail::check_jacobian(target.spec(), log_->options_.persistent);
  if (!log_->watches(source)) return Tensor::unset(log_->why_unset(source, {&target, 1}));
  const Pause pause(*this);  // every row's walk would be kept
  std::vector<Tensor> rows;
  const i64 n = target.size();
  for (i64 i = 0; i < n; ++i)
    rows.push_back(gradient(target, source,
                            {.output_gradients = {detail::basis_tensor(target.spec(), i, n)},
                             .unconnected_gradients = UnconnectedGradients::zero}));
  Shape shape = target.shape();
  for (i64 d : source.spec().shape) shape.push_back(d);
  if (rows.empty()) return zeros(shape, {.dtype = source.spec().dtype});
  return reshape(stack(rows), shape);
}

TANDEM_INLINE Tensor GradientTape::batch_jacobian(const Tensor& target, const Tensor& source) {
  detail::check_jacobian(target.spec(), log_->options_.persistent);
  if (target.rank() < 1 || source.rank() < 1 || target.shape().dim(0) != source.shape().dim(0))
    errors::raise<errors::InvalidArgumentError>(
        "batch_jacobian", "the leading axes differ: " + to_string(target.spec()) + " x " + to_string(source.spec()));
  if (!log_->watches(source)) return Tensor::unset(log_->why_unset(source, {&target, 1}));
  const Pause pause(*this);
  const i64 batch = target.shape().dim(0), inner = batch ? target.size() / batch : 0;
  std::vector<Tensor> columns;  // one pass per element for all samples at once: samples do not interact
  for (i64 i = 0; i < inner; ++i)
    columns.push_back(gradient(target, source,
                               {.output_gradients = {detail::basis_tensor(target.spec(), i, inner)},
                                .unconnected_gradients = UnconnectedGradients::zero}));
  Shape shape = target.shape();
  for (int i = 1; i < source.rank(); ++i) shape.push_back(source.shape().dim(i));
  if (columns.empty()) return zeros(shape, {.dtype = source.dtype()});
  return reshape(stack(columns, {.axis = 1}), shape);
}

}  // namespace TANDEM_NS
