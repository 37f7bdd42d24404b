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

bench::Work forward() {
  return bench::repeat([a = bench::tandem_normal({32}, 1), b = operand()] { return chain(a, b); });
}

bench::Work forward_backward() {
  return bench::repeat([a = bench::tandem_normal({32}, 1), b = operand()] {
    tandem::GradientTape tape;
    tape.watch(a);
    return tape.gradient(chain(a, b), a);
  });
}

bench::Work traced() {
  return bench::repeat([f = tandem::function(chain), a = bench::tandem_normal({32}, 1), b = operand()] { return f(a, b); });
}

[[maybe_unused]] const bool added[] = {bench::add("chain100/forward", forward), bench::add("chain100/forward@traced", traced),
                                       bench::add("chain100/forward_backward", forward_backward)};
}  // namespace
