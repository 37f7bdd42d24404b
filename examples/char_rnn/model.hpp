// The model: one-hot characters, GRU or LSTM layers with dropout after each, logits of the next character.
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
  double dropout = 0.3;  // after each layer, during training
};

/// The recurrent state: one tensor per layer (GRU) or two (LSTM: h, c), each [batch, hidden]. Empty: zeros.
using State = std::vector<tandem::Tensor>;

class CharRnn : public tandem::Module {
 public:
  explicit CharRnn(const ModelOptions& options);
  /// Returns the logits [time, batch, vocabulary] of the characters that follow ids [time, batch], int32; replaces the
  /// state.
  tandem::Tensor operator()(const tandem::Tensor& ids, State& state) const;
  /// The same from a state of zeros.
  tandem::Tensor operator()(const tandem::Tensor& ids) const {
    State state;
    return (*this)(ids, state);
  }

 private:
  using Rnn = std::variant<tandem::layers::GRU, tandem::layers::LSTM>;
  ModelOptions options_;
  std::vector<Rnn> layers_;
  tandem::layers::Dropout dropout_;
  tandem::layers::Dense head_;
};
