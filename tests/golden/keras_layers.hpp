// How keras_test.cpp calls layers whose weights a case has: attention, embeddings that map back.
#pragma once
#include "tandem/layers/all.hpp"
#include "tests/golden/golden.hpp"

namespace golden {

/// What call() returns when the layer has these weights, each in the shape that it has here.
template <class L, class Call>
GoldenList weighted(const L& l, const GoldenList& x, std::size_t inputs, const Call& call) {
  (void)call();
  GoldenList values;
  for (const Tensor& w : l.get_weights()) values.push_back(reshape(x.at(inputs + values.size()), w.shape()));
  REQUIRE(inputs + values.size() == x.size());
  l.set_weights(values);
  return {call()};
}
template <class L>
GoldenList attention(const L& l, const GoldenList& x) {
  return weighted(l, x, 2, [&] { return l(x[0], x[1]).output; });
}
inline GoldenList grouped(const GoldenCase& c, const GoldenList& x) {  // a causal mask, a window, a gate, no biases
  const char option = c.name.back();
  const layers::GroupQueryAttention l(3, 4, 2,
                                      {.use_bias = option != '3',
                                       .sliding_window = option == '1' ? 2 : 0,
                                       .use_gate = option == '2',
                                       .dtype = x[0].dtype()});
  return weighted(l, x, 2, [&] { return l(x[0], x[1], {.use_causal_mask = option == '0'}).output; });
}
inline GoldenList reversible(const GoldenCase& c, const GoldenList& x) {
  layers::ReversibleEmbeddingOptions o{.tie_weights = c.name.back() != '1', .dtype = x[1].dtype()};
  if (c.name.back() == '2') o.logit_soft_cap = .5;
  const layers::ReversibleEmbedding l(6, 4, o);
  l.set_weights(GoldenList(x.begin() + 2, x.end()));
  return {l(cast(x[0], int32)), l(x[1], {.reverse = true})};
}

}  // namespace golden
