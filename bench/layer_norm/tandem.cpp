// Normalization in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::layer_norm;
using bench::tandem_normal;
using tandem::GradientTape, tandem::Shape, tandem::Tensor;

struct Operands {
  Tensor x, g, scale, offset;
  explicit Operands(const Shape& shape)
      : x(tandem_normal(shape, 1)),
        g(tandem_normal(shape, 2)),
        scale(tandem_normal({shape.dim(-1)}, 3)),
        offset(tandem_normal({shape.dim(-1)}, 4)) {}
  Tensor layer() const { return tandem::nn::layer_norm(x, {.epsilon = epsilon, .scale = scale, .offset = offset}); }
  Tensor batch() const { return tandem::nn::fused_batch_norm(x, scale, offset, {.epsilon = epsilon}).y; }
  template <class F>
  Tensor gradient(const F& f) const {
    GradientTape tape;
    for (const Tensor* t : {&x, &scale, &offset}) tape.watch(*t);
    return tape.gradient(f(), {x, scale, offset}, {.output_gradients = {g}})[0];
  }
};

bench::Work layer_forward_backward(const Shape& shape) {
  return bench::repeat([o = Operands(shape)] { return o.gradient([&] { return o.layer(); }); });
}
const Shape image_batch{images, side, side, channels};

[[maybe_unused]] const bool added[] = {
    bench::add(forward,
               [] {
                 return bench::repeat([o = Operands({rows, columns})] { return o.layer(); });
               }),
    bench::add(forward_backward,
               [] {
                 return layer_forward_backward({rows, columns});
               }),
    bench::add(sequence,
               [] {
                 return layer_forward_backward({batch, steps, features});
               }),
    bench::add(batch_forward, [] { return bench::repeat([o = Operands(image_batch)] { return o.batch(); }); }),
    bench::add(batch_forward_backward, [] {
      return bench::repeat([o = Operands(image_batch)] { return o.gradient([&] { return o.batch(); }); });
    })};
}  // namespace
