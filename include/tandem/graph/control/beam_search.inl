// Definitions of graph/control/beam_search.hpp.
#pragma once
#include <limits>

#include "tandem/graph/control/beam_search.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/softmax/softmax.hpp"

namespace TANDEM_NS::detail {

inline constexpr float impossible_log_prob = -std::numeric_limits<float>::infinity();

TANDEM_LAZY [[noreturn, gnu::cold]] TANDEM_INLINE void raise_beam_search(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("rnn_beam_search", what);
}
TANDEM_LAZY_INLINE void check_beam_search(const nn::BeamSearchOptions& o) {
  if (o.sequence_length == none) raise_beam_search("needs .sequence_length, the number of tokens to search");
  if (o.sequence_length < 0) raise_beam_search("sequence_length " + std::to_string(o.sequence_length) + " is negative");
  if (o.beam_width < 1) raise_beam_search("beam_width " + std::to_string(o.beam_width) + " is not positive");
  for (i64 id : {o.begin_token_id, o.end_token_id})
    if (id != none && (id < 0 || id > std::numeric_limits<int>::max()))
      raise_beam_search("token " + std::to_string(id) + " is not an id");
}
// [batch, width]: row i holds the sequence number i in every column.
TANDEM_LAZY inline Tensor sequence_numbers(const DimValue& batch, i64 width) {
  const Tensor numbers = cast(batch.is_known() ? range(batch.number) : range(batch.tensor), DType::int32);
  return broadcast_to(expand_dims(numbers, 1), {Dim(batch), width});
}
TANDEM_LAZY_INLINE Tensor repeat_rows(const Tensor& rows, i64 width) {
  return gather(rows, reshape(sequence_numbers(get_shape(rows)[0], width), {-1}));
}
TANDEM_LAZY_INLINE Beams begin_beams(const Tensor& rows, const nn::BeamSearchOptions& o) {
  const DimValue batch = get_shape(rows)[0];
  const Dims each{Dim(batch), o.beam_width};
  // All hypotheses of a sequence start equal, so only the first is continued.
  const Tensor first = where(range(o.beam_width) == 0, constant(0.f), constant(impossible_log_prob));
  return {.step = constant(0),
          .last = reshape(fill(each, static_cast<int>(o.begin_token_id)), {-1}),
          .log_probs = broadcast_to(expand_dims(first, 0), each),
          .lengths = zeros(each, DType::int32),
          .is_finished = zeros(each, DType::bool_),
          .ids = fill({Dim(batch), o.beam_width, o.sequence_length},
                      static_cast<int>(o.end_token_id == none ? 0 : o.end_token_id))};
}
TANDEM_LAZY_INLINE Tensor may_go_on(const Beams& b, const nn::BeamSearchOptions& o) {
  const ShapeChecks lenient(false);
  const Tensor live = logical_and(logical_not(b.is_finished), b.log_probs > impossible_log_prob);
  return logical_and(b.step < o.sequence_length, reduce_any(live));
}
TANDEM_LAZY_INLINE std::pair<Beams, Tensor> advance_beams(const Beams& b, const Tensor& logits,
                                                          const nn::BeamSearchOptions& o) {
  const ShapeChecks lenient(false);
  const i64 width = o.beam_width;
  if (logits.rank() != 2 || logits.shape().dim(1) == none || !is_floating(logits.dtype()))
    raise_beam_search("step must return floating logits of shape [n, tokens], not " + to_string(logits.spec()));
  const i64 tokens = logits.shape().dim(1);
  if (o.end_token_id != none && o.end_token_id >= tokens)
    raise_beam_search("end_token_id " + std::to_string(o.end_token_id) + " is beyond the " + std::to_string(tokens) +
                      " tokens of " + to_string(logits.spec()));
  if (tokens == 0) raise_beam_search("there are no tokens to choose from: " + to_string(logits.spec()));

  Tensor next = reshape(cast(nn::log_softmax(logits), DType::float32), {-1, width, tokens});
  if (o.end_token_id != none) {  // a finished hypothesis has exactly one continuation
    const Tensor end_alone = where(range(tokens) == o.end_token_id, constant(0.f), constant(impossible_log_prob));
    next = where(expand_dims(b.is_finished, 2), end_alone, next);
  }
  const Tensor sums = expand_dims(b.log_probs, 2) + next, all = reshape(sums, {-1, width * tokens});
  const Tensor lengths = where(b.is_finished, b.lengths, b.lengths + 1);
  Tensor at, log_probs;
  if (o.length_penalty == 0) {
    const nn::TopK best = nn::top_k(all, width);
    at = best.indices, log_probs = best.values;
  } else {
    const Tensor norm = pow((cast(lengths, DType::float32) + 5.f) / 6.f, o.length_penalty);
    at = nn::top_k(reshape(sums / expand_dims(norm, 2), {-1, width * tokens}), width).indices;
    log_probs = gather(all, at, {.batch_dims = 1});
  }
  const Tensor beam = floordiv(at, static_cast<int>(tokens)), token = floormod(at, static_cast<int>(tokens));
  const auto of_parent = [&](const Tensor& x) { return gather(x, beam, {.batch_dims = 1}); };
  Beams r{.step = b.step + 1,
          .last = reshape(token, {-1}),
          .log_probs = log_probs,
          .lengths = of_parent(lengths),
          .is_finished = of_parent(b.is_finished),
          .ids = where(range(o.sequence_length, {.dtype = DType::int32}) == b.step, expand_dims(token, 2),
                       of_parent(b.ids))};
  if (o.end_token_id != none) r.is_finished = logical_or(r.is_finished, token == o.end_token_id);
  const Tensor first = sequence_numbers(get_shape(token)[0], width) * static_cast<int>(width);
  return {r, reshape(first + beam, {-1})};
}
TANDEM_LAZY_INLINE nn::BeamSearchResult end_beams(const Beams& b, const nn::BeamSearchOptions& o) {
  if (!o.include_begin_token) return {b.ids, b.log_probs};
  const Dims column{Dim(get_shape(b.ids)[0]), o.beam_width, 1};
  return {concat({fill(column, static_cast<int>(o.begin_token_id)), b.ids}, 2), b.log_probs};
}

}  // namespace TANDEM_NS::detail
