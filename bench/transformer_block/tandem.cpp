// A training step of the transformer block in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::transformer;
using tandem::Tensor;
namespace layers = tandem::layers;
namespace nn = tandem::nn;

struct Block : tandem::Model<Block> {
  layers::LayerNormalization norm_1{{.epsilon = norm_epsilon}}, norm_2{{.epsilon = norm_epsilon}};
  layers::Dense qkv{3 * width}, out{width}, up{inner}, down{width};

  Tensor attention(const Tensor& x) const {
    std::vector<Tensor> thirds = tandem::split(qkv(x), 3, -1);
    for (Tensor& t : thirds) t = tandem::reshape(t, {batch, tokens, heads, width / heads});
    const Tensor mixed = nn::scaled_dot_product_attention(thirds[0], thirds[1], thirds[2], {.steps_first = true});
    return out(tandem::reshape(mixed, {batch, tokens, width}));
  }
  Tensor operator()(const Tensor& x) const {
    const Tensor h = x + attention(norm_1(x));
    return h + down(nn::gelu(up(norm_2(h))));
  }
};

struct Training {
  Block block;
  tandem::optimizers::AdamW adam{{.learning_rate = learning_rate, .weight_decay = decay, .epsilon = epsilon}};
  Tensor x = bench::tandem_normal({batch, tokens, width}, input_seed), y = tandem::constant(0.f);
  std::vector<tandem::Variable> weights;

  Training() {
    block(x);  // creates the Variables
    weights = block.trainable_variables();
    const layers::Dense* const dense[] = {&block.qkv, &block.out, &block.up, &block.down};
    for (int i = 0; i < 4; ++i)
      dense[i]->variables()[0].assign(bench::tandem_from(kernel(i), {shapes[i][0], shapes[i][1]}));
  }
  Tensor step(const Tensor& in, const Tensor&) {
    tandem::GradientTape tape;
    const Tensor loss = tandem::reduce_mean(tandem::square(block(in)));
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  }
};

[[maybe_unused]] const bool added = bench::add_training<Training>(name, checked_steps, "transformer_block");
}  // namespace
