#include "model.hpp"

#include <cmath>

using namespace tandem;

namespace {

// As in Mikolov's program; for nce, as in TensorFlow's tutorial.
double bound(const ModelOptions& o) { return o.loss == "nce" ? 1 : 1 / static_cast<double>(o.size); }

}  // namespace

Word2Vec::Word2Vec(std::int64_t vocabulary, const ModelOptions& o)
    : embeddings_(vocabulary, o.size, {.embeddings_initializer = initializers::RandomUniform(-bound(o), bound(o))}),
      outputs_(vocabulary, o.size) {
  add_module("embeddings", embeddings_), add_module("outputs", outputs_);
  const Shape table{vocabulary, o.size};
  if (o.loss == "nce") {
    outputs_.assign(random::truncated_normal(table, 0, 1 / std::sqrt(static_cast<double>(o.size))));
    biases_.emplace(vocabulary, 1);
    biases_->assign(zeros({vocabulary, 1}));
    add_module("biases", *biases_);
  } else {
    outputs_.assign(zeros(table));
  }
}
