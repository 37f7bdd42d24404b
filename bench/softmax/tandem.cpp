// Softmax and its loss in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::softmax;
using bench::tandem_normal;
using tandem::GradientTape;

bench::Work softmax_forward() {
  return bench::repeat([x = tandem_normal({rows, columns}, 1)] { return tandem::nn::softmax(x); });
}

bench::Work softmax_forward_backward() {
  return bench::repeat([x = tandem_normal({rows, columns}, 1), g = tandem_normal({rows, columns}, 2)] {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(tandem::nn::softmax(x), x, {.output_gradients = {g}});
  });
}

bench::Work nll_forward_backward(std::int64_t m, std::int64_t n) {
  return bench::repeat([x = tandem_normal({m, n}, 1), y = bench::tandem_indices({m}, n, 3)] {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(tandem::reduce_mean(tandem::nn::sparse_softmax_cross_entropy_with_logits(y, x)), x);
  });
}

[[maybe_unused]] const bool added[] = {
    bench::add(forward, softmax_forward), bench::add(forward_backward, softmax_forward_backward),
    bench::add(nll, [] { return nll_forward_backward(rows, columns); }),
    bench::add(nll_tall, [] { return nll_forward_backward(tall_rows, tall_columns); })};
}  // namespace
