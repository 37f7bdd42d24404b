// Pooling in LibTorch, with its channels-last memory format.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::pool;

at::Tensor image(std::int64_t pixels, std::uint32_t seed) {
  return bench::torch_normal({batch, pixels, pixels, channels}, seed).permute({0, 3, 1, 2});
}
at::Tensor max_of(const at::Tensor& x) { return torch::max_pool2d(x, 2); }
at::Tensor mean_of(const at::Tensor& x) { return torch::avg_pool2d(x, 2); }

template <class F>
bench::Work pool_forward(F f) {
  return bench::repeat_no_grad([f, x = image(size, 1)] { return f(x).permute({0, 2, 3, 1}); });
}

template <class F>
bench::Work pool_forward_backward(F f) {
  return bench::repeat([f, x = image(size, 1).requires_grad_(), g = image(size / 2, 2)] {
    return torch::autograd::grad({f(x)}, {x}, {g})[0].permute({0, 2, 3, 1});
  });
}

[[maybe_unused]] const bool added[] = {bench::add(max_forward, [] { return pool_forward(max_of); }),
                                       bench::add(max_forward_backward, [] { return pool_forward_backward(max_of); }),
                                       bench::add(avg_forward, [] { return pool_forward(mean_of); }),
                                       bench::add(avg_forward_backward, [] { return pool_forward_backward(mean_of); })};
}  // namespace
