// TensorList: a list of tensors as the argument of an op.
#pragma once
#include <initializer_list>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

/// A list of tensors as an argument: {a, b}, a vector or a span. It is valid only during the call.
class TensorList {
 public:
  TensorList(std::initializer_list<Tensor> list) : list_(list.begin(), list.size()) {}
  TensorList(const std::vector<Tensor>& list) : list_(list) {}
  TensorList(Span<const Tensor> list) : list_(list) {}
  Span<const Tensor> list() const { return list_; }
  std::size_t size() const { return list_.size(); }
  const Tensor& operator[](std::size_t i) const { return list_[i]; }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  Span<const Tensor> list_;
};

}  // namespace TANDEM_NS
