// Measures the cost of compiling a small model and its training step in Tandem.
#include <tandem/layers.hpp>
#include <tandem/optimizers.hpp>

#include <cstdio>

using namespace tandem;

int main() {
  const layers::Dense hidden{8, {.activation = Activation::tanh}}, out{1};
  const optimizers::Adam adam({.learning_rate = 1e-2});
  const Tensor x = random::normal({4, 2}), y = random::normal({4, 1});
  for (int i = 0; i < 100; ++i) {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(out(hidden(x)) - y));
    std::vector<Variable> weights = hidden.trainable_variables();
    for (const Variable& v : out.trainable_variables()) weights.push_back(v);
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    if (i % 10 == 0) std::printf("%g\n", loss.item<float>());
  }
}
