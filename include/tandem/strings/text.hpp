// Joining, splitting and cutting of strings. Strings are bytes; what counts characters says so. Part of the component
// tandem::strings. Not here: regular expressions (regex.hpp), numbers (numbers.hpp).
#pragma once
#include <concepts>
#include <string>
#include <string_view>

#include "tandem/core/apply.hpp"
#include "tandem/ops/shape/concat.hpp"

namespace TANDEM_NS::strings {

/// What a position or a length counts.
enum class Unit : std::uint8_t { byte, utf8_char };
inline constexpr Unit byte = Unit::byte, utf8_char = Unit::utf8_char;

struct JoinOptions {
  TANDEM_OP_OPTIONS;
  std::string separator = "";
};
/// Joins strings element by element: join({"a", x}, {.separator = "/"}).
///   list      at least one string tensor; shapes that broadcast
///   returns   string, the broadcast shape
///   throws    errors::InvalidArgumentError for an empty list or shapes that do not broadcast
///   gradient  none (non-differentiable)
TANDEM_API Tensor join(const TensorList& list, JoinOptions = {});

struct ReduceJoinOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = {};  ///< default: all axes, from the last to the first
  bool keepdims = false;
  std::string separator = "";
};
/// Joins the strings along axes, one axis after the other in the order of `.axis`: of [["a", "b"], ["c", "d"]], axis
/// {0, 1} gives "acbd", {1, 0} and the default give "abcd".
///   x         string
///   returns   string, the shape of x without the axes; an axis of size 0 gives ""
///   throws    errors::InvalidArgumentError for an axis out of range or listed twice
///   gradient  none (non-differentiable)
TANDEM_API Tensor reduce_join(const Tensor& x, ReduceJoinOptions = {});
TANDEM_AXES_OVERLOADS(reduce_join, ReduceJoinOptions, axis)

struct SplitOptions {
  TANDEM_OP_OPTIONS;
  std::string sep = "";  ///< default: runs of white space, of which those at both ends are dropped
  i64 maxsplit = -1;     ///< the most separators to split at; -1: all
};
/// The pieces of all strings in turn, and how many each string has.
struct Pieces {
  Tensor row_lengths;  ///< int64, the shape of x
  Tensor values;       ///< string, [n]
};
/// Splits each string at a separator.
///   x         string
///   throws    errors::InvalidArgumentError for a maxsplit below -1
///   gradient  none (non-differentiable)
/// Without a `.sep`, white space at the beginning is dropped, and that at the end unless it is behind the
/// `.maxsplit`-th separator, as by Python's str.split. With a `.sep`, two separators in a row have an empty piece
/// between them, and an empty string is one empty piece.
TANDEM_API Pieces split(const Tensor& x, SplitOptions = {});
/// As above, with the separator as an argument: split(x, ",").
template <std::convertible_to<std::string_view> S>  // a template, so that {.maxsplit = 1} is options
Pieces split(const Tensor& x, const S& sep, SplitOptions o = {}) {
  o.sep = std::string_view(sep);
  return split(x, o);
}

/// Removes white space (ASCII) at both ends of each string. Returns the shape of x. gradient: none (non-differentiable)
TANDEM_API Tensor strip(const Tensor& x, OpOptions = {});
/// Converts the ASCII letters of each string to lower case; other bytes stay. gradient: none (non-differentiable)
TANDEM_API Tensor lower(const Tensor& x, OpOptions = {});
/// Converts the ASCII letters of each string to upper case. Otherwise as lower. gradient: none (non-differentiable)
TANDEM_API Tensor upper(const Tensor& x, OpOptions = {});

struct LengthOptions {
  TANDEM_OP_OPTIONS;
  Unit unit = Unit::byte;  ///< utf8_char: malformed UTF-8 counts as many characters as unicode_decode makes
};
/// The length of each string. Returns int32, the shape of x. gradient: none (non-differentiable)
TANDEM_API Tensor length(const Tensor& x, LengthOptions = {});

struct SubstrOptions {
  TANDEM_OP_OPTIONS;
  Unit unit = Unit::byte;  ///< of positions and lengths
};
/// Extracts a part of each string: `len` units from `pos` on, or as many as there are.
///   x         string
///   pos, len  int32 or int64; shapes that broadcast with that of x; a negative position counts from the end
///   returns   string, the broadcast shape
///   throws    errors::InvalidArgumentError, naming the string, for a position past either end or a negative length
///   gradient  none (non-differentiable)
TANDEM_API Tensor substr(const Tensor& x, const Tensor& pos, const Tensor& len, SubstrOptions = {});
TANDEM_API Tensor substr(const Tensor& x, i64 pos, i64 len, SubstrOptions = {});

struct NgramsOptions {
  TANDEM_OP_OPTIONS;
  std::string separator = " ";
};
/// The n-grams of the last axis: each run of `ngram_width` strings, joined.
///   x         string, [..., n]
///   returns   string, [..., max(0, n - ngram_width + 1)]
///   throws    errors::InvalidArgumentError for a scalar or a width below 1
///   gradient  none (non-differentiable)
TANDEM_API Tensor ngrams(const Tensor& x, i64 ngram_width, NgramsOptions = {});

}  // namespace TANDEM_NS::strings

namespace TANDEM_NS {

template <>
inline constexpr int enumerators<strings::Unit> = 2;

TANDEM_OPS(string_ops, string_join, reduce_join, string_split, string_strip, string_lower, string_upper, string_length,
           substr)

namespace rules {
struct StringJoinAttrs {
  std::string separator;
  TANDEM_ATTRS(StringJoinAttrs, separator);
};
struct ReduceJoinAttrs {
  Axes axis;
  bool keepdims;
  std::string separator;
  TANDEM_ATTRS(ReduceJoinAttrs, axis, keepdims, separator);
};
struct SplitTextAttrs {
  std::string sep;
  i64 maxsplit;
  TANDEM_ATTRS(SplitTextAttrs, sep, maxsplit);
};
struct UnitAttrs {
  strings::Unit unit;
  TANDEM_ATTRS(UnitAttrs, unit);
};
}  // namespace rules
}  // namespace TANDEM_NS
