// first_model: a small network that tells points inside of a circle from those outside.
#include <iostream>

#include <tandem/tandem.hpp>

using namespace tandem;

struct Net : Model<Net> {
  layers::Dense first{16, nn::relu}, second{16, nn::relu}, last{1};
  Tensor operator()(const Tensor& x) const { return last(second(first(x))); }
};

int main() {
  random::set_seed(1);
  const auto points = [](i64 n) { return random::uniform({n, 2}, -1, 1); };
  const auto inside = [](const Tensor& x) {
    return cast(reduce_sum(square(x), {1}, {.keepdims = true}) < 0.5f, float32);
  };

  const Net net;
  const optimizers::Adam adam(0.01);
  const auto step = function([&](const Tensor& x, const Tensor& y) {  // traced once, then run as a graph
    GradientTape tape;
    const Tensor loss = reduce_mean(nn::sigmoid_cross_entropy_with_logits(y, net(x)));
    const std::vector<Variable> weights = net.trainable_variables();
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  });
  for (int i = 1; i <= 500; ++i) {
    const Tensor x = points(64), loss = step(x, inside(x));
    if (i % 100 == 0) std::cout << "step " << i << ", loss " << loss.item<float>() << "\n";
  }

  const Tensor x = points(1000);
  const Tensor right = cast(equal(net(x) > 0.f, inside(x) > 0.f), float32);
  std::cout << "accuracy on 1000 new points: " << 100 * reduce_mean(right).item<float>() << " %\n";
  return reduce_mean(right).item<float>() > 0.95f ? 0 : 1;
}
