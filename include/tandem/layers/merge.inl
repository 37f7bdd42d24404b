// Definitions of layers/merge.hpp.
#pragma once
#include <algorithm>

#include "tandem/layers/merge.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/norm/moments.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::layers {

namespace detail {
TANDEM_INLINE Tensor merge_add(const Tensor& a, const Tensor& b) { return a + b; }
TANDEM_INLINE Tensor merge_multiply(const Tensor& a, const Tensor& b) { return a * b; }
TANDEM_INLINE Tensor merge_maximum(const Tensor& a, const Tensor& b) { return maximum(a, b); }
TANDEM_INLINE Tensor merge_minimum(const Tensor& a, const Tensor& b) { return minimum(a, b); }

TANDEM_INLINE void check_inputs(const char* layer, const TensorList& inputs, bool ok, const char* wanted) {
  if (!ok)
    errors::raise<errors::InvalidArgumentError>(
        layer, std::string("needs ") + wanted + ", not " + std::to_string(inputs.size()));
}
TANDEM_INLINE Tensor Fold::operator()(const TensorList& inputs) const {
  const InCall here(*this);
  check_inputs(name_, inputs, inputs.size() >= 2, "two or more tensors");
  Tensor y = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) y = pair_(y, inputs[i]);
  return y;
}
}  // namespace detail

TANDEM_INLINE Tensor Average::operator()(const TensorList& inputs) const {
  return Fold::operator()(inputs) / static_cast<double>(inputs.size());
}
TANDEM_INLINE Tensor Subtract::operator()(const TensorList& inputs) const {
  const InCall here(*this);
  detail::check_inputs("Subtract", inputs, inputs.size() == 2, "two tensors");
  return inputs[0] - inputs[1];
}
TANDEM_INLINE Tensor Concatenate::operator()(const TensorList& inputs) const {
  const InCall here(*this);
  return concat(inputs, axis_);
}

TANDEM_INLINE Tensor Dot::operator()(const TensorList& inputs) const {
  const InCall here(*this);
  detail::check_inputs("Dot", inputs, inputs.size() == 2, "two tensors");
  Tensor a = inputs[0], b = inputs[1];
  const int rank = a.rank();
  const auto along = [&](int axis) { return axis < 0 ? axis + rank : axis; };
  const int first = along(axes_.first), second = along(axes_.second);
  const bool vectors = rank == 2;
  if (rank != b.rank() || (!vectors && rank != 3) || std::min(first, second) < 1 || std::max(first, second) >= rank)
    errors::raise<errors::InvalidArgumentError>(
        "Dot", "axes " + std::to_string(axes_.first) + " and " + std::to_string(axes_.second) + " of " +
                   to_string(a.spec()) + " and " + to_string(b.spec()) +
                   ": needs two batches of vectors or matrices, and an axis of each behind the batch");
  if (options_.normalize) a = nn::l2_normalize(a, {.axis = first}), b = nn::l2_normalize(b, {.axis = second});
  if (vectors) {
    const Tensor rows = matmul(expand_dims(a, 1), expand_dims(b, 2));
    return squeeze(rows, {2});
  }
  return matmul(a, b, {.transpose_a = first == 1, .transpose_b = second == 2});
}

TANDEM_INLINE Merge::Merge(i64 units, MergeOptions options)
    : Layer("merge"), units_(detail::positive("Merge", "units", units)), options_(options) {}
TANDEM_INLINE Tensor Merge::run(const TensorList& inputs, const Tensors& weights) const {
  const std::size_t n = inputs.size();
  Tensor y = nn::dense(inputs[0], weights[0], options_.use_bias ? weights[n] : Tensor());
  for (std::size_t i = 1; i < n; ++i) y = y + nn::dense(inputs[i], weights[i], Tensor());
  return options_.activation(y);
}
TANDEM_INLINE void Merge::build_for(const TensorList& inputs) const {
  i64 total = 0;
  std::vector<i64> sizes;
  Tensors placeholders;
  for (const Tensor& x : inputs) {
    sizes.push_back(features_of("Merge", x));
    total += sizes.back();
    placeholders.push_back(tandem::detail::weight_like({sizes.back(), units_}, options_.dtype));
  }
  placeholders.push_back(tandem::detail::weight_like({units_}, options_.dtype));
  tandem::detail::check_call([&] { run(inputs, placeholders); });
  build_once([&] {
    const std::vector<Tensor> parts = split(options_.kernel_initializer({total, units_}, options_.dtype), sizes, 0);
    for (std::size_t i = 0; i < parts.size(); ++i)
      add_variable(i ? "kernel_" + std::to_string(i) : "kernel", parts[i], true, options_.kernel_regularizer,
                   options_.kernel_constraint);
    if (options_.use_bias)
      add_variable("bias", options_.bias_initializer({units_}, options_.dtype), true, options_.bias_regularizer,
                   options_.bias_constraint);
  });
}
TANDEM_INLINE Tensor Merge::operator()(const TensorList& inputs) const {
  const InCall here(*this);
  detail::check_inputs("Merge", inputs, inputs.size() >= 1, "one tensor or more");
  if (!is_built()) check_registered(), build_for(inputs);
  const std::size_t kernels = weight_count() - (options_.use_bias ? 1 : 0);
  if (inputs.size() != kernels)
    errors::raise<errors::InvalidArgumentError>(
        "Merge", std::to_string(inputs.size()) + " inputs, but the layer was built for " + std::to_string(kernels));
  Tensors weights;
  for (std::size_t i = 0; i < weight_count(); ++i) weights.push_back(variable(i));
  return run(inputs, weights);
}

}  // namespace TANDEM_NS::layers
