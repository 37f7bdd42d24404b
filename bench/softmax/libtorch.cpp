// Softmax and its loss in LibTorch.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::softmax;
using bench::torch_normal;

bench::Work softmax_forward() {
  return bench::repeat_no_grad([x = torch_normal({rows, columns}, 1)] { return torch::softmax(x, -1); });
}

bench::Work softmax_forward_backward() {
  return bench::repeat([x = torch_normal({rows, columns}, 1).requires_grad_(), g = torch_normal({rows, columns}, 2)] {
    return torch::autograd::grad({torch::softmax(x, -1)}, {x}, {g})[0];
  });
}

bench::Work nll_forward_backward(std::int64_t m, std::int64_t n) {
  return bench::repeat([x = torch_normal({m, n}, 1).requires_grad_(), y = bench::torch_indices({m}, n, 3)] {
    return torch::autograd::grad({torch::nll_loss(torch::log_softmax(x, -1), y)}, {x})[0];
  });
}

[[maybe_unused]] const bool added[] = {
    bench::add(forward, softmax_forward), bench::add(forward_backward, softmax_forward_backward),
    bench::add(nll, [] { return nll_forward_backward(rows, columns); }),
    bench::add(nll_tall, [] { return nll_forward_backward(tall_rows, tall_columns); })};
}  // namespace
