// Pooling in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::pool;
using bench::tandem_normal;
using tandem::Tensor;

using Pool = Tensor (*)(const Tensor&, tandem::nn::PoolOptions);

bench::Work pool_forward(Pool f) {
  return bench::repeat([f, x = tandem_normal({batch, size, size, channels}, 1)] { return f(x, {}); });
}

bench::Work pool_forward_backward(Pool f) {
  return bench::repeat([f, x = tandem_normal({batch, size, size, channels}, 1),
                        g = tandem_normal({batch, size / 2, size / 2, channels}, 2)] {
    tandem::GradientTape tape;
    tape.watch(x);
    return tape.gradient(f(x, {}), x, {.output_gradients = {g}});
  });
}

[[maybe_unused]] const bool added[] = {
    bench::add(max_forward, [] { return pool_forward(tandem::nn::max_pool); }),
    bench::add(max_forward_backward, [] { return pool_forward_backward(tandem::nn::max_pool); }),
    bench::add(avg_forward, [] { return pool_forward(tandem::nn::avg_pool); }),
    bench::add(avg_forward_backward, [] { return pool_forward_backward(tandem::nn::avg_pool); })};
}  // namespace
