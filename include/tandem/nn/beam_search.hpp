// Beam search: the likeliest sequences of a model that predicts one token after the other.
#pragma once
#include <utility>

#include "tandem/graph/control/while_loop.hpp"
#include "tandem/ops/index/gather.hpp"

namespace TANDEM_NS::nn {

struct BeamSearchOptions {
  TANDEM_OP_OPTIONS;
  i64 sequence_length = none;  ///< of the results, in tokens; must be given
  i64 beam_width = 4;          ///< how many hypotheses are kept of each sequence; 1 is greedy search
  i64 begin_token_id = 0;      ///< stands before the first token
  i64 end_token_id = none;     ///< ends a hypothesis; not given: none does
  bool include_begin_token = false;
  /// alpha of the length normalization of Wu et al. 2016 (arXiv:1609.08144, section 7): hypotheses compete by
  /// log_prob / ((5 + length) / 6)^alpha, the length with its end token. 0: by log_prob.
  double length_penalty = 0;
};
/// The hypotheses of each sequence, the best first. Where fewer exist than the beam is wide, the last ones have the
/// log_prob -inf and mean nothing.
struct BeamSearchResult {
  Tensor ids;        ///< int32 [batch, beam_width, sequence_length (+ 1 with the begin token)]; behind an end: the end
  Tensor log_probs;  ///< float32 [batch, beam_width]: of all tokens together, the end included
};

}  // namespace TANDEM_NS::nn
namespace TANDEM_NS::detail {

/// The hypotheses so far, [batch, width] but for `last`, [batch * width], and `ids`, [batch, width, steps].
struct Beams {
  Tensor step, last, log_probs, lengths, is_finished, ids;
};
TANDEM_API void check_beam_search(const nn::BeamSearchOptions& o);
/// Before the first token; `rows` has one row a sequence.
TANDEM_API Beams begin_beams(const Tensor& rows, const nn::BeamSearchOptions& o);
/// Each row `width` times.
TANDEM_API Tensor repeat_rows(const Tensor& rows, i64 width);
TANDEM_API Tensor may_go_on(const Beams& b, const nn::BeamSearchOptions& o);
/// The hypotheses with one more token, and the row of which each is the continuation, [batch * width].
TANDEM_API std::pair<Beams, Tensor> advance_beams(const Beams& b, const Tensor& logits, const nn::BeamSearchOptions& o);
TANDEM_API nn::BeamSearchResult end_beams(const Beams& b, const nn::BeamSearchOptions& o);

}  // namespace TANDEM_NS::detail
namespace TANDEM_NS::nn {
/// Searches for the sequences of greatest probability, token by token, `beam_width` hypotheses at a time. Equals the
/// search through all sequences where the beam is wide enough. Ends early once no hypothesis can go on. Traced
/// functions hold it as a loop.
///   step           step(ids, state) -> pair or tuple (logits, state): ids int32 [n], the last tokens; logits floating
///                  [n, tokens], of the next ones (-inf: impossible); state as below, with n rows
///   initial_state  a Tensor, tuple, struct or vector of tensors of one row a sequence, [batch, ...]. step gets them
///                  with n = batch * beam_width rows, those of one sequence together.
///   returns        ids and log-probabilities; the lower token first among equals
///   throws         errors::InvalidArgumentError for options out of range, a state without rows, logits of another
///                  shape or with fewer tokens than `.end_token_id` needs
///   gradient       to log_probs, through the tokens that were chosen
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
