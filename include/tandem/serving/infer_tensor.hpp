// Tensors as the Open Inference Protocol sends them: their bytes, little-endian; BOOL one byte, each of BYTES behind
// its length of 4 bytes. For the definitions of serving.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::serving::impl {

/// What is known of an input.
struct InferTensor {
  std::string name;
  std::optional<Shape> shape = {};
  std::optional<DType> dtype = {};

  ///   throws  errors::InvalidArgumentError: "the input 'x' " and what
  [[noreturn]] TANDEM_API void fail(const std::string& what) const;
};

/// The elements of its shape.
///   throws  errors::InvalidArgumentError for more than memory can hold
TANDEM_API i64 elements_of(const InferTensor& input);
/// The tensor of its shape and dtype with these bytes.
///   throws  errors::InvalidArgumentError for another number of bytes
TANDEM_API Tensor binary_tensor(const InferTensor& input, std::string_view bytes);
/// Appends the bytes of a tensor in memory of the CPU.
TANDEM_API void append_binary(std::string& to, const Tensor& t);

}  // namespace TANDEM_NS::serving::impl
