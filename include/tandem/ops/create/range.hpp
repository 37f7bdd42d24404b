// Sequences: range, linspace, sequence_mask. From C++ numbers they are host constants (in a trace they are captured
// and add no node); from tensors they are ops, whose length may be known only when they run.
#pragma once
#include "tandem/attrs/create.hpp"
#include "tandem/base/scalar.hpp"
#include "tandem/ops/create/constant.hpp"

namespace TANDEM_NS {

struct RangeOptions {
  TANDEM_OP_OPTIONS;
  std::optional<DType> dtype = {};  ///< default: float32 if any argument is floating, else the widest of their
                                    ///< types and int
};
struct LinspaceOptions {
  TANDEM_OP_OPTIONS;
  int axis = 0;                     ///< position of the new axis; with number arguments it is the only axis
  std::optional<DType> dtype = {};  ///< floating; default: float32 for numbers, else the tensors' dtype
};
struct SequenceMaskOptions {
  TANDEM_OP_OPTIONS;
  DType dtype = DType::bool_;
};

namespace detail {
template <class T>
concept Number = std::is_arithmetic_v<T> || std::same_as<T, Dimension>;
// float and double make float32 (as literals do); integers make the widest of their types and int.
template <class... T>
constexpr DType range_dtype() {
  using C = std::common_type_t<int, std::conditional_t<std::same_as<T, Dimension>, i64, T>...>;
  return std::is_floating_point_v<C> ? DType::float32 : dtype_of_v<C>;
}
TANDEM_API Tensor range_of_numbers(Scalar start, Scalar limit, Scalar delta, DType natural, const RangeOptions& o);
TANDEM_API Tensor range_to(const Tensor& limit, const OpOptions& o);
}  // namespace detail

/// Returns the numbers start, start + delta, ... up to but excluding limit, as a tensor of rank 1. There are
/// ceil((limit - start) / delta) of them; the quotient is that of the result's dtype, as in TensorFlow, so that
/// range(0, 0.3, 0.1) does not have 0.3 in any.
///   throws    errors::InvalidArgumentError if delta is 0 or has the wrong sign, or if an integer dtype cannot
///             represent the numbers: an argument has a fraction, or an element is out of range
///   gradient  none
template <detail::Number L>
Tensor range(L limit, RangeOptions options = {}) {
  return detail::range_of_numbers(0, limit, 1, detail::range_dtype<L>(), options);
}
template <detail::Number S, detail::Number L>
Tensor range(S start, L limit, RangeOptions options = {}) {
  return detail::range_of_numbers(start, limit, 1, detail::range_dtype<S, L>(), options);
}
template <detail::Number S, detail::Number L, detail::Number D>
Tensor range(S start, L limit, D delta, RangeOptions options = {}) {
  return detail::range_of_numbers(start, limit, delta, detail::range_dtype<S, L, D>(), options);
}
/// As above, from rank-0 host tensors of the same integer or floating dtype. In a trace, the length is an unknown
/// dimension if any of them is computed.
TANDEM_API Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta, OpOptions options = {});
/// Returns 0, 1, ... up to but excluding limit.
template <std::same_as<Tensor> T>
Tensor range(const T& limit, OpOptions options = {}) {
  return detail::range_to(limit, options);
}

/// Returns num evenly spaced numbers from start to stop, both included exactly, as a tensor of rank 1. num = 1
/// returns start.
///   throws    errors::InvalidArgumentError if num < 1, for a non-floating dtype, or for an axis out of range
///   gradient  none
TANDEM_API Tensor linspace(Scalar start, Scalar stop, i64 num, LinspaceOptions options = {});
/// Interpolates between two tensors of the same shape, along a new axis `.axis` of the result.
///   start     floating, any shape; stop: same shape and dtype
///   gradient  to start: the sum of g (1 - t); to stop: the sum of g t, where t runs from 0 to 1 along the new axis
TANDEM_API Tensor linspace(const Tensor& start, const Tensor& stop, i64 num, LinspaceOptions options = {});
/// As above, with the dtype as a positional argument: linspace(0, 1, 5, float64).
template <std::same_as<DType> D>  // a template so that {} does not convert to a dtype
Tensor linspace(Scalar start, Scalar stop, i64 num, D dtype, LinspaceOptions o = {}) {
  return o.dtype = dtype, linspace(start, stop, num, o);
}

/// Creates masks that are true at the first lengths[i] positions of row i: [1, 3, 2], 5 -> TFFFF TTTFF TTFFF.
///   lengths   int32 or int64, any shape
///   maxlen    size of the new last axis, a number or an integer tensor of rank 0; default: the largest length (0 if
///             there are none)
///   returns   shape lengths.shape + [maxlen], dtype `.dtype` (true is 1)
///   throws    errors::InvalidArgumentError for a negative maxlen or a non-numeric dtype
///   gradient  none (non-differentiable)
TANDEM_API Tensor sequence_mask(const Tensor& lengths, std::optional<i64> maxlen = {},
                                SequenceMaskOptions options = {});
template <std::same_as<Tensor> T>  // a template so that {} does not convert to a tensor
Tensor sequence_mask(const Tensor& lengths, const T& maxlen, SequenceMaskOptions options = {});

namespace detail {
TANDEM_API Tensor sequence_mask_to(const Tensor& lengths, const Tensor* maxlen, const SequenceMaskOptions& options);
}
template <std::same_as<Tensor> T>
Tensor sequence_mask(const Tensor& lengths, const T& maxlen, SequenceMaskOptions options) {
  return detail::sequence_mask_to(lengths, &maxlen, options);
}

TANDEM_OPS(range_ops, range, sequence_mask)

}  // namespace TANDEM_NS
