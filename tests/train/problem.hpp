// A small problem for tests of training: points of two classes, and a network with dropout.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tandem/data.hpp"
#include "tandem/tandem.hpp"
#include "tandem/train.hpp"

namespace training {

using namespace tandem;

/// Without Variables: the first call makes them.
inline layers::Sequential unbuilt_network(i64 seed = 1, double dropout = 0.1) {
  random::set_seed(seed);
  return layers::Sequential{layers::Dense(16, nn::relu), layers::Dropout(dropout), layers::Dense(2)};
}
inline layers::Sequential network(i64 seed = 1, double dropout = 0.1) {
  const layers::Sequential net = unbuilt_network(seed, dropout);
  net.build({none, 2});
  return net;
}

/// Points in [-1, 1]^2, float32 [n, 2], and whether they lie above the diagonal, int64 [n].
struct Points {
  Tensor x, y;
  explicit Points(i64 n, i64 seed = 7) {
    const random::Generator draw(seed);
    x = draw.uniform({n, 2}, -1, 1);
    y = cast(x(Ellipsis, 0) + x(Ellipsis, 1) > 0.f, DType::int64);
  }
  data::Dataset<std::array<Tensor, 2>> batches(i64 size) const { return data::from_tensor_slices({x, y}).batch(size); }
  data::Dataset<std::array<Tensor, 2>> shuffled(i64 size) const {
    return data::from_tensor_slices({x, y}).shuffle({.seed = 3}).batch(size);
  }
};

inline losses::Loss loss() { return losses::SparseCategoricalCrossentropy({.from_logits = true}); }
inline train::TrainerOptions options() {
  return {.loss = loss(), .optimizer = optimizers::Adam(0.01), .metrics = {metrics::SparseCategoricalAccuracy()}};
}

inline std::vector<std::vector<float>> weights_of(const Module& model) {
  std::vector<std::vector<float>> r;
  for (const Tensor& w : model.get_weights()) r.push_back(w.to_vector<float>());
  return r;
}

}  // namespace training
