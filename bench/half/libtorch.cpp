// bfloat16 in LibTorch.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::half;
using bench::repeat_no_grad;

at::Tensor narrow(at::IntArrayRef shape, std::uint32_t seed) {
  return bench::torch_normal(shape, seed).to(torch::kBFloat16);
}
bench::Work product(at::IntArrayRef a, at::IntArrayRef b) {
  return repeat_no_grad([a = narrow(a, 1), b = narrow(b, 2)] { return torch::matmul(a, b); });
}

// The weights in float32, products and activations in bfloat16, the loss in float32.
struct Model {
  std::vector<at::Tensor> weights;
  std::unique_ptr<torch::optim::Adam> adam;
  at::Tensor x = bench::torch_normal({bench::mlp::batch, bench::mlp::widths[0]}, bench::mlp::input_seed);
  at::Tensor y = bench::torch_indices({bench::mlp::batch}, bench::mlp::classes, bench::mlp::label_seed);

  Model() {
    for (int l = 0; l < bench::mlp::layers; ++l) {
      std::vector<float> w = bench::mlp::weights(l);
      const std::int64_t k = bench::mlp::widths[l], n = bench::mlp::widths[l + 1];
      weights.push_back(torch::from_blob(w.data(), {k, n}).clone().requires_grad_());
      weights.push_back(torch::zeros({n}).requires_grad_());
    }
    adam = std::make_unique<torch::optim::Adam>(
        weights, torch::optim::AdamOptions(bench::mlp::learning_rate).eps(bench::mlp::epsilon));
  }
  at::Tensor step() {
    adam->zero_grad();
    at::Tensor h = x.to(torch::kBFloat16);
    for (std::size_t l = 0; l < bench::mlp::layers; ++l) {
      h = torch::addmm(weights[2 * l + 1].to(torch::kBFloat16), h, weights[2 * l].to(torch::kBFloat16));
      if (l + 1 < bench::mlp::layers) h = torch::relu(h);
    }
    const at::Tensor loss = torch::nn::functional::cross_entropy(h.to(torch::kFloat32), y);
    loss.backward();
    adam->step();
    return loss;
  }
};

bool add_all() {
  for (const std::int64_t n : sizes) bench::add(matmul(n), [n] { return product({n, n}, {n, n}); });
  bench::add(matvec, [] { return product({matvec_rows, matvec_columns}, {matvec_columns, 1}); });
  bench::add(softmax, [] {
    return repeat_no_grad([x = narrow({rows, columns}, 1)] { return torch::softmax(x, -1); });
  });
  bench::add(layer_norm, [] {
    return repeat_no_grad(
        [x = narrow({rows, columns}, 1), scale = narrow({columns}, 2), offset = narrow({columns}, 3)] {
          return torch::layer_norm(x, {columns}, scale, offset, epsilon);
        });
  });
  bench::add(add,
             [] { return repeat_no_grad([a = narrow({million}, 1), b = narrow({million}, 2)] { return a + b; }); });
  bench::add(gelu, [] { return repeat_no_grad([x = narrow({million}, 1)] { return torch::gelu(x); }); });
  bench::add(sum, [] { return repeat_no_grad([x = narrow({million}, 1)] { return x.sum(); }); });
  bench::add(widening, [] { return repeat_no_grad([x = narrow({million}, 1)] { return x.to(torch::kFloat32); }); });
  bench::add(rounding,
             [] { return repeat_no_grad([x = bench::torch_normal({million}, 1)] { return x.to(torch::kBFloat16); }); });
  return bench::add(mlp_step, [] {
    return bench::training([model = std::make_shared<Model>()] { return model->step(); }, bench::mlp::checked_steps);
  });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
