// A chain of 100 small operations in Tandem: x = (x + b) * b, fifty times, on 32 elements.
#include "../support/tandem.hpp"

namespace {
using tandem::Tensor;

Tensor chain(const Tensor& a, const Tensor& b) {
  Tensor x = a;
  for (int i = 0; i < 50; ++i) {
    x = x + b;
    x = x * b;
  }
  return x;
}

Tensor operand() { return bench::tandem_from(std::vector<float>(32, 1.01f), {32}); }

Tensor chain_gradient(const Tensor& a, const Tensor& b) {
  tandem::GradientTape tape;
  tape.watch(a);
  return tape.gradient(chain(a, b), a);
}

template <class F>
bench::Work calls(F f) {
  return bench::repeat([f, a = bench::tandem_normal({32}, 1), b = operand()] { return f(a, b); });
}

bool add_all() {
  bench::add("chain100/forward", [] { return calls(chain); });
  bench::add("chain100/forward@traced", [] { return calls(tandem::function(chain)); });
  bench::add("chain100/forward_backward", [] { return calls(chain_gradient); });
  bench::add("chain100/forward_backward@traced", [] { return calls(tandem::function(chain_gradient)); });
  return bench::add_trace_cost("trace_cost/chain100",
                               [] { return std::make_tuple(chain, bench::tandem_normal({32}, 1), operand()); });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
