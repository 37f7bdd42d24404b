// bfloat16 in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::half;
using tandem::bfloat16, tandem::cast, tandem::float32, tandem::Shape, tandem::Tensor;

Tensor narrow(const Shape& shape, std::uint32_t seed) { return cast(bench::tandem_normal(shape, seed), bfloat16); }
// Results are compared as float32.
template <class F>
bench::Work calls(F f) {
  bench::Work w = bench::repeat(f);
  w.result = [f]() mutable { return cast(f(), float32).template to_vector<float>(); };
  return w;
}
bench::Work product(const Shape& a, const Shape& b) {
  return calls([a = narrow(a, 1), b = narrow(b, 2)] { return tandem::matmul(a, b); });
}

// The weights in float32, products and activations in bfloat16, the loss in float32.
struct Model {
  std::vector<tandem::Variable> weights;
  tandem::optimizers::Adam adam{{.learning_rate = bench::mlp::learning_rate, .epsilon = bench::mlp::epsilon}};
  Tensor x = bench::tandem_normal({bench::mlp::batch, bench::mlp::widths[0]}, bench::mlp::input_seed);
  Tensor y = bench::tandem_indices({bench::mlp::batch}, bench::mlp::classes, bench::mlp::label_seed);

  Model() {
    for (int l = 0; l < bench::mlp::layers; ++l) {
      const std::int64_t k = bench::mlp::widths[l], n = bench::mlp::widths[l + 1];
      weights.emplace_back(bench::tandem_from(bench::mlp::weights(l), {k, n}));
      weights.emplace_back(tandem::zeros({n}));
    }
  }
  Tensor forward(const Tensor& in) const {
    Tensor h = cast(in, bfloat16);
    for (std::size_t l = 0; l < bench::mlp::layers; ++l) {
      h = tandem::matmul(h, cast(weights[2 * l], bfloat16)) + cast(weights[2 * l + 1], bfloat16);
      if (l + 1 < bench::mlp::layers) h = tandem::nn::relu(h);
    }
    return cast(h, float32);
  }
  Tensor step(const Tensor& in, const Tensor& labels) {
    tandem::GradientTape tape;
    const Tensor loss = tandem::reduce_mean(tandem::nn::sparse_softmax_cross_entropy_with_logits(labels, forward(in)));
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  }
};

bool add_all() {
  for (const std::int64_t n : sizes) bench::add(matmul(n), [n] { return product({n, n}, {n, n}); });
  bench::add(matvec, [] { return product({matvec_rows, matvec_columns}, {matvec_columns, 1}); });
  bench::add(softmax, [] { return calls([x = narrow({rows, columns}, 1)] { return tandem::nn::softmax(x); }); });
  bench::add(layer_norm, [] {
    return calls([x = narrow({rows, columns}, 1), scale = narrow({columns}, 2), offset = narrow({columns}, 3)] {
      return tandem::nn::layer_norm(x, {.epsilon = epsilon, .scale = scale, .offset = offset});
    });
  });
  bench::add(add, [] { return calls([a = narrow({million}, 1), b = narrow({million}, 2)] { return a + b; }); });
  bench::add(gelu, [] { return calls([x = narrow({million}, 1)] { return tandem::nn::gelu(x); }); });
  bench::add(sum, [] { return calls([x = narrow({million}, 1)] { return tandem::reduce_sum(x); }); });
  bench::add(widening, [] { return calls([x = narrow({million}, 1)] { return cast(x, float32); }); });
  bench::add(rounding, [] { return calls([x = bench::tandem_normal({million}, 1)] { return cast(x, bfloat16); }); });
  return bench::add_training<Model>(mlp_step, bench::mlp::checked_steps, "half_mlp_step");
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
