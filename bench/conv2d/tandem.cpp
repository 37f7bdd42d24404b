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

// Weights and statistics are Variables, as in a model.
struct Network {
  Tensor x;
  tandem::Variable w, gamma, beta, mean, variance;
  explicit Network(const Case& c)
      : x(tandem_normal({c.batch, c.size, c.size, c.channels}, 1)),
        w(tandem_normal({c.window, c.window, c.channels, c.filters}, 2)),
        gamma(tandem_normal({c.filters}, 4)),
        beta(tandem_normal({c.filters}, 5)),
        mean(tandem_normal({c.filters}, 6)),
        variance(0.5 + tandem::square(tandem_normal({c.filters}, 7))) {}
  Tensor operator()(const Tensor& in) const {
    return tandem::nn::relu(tandem::nn::batch_normalization(convolved(in, w), mean, variance, beta, gamma, epsilon));
  }
};
void add_inference(const Case& c) {
  bench::add(c.name(inference), [=] { return bench::repeat([n = Network(c)] { return n(n.x); }); });
  bench::add(c.name(inference) + "@traced", [=] {
    const auto n = std::make_shared<Network>(c);
    return bench::repeat([n, f = tandem::function([n](const Tensor& x) { return (*n)(x); })] { return f(n->x); });
  });
}

bool add_all() {
  for (const Case& c : inference_cases) add_inference(c);
  for (const Case& c : cases) {
    bench::add(c.name(forward), [=] { return conv_forward(c); });
    bench::add(c.name(forward_backward), [=] { return conv_forward_backward(c); });
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
