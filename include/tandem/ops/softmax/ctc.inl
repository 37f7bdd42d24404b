// Definitions of ops/softmax/ctc.hpp.
#pragma once
#include <limits>
#include <vector>

#include "tandem/core/scope.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/index/gather_nd.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/arg.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/ops/softmax/ctc.hpp"
#include "tandem/ops/softmax/softmax.hpp"

namespace TANDEM_NS {
namespace detail {

inline constexpr double ctc_never = -std::numeric_limits<double>::infinity();  // the logarithm of no probability

[[noreturn]] TANDEM_INLINE void raise_ctc(const char* op, const std::string& what) {
  errors::raise<errors::InvalidArgumentError>(op, what);
}
TANDEM_INLINE void check_ctc_lengths(const char* op, const char* what, const Tensor& t, i64 batch) {
  if (!dtypes::index.has(t.dtype()) || t.rank() != 1 || (batch != none && t.shape().dim(0) != batch))
    raise_ctc(
        op, std::string(what) + " must be int32 or int64 [" + std::to_string(batch) + "], not " + to_string(t.spec()));
}
// Raises unless each length is in [0, most], also where it is only known when a traced function runs.
TANDEM_INLINE void check_ctc_range(const char* op, const char* what, const Tensor& lengths, i64 most) {
  using debugging::impl::Relation;
  const debugging::AssertOptions o{.message = std::string(what) + " must be in [0, " + std::to_string(most) + "]"};
  debugging::impl::sign(op, Relation::greater_equal, lengths, o);
  debugging::impl::compared(op, Relation::less_equal, lengths, most, o);
}
// Raises if a label that counts is not a class, or the blank. The gather below would count negative ones from the last.
TANDEM_INLINE void check_ctc_labels(const char* op, const Tensor& labels, const Tensor& within, i64 blank,
                                    i64 classes) {
  using debugging::impl::Relation;
  const i64 least = blank == 0 ? 1 : 0, most = blank == classes - 1 && blank > 0 ? classes - 2 : classes - 1;
  const Tensor counted = where(within, labels, Scalar(least));
  const debugging::AssertOptions o{.message = "labels must be classes in [0, " + std::to_string(classes) +
                                              ") other than the blank, " + std::to_string(blank) +
                                              "; padding is behind the last label of a row"};
  debugging::impl::compared(op, Relation::greater_equal, counted, least, o);
  debugging::impl::compared(op, Relation::less_equal, counted, most > least ? most : least, o);
  if (least <= blank && blank <= most) debugging::impl::compared(op, Relation::not_equal, counted, blank, o);
}
// x [t, b, c] with 0 past the sequences' lengths: what is there may be NaN, which 0 times would keep in the gradient.
TANDEM_INLINE Tensor ctc_within(const Tensor& x, const Tensor& lengths) {
  const DeviceScope there(x.device());
  const Tensor runs = less(expand_dims(range(x.shape()[0]), 1), expand_dims(lengths, 0));
  return where(expand_dims(runs, -1), x, scalar_like(0, x));
}
TANDEM_INLINE i64 ctc_blank(const char* op, i64 blank, i64 classes) {
  if (blank < -classes || blank >= classes)
    raise_ctc(op, "blank_index " + std::to_string(blank) + " is outside [-" + std::to_string(classes) + ", " +
                      std::to_string(classes) + ")");
  return blank < 0 ? blank + classes : blank;
}
// x [b, s] moved by n places, with -inf before its first.
TANDEM_INLINE Tensor ctc_delayed(const Tensor& x, i64 n) {
  const i64 b = x.shape()[0], s = x.shape()[1];
  const Tensor start = fill({b, n < s ? n : s}, ctc_never, {.dtype = x.dtype()});
  return concat({start, x(Slice(), Slice(0, n < s ? s - n : 0))}, 1);
}
// A blank before, between and behind the labels: [b, 2 l + 1].
TANDEM_INLINE Tensor ctc_states(const Tensor& labels, i64 blank) {
  const i64 b = labels.shape()[0], l = labels.shape()[1];
  const Tensor blanks = full_like(labels, Scalar(blank));
  return concat(
      {reshape(stack({blanks, labels}, {.axis = 2}), {b, 2 * l}), fill({b, 1}, blank, {.dtype = labels.dtype()})}, 1);
}
// Logarithms of the probabilities of all ways to each state, after the last step of each sequence.
TANDEM_INLINE Tensor ctc_forward(const Tensor& log_p, const Tensor& states, i64 blank, const Tensor& logit_length) {
  const i64 steps = log_p.shape()[0], b = log_p.shape()[1], s = states.shape()[1];
  const Tensor emission = take_along_axis(log_p, broadcast_to(expand_dims(states, 0), {steps, b, s}), -1);
  const Tensor impossible = fill({b, s}, ctc_never, {.dtype = log_p.dtype()});
  // From one label to another one the blank between them may be left out.
  const Tensor two_before = concat(
      {fill({b, s < 2 ? s : 2}, blank, {.dtype = states.dtype()}), states(Slice(), Slice(0, s < 2 ? 0 : s - 2))}, 1);
  const Tensor may_skip = logical_and(states != Scalar(blank), states != two_before);
  const Tensor is_start = less(range(s), Scalar(2));
  // Before the first step a sequence is in the blank before its labels, which counts only if it has no steps.
  const Tensor before = where(less(range(s), Scalar(1)), zeros_like(impossible), impossible);
  const Tensor has_steps = expand_dims(greater(logit_length, Scalar(0)), 1);
  Tensor alpha = where(has_steps, where(is_start, emission[0], impossible), before);
  for (i64 t = 1; t < steps; ++t) {
    const Tensor ways = stack({alpha, ctc_delayed(alpha, 1), where(may_skip, ctc_delayed(alpha, 2), impossible)});
    const Tensor next = emission[t] + reduce_logsumexp(ways, 0);
    alpha = where(expand_dims(greater(logit_length, Scalar(t)), 1), next, alpha);
  }
  return alpha;
}

}  // namespace detail

TANDEM_INLINE Tensor nn::ctc_loss(const Tensor& labels, const Tensor& logits, const Tensor& label_length,
                                  const Tensor& logit_length, CtcLossOptions o) {
  const detail::CallSite call(o);
  const char* const op = "nn::ctc_loss";
  if (logits.rank() != 3 || !is_floating(logits.dtype()) || !logits.shape().is_fully_defined())
    detail::raise_ctc(op, "logits must be floating and of rank 3, with known sizes, not " + to_string(logits.spec()));
  const Tensor all = o.logits_time_major ? logits : transpose(logits, {1, 0, 2});
  const i64 t = all.shape()[0], b = all.shape()[1], c = all.shape()[2];
  if (t == 0) detail::raise_ctc(op, "logits need a step: " + to_string(logits.spec()));
  if (labels.rank() != 2 || !dtypes::index.has(labels.dtype()) || labels.shape().dim(0) != b ||
      labels.shape().dim(1) == none)
    detail::raise_ctc(op,
                      "labels must be int32 or int64 [" + std::to_string(b) + ", l], not " + to_string(labels.spec()));
  detail::check_ctc_lengths(op, "label_length", label_length, b);
  detail::check_ctc_lengths(op, "logit_length", logit_length, b);
  const i64 blank = detail::ctc_blank(op, o.blank_index, c);
  detail::check_ctc_range(op, "label_length", label_length, labels.shape()[1]);
  detail::check_ctc_range(op, "logit_length", logit_length, t);
  const Tensor run = cast(logit_length, DType::int64), steps = detail::ctc_within(all, run);
  const Tensor within = less(range(labels.shape()[1]), expand_dims(cast(label_length, DType::int64), 1));
  const Tensor all_labels = cast(labels, DType::int64);
  detail::check_ctc_labels(op, all_labels, within, blank, c);
  const Tensor wide = where(within, all_labels, Scalar(blank));
  const Tensor states = detail::ctc_states(wide, blank);
  const Tensor alpha = detail::ctc_forward(nn::log_softmax(steps), states, blank, run);
  // A sequence ends in its last label or in the blank behind it.
  const Tensor last = 2 * expand_dims(cast(label_length, DType::int64), 1);
  const Tensor place = range(states.shape()[1]);
  const Tensor is_end = logical_or(equal(place, last), equal(place, last - 1));
  return -reduce_logsumexp(where(is_end, alpha, Scalar(detail::ctc_never)), 1);
}

TANDEM_INLINE nn::CtcDecoded nn::ctc_greedy_decoder(const Tensor& all, const Tensor& sequence_length,
                                                    CtcGreedyDecoderOptions o) {
  const detail::CallSite call(o);
  const char* const op = "nn::ctc_greedy_decoder";
  if (all.rank() != 3 || !is_floating(all.dtype()) || !all.shape().is_fully_defined() || all.shape().dim(2) < 1)
    detail::raise_ctc(op,
                      "inputs must be floating [t, b, c], with known sizes and a class, not " + to_string(all.spec()));
  const i64 t = all.shape()[0], b = all.shape()[1], c = all.shape()[2];
  detail::check_ctc_lengths(op, "sequence_length", sequence_length, b);
  detail::check_ctc_range(op, "sequence_length", sequence_length, t);
  const Tensor inputs = detail::ctc_within(all, cast(sequence_length, DType::int64));
  const i64 blank = detail::ctc_blank(op, o.blank_index, c);
  const Tensor ids = transpose(argmax(inputs, -1));  // [b, t]
  const Tensor within = less(range(t), expand_dims(cast(sequence_length, DType::int64), 1));
  Tensor keep = logical_and(within, ids != Scalar(blank));
  if (o.merge_repeated && t > 0) {
    const Tensor before = concat({fill({b, 1}, i64{-1}, {.dtype = DType::int64}), ids(Slice(), Slice(0, t - 1))}, 1);
    keep = logical_and(keep, ids != before);
  }
  const Tensor largest = transpose(reduce_max(inputs, -1));
  return {boolean_mask(ids, keep), reduce_sum(cast(keep, DType::int64), 1),
          -reduce_sum(where(within, largest, Scalar(0)), {.axis = 1, .keepdims = true})};
}

}  // namespace TANDEM_NS
