// The model: characters one-hot, a stack of GRU or LSTM layers, logits of the next character.
#pragma once
#include <tandem/tandem.hpp>

#include <string>
#include <variant>
#include <vector>

struct ModelOptions {
  std::int64_t vocabulary = 0;
  std::string cell = "gru";  // or "lstm"
  int layers = 2;
  std::int64_t hidden = 200;
};

/// The recurrent state: one tensor a layer (GRU) or two (LSTM: h, c), each [batch, hidden]. Empty: zeros.
using State = std::vector<tandem::Tensor>;

class CharRnn : public tandem::Module {
 public:
  explicit CharRnn(const ModelOptions& options);
  /// Logits [time, batch, vocabulary] of the characters that follow ids [time, batch]; replaces the state.
  tandem::Tensor operator()(const tandem::Tensor& ids, State& state) const;

 private:
  tandem::Tensor run(const tandem::layers::GRU& rnn, const tandem::Tensor& x, State& state) const;
  tandem::Tensor run(const tandem::layers::LSTM& rnn, const tandem::Tensor& x, State& state) const;
  std::int64_t vocabulary_;
  std::variant<tandem::layers::GRU, tandem::layers::LSTM> rnn_;
  tandem::layers::Dense head_;
};
