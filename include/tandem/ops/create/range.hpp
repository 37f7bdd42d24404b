// Sequences: range, linspace, sequence_mask. From C++ numbers they are host constants (in a trace: captured, no node);
// from tensors they are ops, whose length may be known only when they run.
#pragma once
#include "tandem/base/scalar.hpp"
#include "tandem/ops/create/attrs.hpp"
#include "tandem/ops/create/constant.hpp"

namespace TANDEM_NS {

struct RangeOptions {
  TANDEM_OP_OPTIONS;
  std::optional<DType> dtype =
      {};  ///< default: float32 if a number has a fraction's type, int64 if one is 64 bits wide
};
struct LinspaceOptions {
  TANDEM_OP_OPTIONS;
  int axis = 0;                     ///< where the new axis stands; of numbers there is no other
  std::optional<DType> dtype = {};  ///< floating; default: float32 for numbers, that of the tensors
};
struct SequenceMaskOptions {
  TANDEM_OP_OPTIONS;
  DType dtype = DType::bool_;
};

namespace detail {
template <class T>
concept Number = std::is_arithmetic_v<T> || std::same_as<T, Dimension>;
// float and double numbers make float32 (as literals do), integers the widest of theirs and int.
template <class... T>
constexpr DType range_dtype() {
  using C = std::common_type_t<int, std::conditional_t<std::same_as<T, Dimension>, i64, T>...>;
  return std::is_floating_point_v<C> ? DType::float32 : dtype_of_v<C>;
}
TANDEM_API Tensor range_of_numbers(Scalar start, Scalar limit, Scalar delta, DType natural, const RangeOptions& o);
TANDEM_API Tensor range_to(const Tensor& limit, const OpOptions& o);
}  // namespace detail

/// start, start + delta, ... before limit: ceil((limit - start) / delta) numbers, of rank 1.
///   throws    errors::InvalidArgumentError if delta is 0 or leads away from limit, or for an integer dtype that
///             does not hold the numbers: those given have a fraction, those made are out of its range
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
/// The same from rank-0 tensors of one dtype (integers or floating), on the host. In a trace the length stays open
/// where one of them is computed.
TANDEM_API Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta, OpOptions options = {});
/// 0, 1, ... before limit.
template <std::same_as<Tensor> T>
Tensor range(const T& limit, OpOptions options = {}) {
  return detail::range_to(limit, options);
}

/// num evenly spaced numbers from start to stop, both included exactly; num = 1 gives start. Rank 1.
///   throws    errors::InvalidArgumentError if num < 1, for a dtype that is not floating, or an axis that is not there
///   gradient  none
TANDEM_API Tensor linspace(Scalar start, Scalar stop, i64 num, LinspaceOptions options = {});
/// The same between tensors of one shape, along a new axis `.axis` of the result.
///   start     floating, any shape; stop: of the same shape and dtype
///   gradient  linear: to start the sum of g (1 - t), to stop the sum of g t, for t from 0 to 1
TANDEM_API Tensor linspace(const Tensor& start, const Tensor& stop, i64 num, LinspaceOptions options = {});
/// The same with the dtype by position: linspace(0, 1, 5, float64).
template <std::same_as<DType> D>  // a template: {} is no dtype
Tensor linspace(Scalar start, Scalar stop, i64 num, D dtype, LinspaceOptions o = {}) {
  return o.dtype = dtype, linspace(start, stop, num, o);
}

/// Row i is true before position lengths[i]: [1, 3, 2], 5 -> TFFFF TTTFF TTFFF.
///   lengths   int32 or int64, any shape
///   maxlen    the new last axis; default: the longest length (0 if there are none); also a rank-0 integer tensor
///   returns   lengths' shape + [maxlen], of `.dtype` (true is 1)
///   throws    errors::InvalidArgumentError for a negative maxlen or a dtype that holds no numbers
///   gradient  none (blocked)
TANDEM_API Tensor sequence_mask(const Tensor& lengths, std::optional<i64> maxlen = {},
                                SequenceMaskOptions options = {});
template <std::same_as<Tensor> T>  // a template: {} is no tensor
Tensor sequence_mask(const Tensor& lengths, const T& maxlen, SequenceMaskOptions options = {});

namespace detail {
TANDEM_API Tensor sequence_mask_to(const Tensor& lengths, const Tensor* maxlen, const SequenceMaskOptions& options);
}
template <std::same_as<Tensor> T>
Tensor sequence_mask(const Tensor& lengths, const T& maxlen, SequenceMaskOptions options) {
  return detail::sequence_mask_to(lengths, &maxlen, options);
}

extern TANDEM_API const OpDef range_op, sequence_mask_op;
inline constexpr const OpDef* range_ops[] = {&range_op, &sequence_mask_op};

}  // namespace TANDEM_NS
