// Numbers from strings and strings from numbers: to_number, as_string, format, to_hash_bucket. Part of the component
// tandem::strings.
#pragma once
#include <string>

#include "tandem/core/apply.hpp"
#include "tandem/ops/shape/concat.hpp"

namespace TANDEM_NS::strings {

/// Parses each string as a number; white space around it is ignored. Floating numbers may be "inf" or "nan"; what is
/// too large for them becomes infinite.
///   x         string
///   out_type  float32, float64 or an integer dtype
///   returns   that dtype, the shape of x
///   throws    errors::InvalidArgumentError with the first text that is not a number, or is out of the range of an
///             integer dtype
///   gradient  none (non-differentiable)
TANDEM_API Tensor to_number(const Tensor& x, DType out_type = DType::float32, OpOptions = {});

struct AsStringOptions {
  TANDEM_OP_OPTIONS;
  i64 precision = -1;       ///< digits after the point (in all with `.shortest`); -1: 6
  bool scientific = false;  ///< with an exponent, as 1.500000e+00
  bool shortest = false;    ///< with or without an exponent, whichever is shorter, and without zeros at the end
  i64 width = -1;           ///< the least length of the whole text, of complex numbers, too
  std::string fill = "";    ///< "0": zeros in front; "-": spaces behind; "+" and " ": a sign or space in front
};
/// Formats each number or bool_ as text: 1.5 is "1.500000", true is "true", 1+2i is "(1.000000,2.000000)".
///   x         numbers or bool_
///   returns   string, the shape of x
///   throws    errors::InvalidArgumentError for a precision or width out of [-1, 1000], another fill, or options for
///             floating numbers with other dtypes
///   gradient  none (non-differentiable)
TANDEM_API Tensor as_string(const Tensor& x, AsStringOptions = {});

struct FormatOptions {
  TANDEM_OP_OPTIONS;
  std::string placeholder = "{}";
  i64 summarize = 3;  ///< the number of values at both ends of each axis; -1: all
};
/// Formats a text, in which each placeholder is replaced by the values of a tensor, as print writes them: format("x is
/// {}", x) is "x is [1, 2]".
///   inputs    tensors of any dtype and shape; a scalar string is written without quotes
///   returns   string, a scalar
///   throws    errors::InvalidArgumentError if there are more or fewer placeholders than tensors, or for an empty one
///   gradient  none (non-differentiable)
TANDEM_API Tensor format(const std::string& text, const TensorList& inputs, FormatOptions = {});
TANDEM_API Tensor format(const std::string& text, const Tensor& input, FormatOptions = {});

/// Maps each string to a number in [0, num_buckets), the same in every run, on every machine and in every version:
/// the 64-bit FNV-1a hash of its bytes, whose bits are mixed once more, modulo num_buckets.
///   x         string
///   returns   int64, the shape of x
///   throws    errors::InvalidArgumentError for num_buckets below 1
///   gradient  none (non-differentiable)
/// Source: Fowler, Noll, Vo, http://www.isthe.com/chongo/tech/comp/fnv; the mixing is the finalizer of MurmurHash3.
TANDEM_API Tensor to_hash_bucket(const Tensor& x, i64 num_buckets, OpOptions = {});

namespace impl {
/// The hash of to_hash_bucket.
TANDEM_API u64 stable_hash(std::string_view s);
}  // namespace impl

}  // namespace TANDEM_NS::strings

namespace TANDEM_NS {

TANDEM_OPS(string_number_ops, string_to_number, as_string, string_format, to_hash_bucket)

namespace rules {
struct ToNumberAttrs {
  DType dtype;
  TANDEM_ATTRS(ToNumberAttrs, dtype);
};
struct AsStringAttrs {
  i64 precision, width;
  bool scientific, shortest;
  std::string fill;
  TANDEM_ATTRS(AsStringAttrs, precision, width, scientific, shortest, fill);
};
struct FormatAttrs {
  std::string text, placeholder;
  i64 summarize;
  TANDEM_ATTRS(FormatAttrs, text, placeholder, summarize);
};
struct BucketAttrs {
  i64 buckets;
  TANDEM_ATTRS(BucketAttrs, buckets);
};
}  // namespace rules
}  // namespace TANDEM_NS
