// A chain of 100 small operations in LibTorch: x = (x + b) * b, fifty times, on 32 elements.
#include "../support/libtorch.hpp"

namespace {

at::Tensor chain(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor x = a;
  for (int i = 0; i < 50; ++i) {
    x = x + b;
    x = x * b;
  }
  return x;
}

bench::Work forward() {
  return bench::repeat_no_grad([a = bench::torch_normal({32}, 1), b = torch::full({32}, 1.01)] { return chain(a, b); });
}

bench::Work forward_backward() {
  return bench::repeat([a = bench::torch_normal({32}, 1).requires_grad_(), b = torch::full({32}, 1.01)] {
    return torch::autograd::grad({chain(a, b).sum()}, {a})[0];
  });
}

[[maybe_unused]] const bool added[] = {bench::add("chain100/forward", forward),
                                       bench::add("chain100/forward_backward", forward_backward)};
}  // namespace
