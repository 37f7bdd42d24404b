// The cost and gain of a traced function for a graph of 50 operations, and the cost of tracing and compiling large
// graphs, which must grow linearly with their size. The files of the training steps add the cost of tracing those
// (bench::add_trace_cost).
#include "../support/tandem.hpp"

namespace {
using tandem::Tensor;

/// Ten times five operations, including matrix products, so that the graph is not fused to one loop.
Tensor fifty(const Tensor& in, const Tensor& w) {
  Tensor x = in;
  for (int i = 0; i < 10; ++i) x = tandem::tanh(tandem::matmul(x, w) + x) * 0.5f - in;
  return x;
}

Tensor rows() { return bench::tandem_normal({4, 8}, 1); }
Tensor square() { return bench::tandem_normal({8, 8}, 2, 0.3f); }

template <class F>
bench::Work thousand_calls(F f) {
  return bench::repeat([f, x = rows(), w = square()] {
    Tensor y;
    for (int i = 0; i < 1000; ++i) y = f(x, w);
    return y;
  });
}

constexpr std::int64_t many = 16000;

/// An Adam step over many small Variables.
auto many_variables() {
  std::vector<tandem::Variable> w;
  for (std::int64_t i = 0; i < many; ++i) w.emplace_back(tandem::ones({4}));
  const tandem::optimizers::Adam adam;
  adam.build(w);
  const auto step = [w, adam](const Tensor& g) {
    adam.apply_gradients(std::vector<tandem::Gradient>(w.size(), tandem::Gradient(g)), w);
    return g;
  };
  return std::make_tuple(step, tandem::ones({4}));
}
template <class Part>
auto many_slices(const tandem::Shape& shape, Part part) {
  const auto sum = [part](const Tensor& x) {
    Tensor y = part(x, 0);
    for (std::int64_t i = 1; i < many; ++i) y = y + part(x, i);
    return y;
  };
  return std::make_tuple(sum, tandem::ones(shape));
}
auto many_row_gradients() {
  const auto gradient = [](const Tensor& x) {
    tandem::GradientTape tape;
    tape.watch(x);
    Tensor y = tandem::reduce_sum(x[0] * x[0]);
    for (std::int64_t i = 1; i < many; ++i) y = y + tandem::reduce_sum(x[i] * x[i]);
    return tape.gradient(y, x);
  };
  return std::make_tuple(gradient, tandem::ones({many, 4}));
}

bool add_all() {
  bench::add_trace_cost("trace_cost/16000_variables", &many_variables);
  bench::add_trace_cost("trace_cost/16000_columns", [] {
    return many_slices({2, many}, [](const Tensor& x, std::int64_t i) { return x(tandem::Ellipsis, i); });
  });
  bench::add_trace_cost("trace_cost/16000_rows", [] {
    return many_slices({many, 2}, [](const Tensor& x, std::int64_t i) { return x[i]; });
  });
  bench::add_trace_cost("trace_cost/16000_row_gradients", &many_row_gradients);
  bench::add("trace_cost/1000_calls_of_50_ops", [] { return thousand_calls(fifty); });
  bench::add("trace_cost/1000_calls_of_50_ops@traced", [] { return thousand_calls(tandem::function(fifty)); });
  return bench::add_trace_cost("trace_cost/50_ops", [] { return std::make_tuple(fifty, rows(), square()); });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
