// Attention in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::attention;
using bench::tandem_normal;
using tandem::GradientTape, tandem::Tensor;

struct Operands {
  Tensor q, k, v, g;
  explicit Operands(std::int64_t length)
      : q(tandem_normal({1, heads, length, width}, 1)),
        k(tandem_normal({1, heads, length, width}, 2)),
        v(tandem_normal({1, heads, length, width}, 3)),
        g(tandem_normal({1, heads, length, width}, 4)) {}
};

bench::Work forward(std::int64_t length, bool causal) {
  return bench::repeat([o = Operands(length), causal] {
    return tandem::nn::scaled_dot_product_attention(o.q, o.k, o.v, {.causal = causal});
  });
}
bench::Work forward_backward(std::int64_t length) {
  return bench::repeat([o = Operands(length)]() -> Tensor {
    GradientTape tape;
    for (const Tensor* t : {&o.q, &o.k, &o.v}) tape.watch(*t);
    const Tensor y = tandem::nn::scaled_dot_product_attention(o.q, o.k, o.v);
    return tape.gradient(y, {o.q, o.k, o.v}, {.output_gradients = {o.g}})[1];
  });
}

[[maybe_unused]] const bool added[] = {
    bench::add(forward_short, [] { return forward(short_length, false); }),
    bench::add(forward_long, [] { return forward(long_length, false); }),
    bench::add(forward_causal, [] { return forward(long_length, true); }),
    bench::add(forward_backward_short, [] { return forward_backward(short_length); }),
    bench::add(forward_backward_long, [] { return forward_backward(long_length); })};
}  // namespace
