// A sequence-to-sequence model with attention (Luong, Pham and Manning 2015, dot products): a GRU reads the input, a
// second one writes the output character by character, looking at all of the input each time.
#pragma once
#include <tandem/tandem.hpp>

#include <cstdint>

struct TranslatorOptions {
  std::int64_t inputs = 0, outputs = 0;  // tokens, 0 of the inputs being no character
  int begin = 0;                         // the token before the first one written
  std::int64_t embedding = 32, hidden = 96;
};

class Translator : public tandem::Module {
 public:
  explicit Translator(const TranslatorOptions& options);

  /// What the decoder carries from one character to the next, a row for each output that is being written.
  struct State {
    tandem::Tensor hidden;   // [n, hidden]
    tandem::Tensor memory;   // [n, time, hidden]: the input as read
    tandem::Tensor unread;   // [n, time]: 0 for characters of the input, -1e9 behind its end
    tandem::Tensor weights;  // [n, time]: where the last step has looked
  };
  /// Reads inputs [batch, time].
  State read(const tandem::Tensor& inputs) const;
  /// Logits [n, outputs] of the tokens that follow `tokens` [n], and the state after them.
  std::pair<tandem::Tensor, State> write(const tandem::Tensor& tokens, const State& state) const;
  /// The mean cross entropy of the targets [batch, steps], each predicted from those before it.
  tandem::Tensor loss(const tandem::Tensor& inputs, const tandem::Tensor& targets) const;

 private:
  TranslatorOptions options_;
  tandem::layers::Embedding input_embedding_, output_embedding_;
  tandem::layers::GRU reader_;
  tandem::layers::GRUCell writer_;
  tandem::layers::Dense combine_, head_;
};
