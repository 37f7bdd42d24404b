// Reads the tensors that summaries are given. For the definitions of the writer.
#pragma once
#include <string>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/ops/cast.hpp"

namespace TANDEM_NS::summary::detail {

[[noreturn]] inline void refuse(const char* op, const std::string& what) {
  errors::raise<errors::InvalidArgumentError>(op, what);
}
/// Raises unless the tensor has a value, and one of these dtypes.
inline void check_dtypes(const char* op, const Tensor& x, DTypes dtypes, const char* which) {
  tandem::detail::check_value(op, x);
  if (!dtypes.has(x.dtype())) refuse(op, "takes " + std::string(which) + ", not " + to_string(x.spec()));
}
inline constexpr DTypes real_numbers = dtypes::real | dtypes::half_floating | dtypes::boolean;

/// The tensor in host memory as another dtype. No tape records that.
inline Tensor on_host(const Tensor& x, DType dtype) {
  const tandem::detail::Unobserved unobserved;
  return cast(x.cpu(), dtype);
}
template <class T>
std::vector<T> elements(const Tensor& x) {
  return on_host(x, dtype_of<T>()).template to_vector<T>();
}

}  // namespace TANDEM_NS::summary::detail
