// Convolutions in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::conv2d;
using bench::tandem_normal;
using tandem::GradientTape;
using tandem::Tensor;

struct Operands {
  Tensor x, w, g;
  explicit Operands(const Case& c)
      : x(tandem_normal({c.batch, c.size, c.size, c.channels}, 1)),
        w(tandem_normal({c.window, c.window, c.channels, c.filters}, 2)),
        g(tandem_normal({c.batch, c.size, c.size, c.filters}, 3)) {}
};
Tensor convolved(const Tensor& x, const Tensor& w) {
  return tandem::nn::conv2d(x, w, {.padding = tandem::Padding::same});
}

bench::Work conv_forward(const Case& c) {
  return bench::repeat([o = Operands(c)] { return convolved(o.x, o.w); });
}

bench::Work conv_forward_backward(const Case& c) {
  return bench::repeat([o = Operands(c), both = c.input_gradient()] {
    GradientTape tape;
    std::vector<Tensor> sources{o.w};
    if (both) sources.push_back(o.x);
    for (const Tensor& t : sources) tape.watch(t);
    return Tensor(tape.gradient(convolved(o.x, o.w), sources, {.output_gradients = {o.g}})[0]);
  });
}

bool add_all() {
  for (const Case& c : cases) {
    bench::add(c.name(forward), [=] { return conv_forward(c); });
    bench::add(c.name(forward_backward), [=] { return conv_forward_backward(c); });
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
