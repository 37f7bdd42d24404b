// Attention in LibTorch.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::attention;
using bench::torch_normal;

struct Operands {
  at::Tensor q, k, v, g;
  explicit Operands(std::int64_t length)
      : q(torch_normal({1, heads, length, width}, 1)),
        k(torch_normal({1, heads, length, width}, 2)),
        v(torch_normal({1, heads, length, width}, 3)),
        g(torch_normal({1, heads, length, width}, 4)) {}
  Operands recorded() const {
    for (const at::Tensor& t : {q, k, v}) t.requires_grad_();
    return *this;
  }
  at::Tensor attend(bool causal) const {
    return at::scaled_dot_product_attention(q, k, v, /*attn_mask=*/{}, /*dropout_p=*/0, causal);
  }
};

bench::Work forward(std::int64_t length, bool causal) {
  return bench::repeat_no_grad([o = Operands(length), causal] { return o.attend(causal); });
}
bench::Work forward_backward(std::int64_t length) {
  return bench::repeat([o = Operands(length).recorded()] {
    return torch::autograd::grad({o.attend(false)}, {o.q, o.k, o.v}, {o.g})[1];
  });
}

[[maybe_unused]] const bool added[] = {
    bench::add(forward_short, [] { return forward(short_length, false); }),
    bench::add(forward_long, [] { return forward(long_length, false); }),
    bench::add(forward_causal, [] { return forward(long_length, true); }),
    bench::add(forward_backward_short, [] { return forward_backward(short_length); }),
    bench::add(forward_backward_long, [] { return forward_backward(long_length); })};
}  // namespace
