// The word2vec step in LibTorch: nn::Embedding with sparse gradients and the SGD optimizer; and (@by_hand) without
// autograd, updating the rows with index_add.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::word2vec;

struct Model {
  at::Tensor words = bench::torch_indices({batch}, vocabulary, 3),
             predicted = bench::torch_indices({batch}, vocabulary, 4),
             noise = bench::torch_indices({negatives}, vocabulary, 5);
  at::Tensor inputs = bench::torch_normal({vocabulary, width}, 1, scale),
             outputs = bench::torch_normal({vocabulary, width}, 2, scale);
  torch::nn::Embedding in = embedding(inputs), out = embedding(outputs);
  torch::optim::SGD sgd{{in->weight, out->weight}, learning_rate};

  static torch::nn::Embedding embedding(const at::Tensor& table) {
    return torch::nn::Embedding(torch::nn::EmbeddingOptions(vocabulary, width).sparse(true)._weight(table));
  }
  void step() {
    sgd.zero_grad();
    const at::Tensor x = in(words), positive = (x * out(predicted)).sum(1), negative = torch::matmul(x, out(noise).t());
    const at::Tensor loss =
        -(torch::log_sigmoid(positive).sum() + torch::log_sigmoid(-negative).sum()) / static_cast<double>(batch);
    loss.backward();
    sgd.step();
  }
  void step_by_hand() {
    const torch::NoGradGuard guard;
    const double rate = learning_rate / static_cast<double>(batch);
    at::Tensor &u = in->weight, &v = out->weight;
    const at::Tensor x = u.index_select(0, words), p = v.index_select(0, predicted), n = v.index_select(0, noise);
    const at::Tensor a = torch::sigmoid((x * p).sum(1, true)) - 1, b = torch::sigmoid(torch::matmul(x, n.t()));
    u.index_add_(0, words, a * p + torch::matmul(b, n), -rate);
    v.index_add_(0, predicted, a * x, -rate);
    v.index_add_(0, noise, torch::matmul(b.t(), x), -rate);
  }
  std::vector<float> rows() const {
    return bench::values_of({in->weight.index_select(0, words), out->weight.index_select(0, noise)});
  }
};

template <class Step>
bench::Work work(Step step) {
  const auto m = std::make_shared<Model>();
  return bench::steps([=] { step(*m); },
                      [=] {
                        step(*m);
                        return m->rows();
                      });
}

[[maybe_unused]] const bool added[] = {
    bench::add(step, [] { return work([](Model& m) { m.step(); }); }),
    bench::add(std::string(step) + "@by_hand", [] { return work([](Model& m) { m.step_by_hand(); }); })};
}  // namespace
