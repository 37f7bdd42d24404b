// Convolutions in LibTorch, with its channels-last memory format.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::conv2d;
using bench::torch_normal;

// The shared inputs are [n, h, w, c] and [kh, kw, in, out]; LibTorch sees the same memory, and its preferred layout of
// the filter.
struct Operands {
  at::Tensor x, w, g;
  explicit Operands(const Case& c)
      : x(torch_normal({c.batch, c.size, c.size, c.channels}, 1).permute({0, 3, 1, 2})),
        w(torch_normal({c.window, c.window, c.channels, c.filters}, 2)
              .permute({3, 2, 0, 1})
              .contiguous(at::MemoryFormat::ChannelsLast)),
        g(torch_normal({c.batch, c.size, c.size, c.filters}, 3).permute({0, 3, 1, 2})) {}
};

bench::Work conv_forward(const Case& c) {
  return bench::repeat_no_grad([o = Operands(c), padding = c.window / 2] {
    return torch::conv2d(o.x, o.w, {}, 1, padding).permute({0, 2, 3, 1});
  });
}

bench::Work conv_forward_backward(const Case& c) {
  Operands o(c);
  o.w.requires_grad_();
  if (c.input_gradient()) o.x.requires_grad_();
  return bench::repeat([o, padding = c.window / 2, both = c.input_gradient()] {
    std::vector<at::Tensor> sources{o.w};
    if (both) sources.push_back(o.x);
    return torch::autograd::grad({torch::conv2d(o.x, o.w, {}, 1, padding)}, sources, {o.g})[0].permute({2, 3, 1, 0});
  });
}

// The statistics are folded into filter and bias once, which is the fastest that LibTorch offers.
bench::Work conv_inference(const Case& c) {
  const Operands o(c);
  const auto vector = [&](std::uint32_t seed) { return torch_normal({c.filters}, seed); };
  const at::Tensor factor = vector(4) * torch::rsqrt(0.5 + vector(7).square() + epsilon);
  const at::Tensor w = (o.w * factor.view({-1, 1, 1, 1})).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor b = vector(5) - vector(6) * factor;
  return bench::repeat_no_grad([x = o.x, w, b, padding = c.window / 2] {
    return torch::conv2d(x, w, b, 1, padding).relu_().permute({0, 2, 3, 1});
  });
}

bool add_all() {
  for (const Case& c : inference_cases) bench::add(c.name(inference), [=] { return conv_inference(c); });
  for (const Case& c : cases) {
    bench::add(c.name(forward), [=] { return conv_forward(c); });
    bench::add(c.name(forward_backward), [=] { return conv_forward_backward(c); });
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
