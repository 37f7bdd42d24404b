// Definitions of serving/infer_tensor.hpp, and the names of dtypes.
#pragma once
#include <cstring>
#include <limits>

#include "tandem/serving/infer_tensor.hpp"
#include "tandem/serving/json_infer.hpp"
#include "tandem/serving/rows.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::serving {

namespace impl {

struct Datatype {
  DType dtype;
  const char* name;
};
inline constexpr Datatype datatypes[] = {
    {DType::bool_, "BOOL"},    {DType::uint8, "UINT8"},  {DType::uint16, "UINT16"}, {DType::uint32, "UINT32"},
    {DType::uint64, "UINT64"}, {DType::int8, "INT8"},    {DType::int16, "INT16"},   {DType::int32, "INT32"},
    {DType::int64, "INT64"},   {DType::float16, "FP16"}, {DType::bfloat16, "BF16"}, {DType::float32, "FP32"},
    {DType::float64, "FP64"},  {DType::string, "BYTES"}};

TANDEM_INLINE void InferTensor::fail(const std::string& what) const {
  errors::raise<errors::InvalidArgumentError>(
      "serving", "the input " + tandem::detail::escaped_text(std::string_view(name).substr(0, 255)) + " " + what);
}
TANDEM_INLINE i64 elements_of(const InferTensor& input) {
  constexpr i64 most = std::numeric_limits<i64>::max() / 16;
  i64 n = 1;
  bool is_empty = false;
  for (const i64 d : *input.shape) {
    if (d == 0) is_empty = true;
    else if (d > most / n) input.fail("has a shape with more elements than there can be: " + to_string(*input.shape));
    else n *= d;
  }
  if (is_empty && n > most_of_empty)
    input.fail("has no elements, but sizes that are too large: " + to_string(*input.shape));
  return is_empty ? 0 : n;
}
TANDEM_INLINE Tensor bytes_tensor(const InferTensor& input, i64 n, std::string_view bytes) {
  if (static_cast<u64>(n) > bytes.size() / 4)
    input.fail("has " + std::to_string(bytes.size()) + " bytes of binary data, too few for " + std::to_string(n) +
               " lengths");
  const Tensor t = Tensor::allocate({*input.shape, DType::string, {}});
  for (i64 i = 0; i < n; ++i) {
    std::uint32_t length = 0;
    for (std::size_t k = 0; k < 4 && bytes.size() >= 4; ++k)
      length |= std::uint32_t{static_cast<unsigned char>(bytes[k])} << (8 * k);
    if (bytes.size() < 4 || length > bytes.size() - 4)
      input.fail("has binary data that end in element " + std::to_string(i));
    if (length > most_string_bytes) input.fail("has in element " + std::to_string(i) + " " + too_long(length));
    static_cast<Bytes*>(t.raw())[i] = Bytes(bytes.substr(4, length));
    bytes.remove_prefix(4 + length);
  }
  if (!bytes.empty())
    input.fail("has " + std::to_string(bytes.size()) + " bytes of binary data behind its last element");
  return t;
}
TANDEM_INLINE Tensor binary_tensor(const InferTensor& input, std::string_view bytes) {
  const i64 n = elements_of(input);
  if (*input.dtype == DType::string) return bytes_tensor(input, n, bytes);
  if (static_cast<u64>(n) * size_of(*input.dtype) != bytes.size())
    input.fail("is " + to_string(Spec(*input.shape, *input.dtype)) + ", which does not have " +
               std::to_string(bytes.size()) + " bytes of binary data");
  const Tensor t = Tensor::allocate({*input.shape, *input.dtype, {}});
  if (n) std::memcpy(t.raw(), bytes.data(), bytes.size());
  if (*input.dtype == DType::bool_)
    for (i64 i = 0; i < n; ++i) static_cast<char*>(t.raw())[i] = bytes[static_cast<std::size_t>(i)] != 0;
  return t;
}
TANDEM_INLINE void append_binary(std::string& to, const Tensor& t) {
  if (t.dtype() != DType::string) {
    if (t.size()) to.append(static_cast<const char*>(t.raw()), t.spec().bytes());
    return;
  }
  for (i64 i = 0; i < t.size(); ++i) {
    const std::string_view s = static_cast<const Bytes*>(t.raw())[i].view();
    for (int k = 0; k < 4; ++k) to += static_cast<char>(s.size() >> (8 * k) & 0xff);
    to += s;
  }
}

}  // namespace impl

TANDEM_INLINE const char* infer_datatype(DType d) {
  for (const impl::Datatype& t : impl::datatypes)
    if (t.dtype == d) return t.name;
  return nullptr;
}
TANDEM_INLINE std::optional<DType> dtype_of_infer(std::string_view name) {
  for (const impl::Datatype& t : impl::datatypes)
    if (t.name == name) return t.dtype;
  return {};
}

}  // namespace TANDEM_NS::serving
