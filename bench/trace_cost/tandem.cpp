// What a traced function costs and gains on a graph of 50 operations; the training steps' own files add what it costs
// to trace them (bench::add_trace_cost).
#include "../support/tandem.hpp"

namespace {
using tandem::Tensor;

/// Ten times five operations, products among them, so that the graph does not shrink to one fused loop.
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

bool add_all() {
  bench::add("trace_cost/1000_calls_of_50_ops", [] { return thousand_calls(fifty); });
  bench::add("trace_cost/1000_calls_of_50_ops@traced", [] { return thousand_calls(tandem::function(fifty)); });
  return bench::add_trace_cost("trace_cost/50_ops", [] { return std::make_tuple(fifty, rows(), square()); });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
