#include "translator.hpp"

using namespace tandem;

Translator::Translator(const TranslatorOptions& o)
    : options_(o),
      input_embedding_(o.inputs, o.embedding),
      output_embedding_(o.outputs, o.embedding),
      reader_(o.hidden, {.return_sequences = true}),
      writer_(o.hidden),
      combine_(o.hidden, Activation::tanh),
      head_(o.outputs) {
  reader_.build(o.embedding);
  writer_.build(o.embedding + o.hidden);
  combine_.build(2 * o.hidden);
  head_.build(o.hidden);
  add_module("input_embedding", input_embedding_);
  add_module("output_embedding", output_embedding_);
  add_module("reader", reader_);
  add_module("writer", writer_);
  add_module("combine", combine_);
  add_module("head", head_);
}

Translator::State Translator::read(const Tensor& inputs) const {
  const Tensor is_character = inputs != 0;
  const Tensor lengths = reduce_sum(cast(is_character, int32), 1);
  const auto r = reader_(input_embedding_(inputs), {.sequence_length = lengths});
  return {r.state[0], r.output, is_character, zeros_like(is_character, float32)};
}

std::pair<Tensor, Translator::State> Translator::write(const Tensor& tokens, const State& s) const {
  const auto look = [&](const Tensor& hidden) {
    const auto seen =
        attention_(expand_dims(hidden, 1), s.memory, {.value_mask = s.is_character, .return_attention_scores = true});
    return std::pair(squeeze(seen.output, {1}), squeeze(seen.scores, {1}));
  };
  // Luong's input feeding: the input of the step includes the context vector for the previous state.
  const Tensor x = concat({output_embedding_(tokens), look(s.hidden).first}, -1);
  const Tensor hidden = writer_(x, s.hidden);
  const auto [seen, weights] = look(hidden);
  const Tensor logits = head_(combine_(concat({hidden, seen}, -1)));
  return {logits, {hidden, s.memory, s.is_character, weights}};
}

Tensor Translator::loss(const Tensor& inputs, const Tensor& targets) const {
  State state = read(inputs);
  Tensor last = fill({inputs.shape()[0]}, options_.begin);
  std::vector<Tensor> losses;
  for (i64 t = 0; t < targets.shape()[1]; ++t) {
    const auto [logits, next] = write(last, state);
    last = targets(Ellipsis, t);
    losses.push_back(reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(last, logits)));
    state = next;
  }
  return reduce_mean(stack(losses));
}
