// Dims: the shape argument of ops, whose entries may be numbers or scalar tensors (get_shape gives both in a trace).
// Not here: the ops that take one (create/fill.hpp, random/draw.hpp, reshape.hpp, which also brings the definitions of
// what is declared here).
#pragma once
#include <concepts>
#include <vector>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

/// One entry of a shape: a number, or an integer scalar tensor. Refers to the tensor, which must outlive it.
class Dim {
 public:
  template <std::integral I>
  constexpr Dim(I n) : number_(static_cast<i64>(n)) {}
  constexpr Dim(Dimension n) : number_(n.number_or_none()) {}
  Dim(const Tensor& t) : tensor_(&t) {}

  const Tensor* tensor() const { return tensor_; }
  i64 number() const { return number_; }

 private:
  i64 number_ = 0;
  const Tensor* tensor_ = nullptr;
};

/// A shape argument: {2, -1}, {n, 320} with a scalar tensor n, a Shape, a vector, or an integer tensor of rank 1.
/// Lives for the call it is an argument of.
class TANDEM_API Dims {
 public:
  Dims() = default;
  Dims(const Shape& shape) : numbers_(shape) {}
  Dims(std::initializer_list<Dim> dims) {
    for (const Dim& d : dims) push(d);
  }
  template <std::integral I>
  Dims(const std::vector<I>& dims) {
    for (I d : dims) numbers_.push(static_cast<i64>(d));
  }
  Dims(const Tensor& dims) : whole_(&dims) {}

  /// Whether every entry's value can be read now; not so while a function is traced on it.
  bool is_known() const;
  /// The entries as numbers.
  ///   throws  errors::InvalidArgumentError, in the op's name, for tensors that are not integers of the right rank
  Shape numbers(const char* op) const;
  /// The same, with `none` for what cannot be read now.
  Shape known(const char* op) const;
  /// The entries as one int64 tensor of rank 1.
  Tensor tensor(const char* op) const;

  void push(const Dim& d) {
    numbers_.push(d.number());
    if (!d.tensor() && !has_tensors_) return;
    if (!has_tensors_)
      for (const Tensor*& t : at_) t = nullptr;
    has_tensors_ = true;
    at_[numbers_.rank() - 1] = d.tensor();
  }

 private:
  Shape numbers_;
  const Tensor* whole_ = nullptr;
  bool has_tensors_ = false;
  const Tensor* at_[max_rank];  // set only where has_tensors_
};

/// The same among an op's options, where it may be left out. Not std::optional, for which {.shape = {2, n}} would not
/// compile.
class DimsArg {
 public:
  DimsArg() = default;
  DimsArg(const Dims& dims) : dims_(dims), given_(true) {}
  DimsArg(std::initializer_list<Dim> dims) : dims_(dims), given_(true) {}
  const Dims* get() const { return given_ ? &dims_ : nullptr; }

 private:
  Dims dims_;
  bool given_ = false;
};

}  // namespace TANDEM_NS
