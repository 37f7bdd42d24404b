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
  /// Returns the logits [time, batch, vocabulary] of the characters that follow ids [time, batch]; replaces the
  /// state.
  tandem::Tensor operator()(const tandem::Tensor& ids, State& state) const { return run(ids, state, nullptr); }
  /// The same with dropout, whose random numbers are drawn from the generator.
  tandem::Tensor train(const tandem::Tensor& ids, State& state, const tandem::random::Generator& generator) const {
    return run(ids, state, &generator);
  }

 private:
  using Rnn = std::variant<tandem::layers::GRU, tandem::layers::LSTM>;
  tandem::Tensor run(const tandem::Tensor& ids, State& state, const tandem::random::Generator* generator) const;
  ModelOptions options_;
  std::vector<Rnn> layers_;
  tandem::layers::Dense head_;
};
