#include "model.hpp"

#include <cmath>

using namespace tandem;

Word2Vec::Word2Vec(std::int64_t vocabulary, const ModelOptions& o) {
  const Shape table{vocabulary, o.size};
  const auto width = static_cast<double>(o.size);
  const bool nce = o.loss == "nce";
  // As in Mikolov's program; for nce, as in TensorFlow's tutorial.
  const double bound = nce ? 1 : 1 / width;
  embeddings_ = add_variable("embeddings", random::uniform(table, -bound, bound));
  outputs_ = add_variable("outputs", nce ? random::truncated_normal(table, 0, 1 / std::sqrt(width)) : zeros(table));
  if (nce) biases_ = add_variable("biases", zeros({vocabulary}));
}

std::vector<Variable> Word2Vec::trained() const {
  if (biases_.is_set()) return {embeddings_, outputs_, biases_};
  return {embeddings_, outputs_};
}
