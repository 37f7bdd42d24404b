// tensorflow.TensorProto, from and to tensors. For the definitions of serving. Field numbers:
// tensorflow/core/framework/tensor.proto, tensor_shape.proto, types.proto.
#pragma once
#include <string>
#include <string_view>

#include "tandem/core/tensor.hpp"
#include "tandem/io/wire.hpp"

namespace TANDEM_NS::serving::impl {

/// Appends a field that is a TensorProto, with its values as `tensor_content`, texts as `string_val`.
TANDEM_API void append_tensor(std::string& to, std::uint32_t field, const Tensor& x);

/// The tensor of a TensorProto: with `tensor_content`, or with values of its dtype. Fewer than the shape has repeat the
/// last one, as in TensorFlow, up to 2^20 elements; of strings one may fill the shape.
///   what    names the tensor in errors
///   fill    the bytes that elements without a value of their own may take; they are taken off
///   throws  errors::InvalidArgumentError for a message that is damaged, a dtype that tensors do not have, a shape of
///           more than 8 dimensions or with unknown sizes, and another number of values;
///           errors::ResourceExhaustedError if .fill does not suffice
TANDEM_API Tensor parse_tensor(std::string_view message, const std::string& what, i64& fill);

/// Appends the numbers of a field of a repeated type, packed or one by one, as bytes of the dtype. Integers lose their
/// high bits; of bool every number but 0 is true.
///   what    names the tensor in errors
///   throws  errors::InvalidArgumentError for a field that is damaged or of another type
TANDEM_API void append_values(std::string& to, DType d, const io::detail::WireReader& in, const std::string& what);

}  // namespace TANDEM_NS::serving::impl
