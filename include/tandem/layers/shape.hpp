// Layers that rearrange their input: Flatten, Reshape, Permute, RepeatVector. They have no weights.
#pragma once
#include <vector>

#include "tandem/layers/layer.hpp"

namespace TANDEM_NS::layers {

/// Flattens all axes but the first: [b, ...] to [b, n]. A tensor of rank 1 becomes [b, 1].
class TANDEM_API Flatten : public Layer {
 public:
  Flatten() : Layer("flatten") {}
  Tensor operator()(const Tensor& x) const;
};

/// Reshapes each example: [b, ...] to [b, target...]; one target size may be -1.
///   throws    errors::InvalidArgumentError if the number of elements does not match
class TANDEM_API Reshape : public Layer {
 public:
  explicit Reshape(const Shape& target_shape) : Layer("reshape"), target_(target_shape) {}
  Tensor operator()(const Tensor& x) const;

 private:
  Shape target_;
};

/// Permutes the axes of each example. Axes count from 1, as in Keras: Permute({2, 1}) swaps the two after the batch.
///   throws    errors::InvalidArgumentError if `dims` is not a permutation of 1 to n, or x is not of rank n + 1
class TANDEM_API Permute : public Layer {
 public:
  explicit Permute(std::vector<int> dims);
  Tensor operator()(const Tensor& x) const;

 private:
  std::vector<int> perm_;
};

/// Repeats each row n times: [b, f] to [b, n, f].
class TANDEM_API RepeatVector : public Layer {
 public:
  explicit RepeatVector(i64 n) : Layer("repeat_vector"), n_(detail::positive("RepeatVector", "n", n)) {}
  Tensor operator()(const Tensor& x) const;

 private:
  i64 n_;
};

}  // namespace TANDEM_NS::layers
