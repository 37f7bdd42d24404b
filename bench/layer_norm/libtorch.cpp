// Normalization in LibTorch. Images have the same bytes as Tandem's: channels last.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::layer_norm;
using bench::torch_normal;

struct Operands {
  at::Tensor x, g, scale, offset;
  explicit Operands(at::IntArrayRef shape)
      : x(torch_normal(shape, 1)),
        g(torch_normal(shape, 2)),
        scale(torch_normal({shape.back()}, 3)),
        offset(torch_normal({shape.back()}, 4)) {}
  Operands images() const {
    Operands r = *this;
    r.x = x.permute({0, 3, 1, 2}), r.g = g.permute({0, 3, 1, 2});
    return r;
  }
  Operands recorded() const {
    for (const at::Tensor& t : {x, scale, offset}) t.requires_grad_();
    return *this;
  }
  at::Tensor layer() const { return torch::layer_norm(x, {x.size(-1)}, scale, offset, epsilon); }
  at::Tensor batch() const {
    return torch::batch_norm(x, scale, offset, {}, {}, /*training=*/true, /*momentum=*/0.1, epsilon, true);
  }
  at::Tensor gradient(const at::Tensor& y) const { return torch::autograd::grad({y}, {x, scale, offset}, {g})[0]; }
};
at::Tensor channels_last(const at::Tensor& t) { return t.permute({0, 2, 3, 1}); }

bench::Work layer_forward_backward(at::IntArrayRef shape) {
  return bench::repeat([o = Operands(shape).recorded()] { return o.gradient(o.layer()); });
}
Operands image_batch() { return Operands({images, side, side, channels}).images(); }

[[maybe_unused]] const bool added[] = {
    bench::add(forward,
               [] {
                 return bench::repeat_no_grad([o = Operands({rows, columns})] { return o.layer(); });
               }),
    bench::add(forward_backward,
               [] {
                 return layer_forward_backward({rows, columns});
               }),
    bench::add(sequence,
               [] {
                 return layer_forward_backward({batch, steps, features});
               }),
    bench::add(batch_forward,
               [] { return bench::repeat_no_grad([o = image_batch()] { return channels_last(o.batch()); }); }),
    bench::add(batch_forward_backward, [] {
      return bench::repeat([o = image_batch().recorded()] { return channels_last(o.gradient(o.batch())); });
    })};
}  // namespace
