// Beam search: the most probable sequences of a model that predicts one token at a time.
#pragma once
#include <utility>

#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/ops/index/gather.hpp"

namespace TANDEM_NS::nn {

struct BeamSearchOptions {
  TANDEM_OP_OPTIONS;
  i64 sequence_length = none;  ///< length of the results in tokens; required
  i64 beam_width = 4;          ///< number of hypotheses kept per sequence; 1 is greedy search
  i64 begin_token_id = 0;      ///< precedes the first token
  i64 end_token_id = none;     ///< ends a hypothesis; `none`: no token does
  bool include_begin_token = false;
  /// alpha of the length normalization of Wu et al. 2016 (arXiv:1609.08144, section 7): hypotheses are ranked by
  /// log_prob / ((5 + length) / 6)^alpha, where the length includes the end token. 0: by log_prob.
  double length_penalty = 0;
};
/// The hypotheses of each sequence, best first. If fewer than beam_width exist, the remaining entries have log_prob
/// -inf and are meaningless.
struct BeamSearchResult {
  Tensor ids;  ///< int32 [batch, beam_width, sequence_length (+ 1 with the begin token)]; padded with the end token
  Tensor log_probs;  ///< float32 [batch, beam_width]: sum over all tokens, including the end token
};

}  // namespace TANDEM_NS::nn
namespace TANDEM_NS::detail {

/// The hypotheses so far: [batch, width], except `last`, [batch * width], and `ids`, [batch, width, steps].
struct Beams {
  Tensor step, last, log_probs, lengths, is_finished, ids;
};
TANDEM_LAZY TANDEM_API void check_beam_search(const nn::BeamSearchOptions& o);
/// The state before the first token; `rows` has one row per sequence.
TANDEM_LAZY TANDEM_API Beams begin_beams(const Tensor& rows, const nn::BeamSearchOptions& o);
/// Repeats each row `width` times.
TANDEM_LAZY TANDEM_API Tensor repeat_rows(const Tensor& rows, i64 width);
TANDEM_LAZY TANDEM_API Tensor may_go_on(const Beams& b, const nn::BeamSearchOptions& o);
/// Extends the hypotheses by one token. The second result, [batch * width], is the row that each one continues.
TANDEM_LAZY TANDEM_API std::pair<Beams, Tensor> advance_beams(const Beams& b, const Tensor& logits,
                                                              const nn::BeamSearchOptions& o);
TANDEM_LAZY TANDEM_API nn::BeamSearchResult end_beams(const Beams& b, const nn::BeamSearchOptions& o);

}  // namespace TANDEM_NS::detail
namespace TANDEM_NS::nn {
/// Beam search for the most probable sequences: extends `beam_width` hypotheses by one token per step. Equal to
/// exhaustive search if the beam is wide enough. Stops early once no hypothesis can continue. A traced function
/// contains it as a loop.
///   step           step(ids, state) -> pair or tuple (logits, state): ids int32 [n], the last tokens; logits
///                  floating [n, tokens], for the next tokens (-inf: impossible); state as below, with n rows
///   initial_state  a Tensor, tuple, struct or vector of tensors with one row per sequence, [batch, ...]. step
///                  receives them with n = batch * beam_width rows; the rows of a sequence are contiguous.
///   returns        ids and log-probabilities; ties are broken by the lower token
///   throws         errors::InvalidArgumentError for options out of range, a state without rows, logits of any other
///                  shape or with fewer tokens than `.end_token_id` requires
///   gradient       through log_probs, along the chosen tokens
template <class State, class Step>
BeamSearchResult rnn_beam_search(const Step& step, State initial_state, BeamSearchOptions options) {
  tandem::detail::check_beam_search(options);
  const auto each_tensor = [](State state, const auto& f) {
    std::vector<Tensor> tensors = control::tensors_of(state);
    for (Tensor& t : tensors) t = f(t);
    control::refill(state, tensors);
    return state;
  };
  const std::vector<Tensor> rows = control::tensors_of(initial_state);
  control::count_rows("rnn_beam_search", rows);
  using Carried = std::pair<tandem::detail::Beams, State>;
  const Carried end = while_loop(
      [&](const tandem::detail::Beams& beams, const State&) { return tandem::detail::may_go_on(beams, options); },
      [&](const tandem::detail::Beams& beams, const State& state) {
        const auto [logits, next] = step(beams.last, state);
        const auto [longer, parents] = tandem::detail::advance_beams(beams, logits, options);
        return Carried(longer, each_tensor(next, [&, &from = parents](const Tensor& t) { return gather(t, from); }));
      },
      Carried(tandem::detail::begin_beams(rows[0], options),
              each_tensor(initial_state,
                          [&](const Tensor& t) { return tandem::detail::repeat_rows(t, options.beam_width); })),
      {.name = options.name, .where = options.where});
  return tandem::detail::end_beams(end.first, options);
}

}  // namespace TANDEM_NS::nn
