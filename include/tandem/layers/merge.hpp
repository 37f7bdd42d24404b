// Layers of several inputs: Add, Subtract, Multiply, Average, Maximum, Minimum, Concatenate, Dot, and Merge, which has
// weights. They are called with a list: Add()({a, b}).
#pragma once
#include <utility>
#include <vector>

#include "tandem/layers/activations.hpp"
#include "tandem/layers/layer.hpp"
#include "tandem/ops/tensor_list.hpp"

namespace TANDEM_NS::layers {

namespace detail {
/// Folds two or more tensors, which broadcast, from the left.
class TANDEM_API Fold : public Layer {
 public:
  Tensor operator()(const TensorList& inputs) const;

 protected:
  using Pair = Tensor (*)(const Tensor&, const Tensor&);
  Fold(const char* name, const char* kind, Pair pair) : Layer(kind), name_(name), pair_(pair) {}

 private:
  const char* name_;
  Pair pair_;
};
TANDEM_API Tensor merge_add(const Tensor&, const Tensor&);
TANDEM_API Tensor merge_multiply(const Tensor&, const Tensor&);
TANDEM_API Tensor merge_maximum(const Tensor&, const Tensor&);
TANDEM_API Tensor merge_minimum(const Tensor&, const Tensor&);
}  // namespace detail

/// Sum of two or more tensors, which broadcast.
///   throws    errors::InvalidArgumentError for fewer than two tensors, as do the other layers of this kind
class Add : public detail::Fold {
 public:
  Add() : Fold("Add", "add", &detail::merge_add) {}
};
/// Product of two or more tensors, which broadcast.
class Multiply : public detail::Fold {
 public:
  Multiply() : Fold("Multiply", "multiply", &detail::merge_multiply) {}
};
/// Element-wise maximum of two or more tensors, which broadcast.
class Maximum : public detail::Fold {
 public:
  Maximum() : Fold("Maximum", "maximum", &detail::merge_maximum) {}
};
/// Element-wise minimum of two or more tensors, which broadcast.
class Minimum : public detail::Fold {
 public:
  Minimum() : Fold("Minimum", "minimum", &detail::merge_minimum) {}
};
/// Mean of two or more tensors, which broadcast.
class TANDEM_API Average : public detail::Fold {
 public:
  Average() : Fold("Average", "average", &detail::merge_add) {}
  Tensor operator()(const TensorList& inputs) const;
};
/// Difference of two tensors, which broadcast.
class TANDEM_API Subtract : public Layer {
 public:
  Subtract() : Layer("subtract") {}
  Tensor operator()(const TensorList& inputs) const;
};

/// Concatenates tensors along an axis, by default the last.
class TANDEM_API Concatenate : public Layer {
 public:
  explicit Concatenate(int axis = -1) : Layer("concatenate"), axis_(axis) {}
  Tensor operator()(const TensorList& inputs) const;

 private:
  int axis_;
};

struct DotOptions {
  bool normalize = false;  ///< divide by the vectors' lengths: cosine similarity
};
/// Products of the vectors along an axis of two batches: for [b, n] and [b, n] and axis 1, [b, 1]; for [b, m, n] and
/// [b, k, n] and axis 2, [b, m, k]; for [b, m, n] and [b, n, k] and axes {2, 1}, [b, m, k].
///   throws    errors::InvalidArgumentError for ranks other than 2 and 3, the axis of the batch or one out of range, or
///             sizes that do not match
class TANDEM_API Dot : public Layer {
 public:
  /// axis: of both; negative ones count from the last.
  explicit Dot(int axis, DotOptions options = {}) : Dot(std::pair(axis, axis), options) {}
  /// axes: of the first and of the second.
  explicit Dot(std::pair<int, int> axes, DotOptions options = {}) : Layer("dot"), axes_(axes), options_(options) {}
  Tensor operator()(const TensorList& inputs) const;

 private:
  std::pair<int, int> axes_;
  DotOptions options_;
};

struct MergeOptions {
  tandem::Activation activation = tandem::Activation::linear;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};  ///< of each kernel by itself
  Constraint bias_constraint = {};
  DType dtype = DType::float32;
};
/// activation(x0 W0 + x1 W1 + ... + b), where the products broadcast: the same as a Dense layer of the concatenated
/// inputs, which must be tiled to a common shape for that, with less work and memory.
///   inputs    [..., n_i], one or more; their leading axes broadcast
///   returns   [..., units]
///   variables kernel [n_0, units], kernel_1 [n_1, units], ..., bias [units]. The initializer sees the sizes of the one
///             kernel [n_0 + n_1 + ..., units] of which they are the parts
class TANDEM_API Merge : public Layer {
 public:
  explicit Merge(i64 units, MergeOptions options = {});
  Tensor operator()(const TensorList& inputs) const;

 private:
  void build_for(const TensorList& inputs) const;
  Tensor run(const TensorList& inputs, const Tensors& weights) const;
  i64 units_;
  MergeOptions options_;
};

}  // namespace TANDEM_NS::layers
