// A sequence-to-sequence model with dot-product attention (Luong, Pham and Manning 2015): a GRU encodes the input,
// and a second one decodes the output character by character, attending to the entire input at each step.
#pragma once
#include <tandem/tandem.hpp>

#include <cstdint>

struct TranslatorOptions {
  std::int64_t inputs = 0, outputs = 0;  // numbers of tokens; input token 0 is padding
  int begin = 0;                         // the token that precedes the first output token
  std::int64_t embedding = 32, hidden = 96;
};

class Translator : public tandem::Module {
 public:
  explicit Translator(const TranslatorOptions& options);

  /// The decoder state carried from one character to the next, with one row per output sequence.
  struct State {
    tandem::Tensor hidden;        // [n, hidden]
    tandem::Tensor memory;        // [n, time, hidden]: the encoded input
    tandem::Tensor is_character;  // [n, time], bool_: false for padding
    tandem::Tensor weights;       // [n, time]: attention weights of the last step
  };
  /// Encodes inputs [batch, time].
  State read(const tandem::Tensor& inputs) const;
  /// Returns the logits [n, outputs] of the tokens that follow `tokens` [n], and the new state.
  std::pair<tandem::Tensor, State> write(const tandem::Tensor& tokens, const State& state) const;
  /// The mean cross entropy of the targets [batch, steps], each predicted from its predecessors.
  tandem::Tensor loss(const tandem::Tensor& inputs, const tandem::Tensor& targets) const;

 private:
  TranslatorOptions options_;
  tandem::layers::Embedding input_embedding_, output_embedding_;
  tandem::layers::GRU reader_;
  tandem::layers::GRUCell writer_;
  tandem::layers::Attention attention_;
  tandem::layers::Dense combine_, head_;
};
