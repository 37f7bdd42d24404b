// Tensors and bytes: decode_raw, base64, serialized tensors; names of files by pattern. Part of the component
// tandem::strings.
#pragma once
#include <string>
#include <vector>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS::io {

struct DecodeRawOptions {
  TANDEM_OP_OPTIONS;
  bool little_endian = true;  ///< the order of the bytes of a number
};
/// Takes the bytes of strings as numbers.
///   x         string, all of one length
///   out_type  a number dtype or bool_
///   returns   the shape of x with a further axis: the numbers of each string
///   throws    errors::InvalidArgumentError if the strings have different lengths, or a length that is not a multiple
///             of the size of a number
///   gradient  none (non-differentiable)
TANDEM_API Tensor decode_raw(const Tensor& x, DType out_type, DecodeRawOptions = {});

struct EncodeBase64Options {
  TANDEM_OP_OPTIONS;
  bool pad = false;  ///< to a multiple of 4 characters, with '='
};
/// Encodes each string in the alphabet of base64 for URLs, with '-' and '_' (RFC 4648, section 5). Returns the shape of
/// x. gradient: none (non-differentiable)
TANDEM_API Tensor encode_base64(const Tensor& x, EncodeBase64Options = {});
/// Decodes each string, padded or not. Returns the shape of x. gradient: none (non-differentiable)
///   throws  errors::InvalidArgumentError, naming the element, for other characters or a length that is not possible
TANDEM_API Tensor decode_base64(const Tensor& x, OpOptions = {});

/// Writes a tensor of any dtype and shape to one string. The format: "TNDT", a byte 1 (the version), the dtype's
/// number, the rank, a byte 0; the sizes of the axes as 8 bytes each; the elements in row-major order, strings as their
/// length in 8 bytes and their bytes. All numbers are little-endian.
///   returns   string, a scalar
///   gradient  none (non-differentiable)
TANDEM_API Tensor serialize_tensor(const Tensor& x, OpOptions = {});
/// Reads what serialize_tensor has written; `out_type` must be its dtype. Not an op: shape and rank are unknown until
/// it has been read.
///   x       string, a scalar
///   throws  errors::DataLossError if the bytes are damaged; errors::InvalidArgumentError for another dtype than
///           out_type; errors::TraceError in a traced function
TANDEM_API Tensor parse_tensor(const Tensor& x, DType out_type, OpOptions = {});

/// The files and folders that match a pattern with `*`, `?` and `[...]`, none of which match '/'; sorted by their
/// bytes. Not an op: it reads the file system when it is called.
///   returns  string, [n]
TANDEM_API Tensor matching_files(const std::string& pattern);
TANDEM_API Tensor matching_files(const std::vector<std::string>& patterns);

}  // namespace TANDEM_NS::io

namespace TANDEM_NS {

TANDEM_OPS(codec_ops, decode_raw, encode_base64, decode_base64, serialize_tensor)

namespace rules {
struct DecodeRawAttrs {
  DType dtype;
  bool little_endian;
  TANDEM_ATTRS(DecodeRawAttrs, dtype, little_endian);
};
struct Base64Attrs {
  bool pad;
  TANDEM_ATTRS(Base64Attrs, pad);
};
}  // namespace rules
}  // namespace TANDEM_NS
