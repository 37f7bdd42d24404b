// Pointwise operations in Tandem, as a user writes them; the chain is also traced, which makes it one loop.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::pointwise;
using bench::tandem_normal;
using tandem::Tensor;

template <class F>
void binary(const char* operation, F f) {
  for (const std::int64_t n : {million, sixteen_million}) {
    bench::add(name(operation, n), [=] {
      return bench::repeat([f, a = tandem_normal({n}, 1), b = tandem_normal({n}, 2)] { return f(a, b); });
    });
  }
}

template <class F>
bench::Work calls(F f, std::int64_t n) {
  return bench::repeat([f, x = tandem_normal({n}, 1)] { return f(x); });
}

template <class F>
void unary(const char* operation, F f) {
  bench::add(name(operation, million), [=] { return calls(f, million); });
}

Tensor gelu(const Tensor& x) { return x * half * (1 + tandem::tanh(inner * (x + cubic * x * x * x))); }

bool add_all() {
  binary("add", [](const Tensor& a, const Tensor& b) { return a + b; });
  binary("mul", [](const Tensor& a, const Tensor& b) { return a * b; });
  unary("exp", [](const Tensor& x) { return tandem::exp(x); });
  unary("tanh", [](const Tensor& x) { return tandem::tanh(x); });
  unary("sigmoid", [](const Tensor& x) { return tandem::sigmoid(x); });
  unary("relu", [](const Tensor& x) { return tandem::nn::relu(x); });
  for (const std::int64_t n : {million, sixteen_million}) {
    bench::add(name("gelu9", n), [=] { return calls(gelu, n); });
    bench::add(name("gelu9", n) + "@traced", [=] { return calls(tandem::function(gelu), n); });
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
