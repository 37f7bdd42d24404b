// The word2vec step in Tandem: eager, and (@traced) as one traced function.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::word2vec;
using tandem::Tensor, tandem::Variable;

struct Model {
  Variable inputs{bench::tandem_normal({vocabulary, width}, 1, scale)};
  Variable outputs{bench::tandem_normal({vocabulary, width}, 2, scale)};
  Tensor words = bench::tandem_indices({batch}, vocabulary, 3),
         predicted = bench::tandem_indices({batch}, vocabulary, 4),
         noise = bench::tandem_indices({negatives}, vocabulary, 5);
  tandem::optimizers::SGD sgd{learning_rate};

  Tensor step(const Tensor& own, const Tensor& near, const Tensor& far) const {
    tandem::GradientTape tape;
    const Tensor x = tandem::gather(inputs, own);
    const Tensor positive = tandem::reduce_sum(x * tandem::gather(outputs, near), -1);
    const Tensor negative = tandem::matmul(x, tandem::gather(outputs, far), {.transpose_b = true});
    const Tensor loss =
        (tandem::reduce_sum(tandem::softplus(-positive)) + tandem::reduce_sum(tandem::softplus(negative))) /
        static_cast<double>(batch);
    sgd.apply_gradients(tape.gradient(loss, {inputs, outputs}), {inputs, outputs});
    return loss;
  }
  std::vector<float> rows() const {
    return bench::values_of({tandem::gather(inputs, words), tandem::gather(outputs, noise)});
  }
};

template <class Prepare>
bench::Work work(Prepare prepare) {
  const auto m = std::make_shared<Model>();
  const auto step = prepare([m](const Tensor& a, const Tensor& b, const Tensor& c) { return m->step(a, b, c); });
  return bench::steps([=] { step(m->words, m->predicted, m->noise); },
                      [=] {
                        step(m->words, m->predicted, m->noise);
                        return m->rows();
                      });
}

[[maybe_unused]] const bool added[] = {
    bench::add(step, [] { return work([](const auto& f) { return f; }); }),
    bench::add(std::string(step) + "@traced", [] { return work([](const auto& f) { return tandem::function(f); }); })};
}  // namespace
