// Pointwise operations in LibTorch: as a user writes them, and (@out) writing to preallocated memory.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::pointwise;
using bench::torch_normal;

template <class F, class Out>
void binary(const char* operation, F f, Out f_out) {
  for (const std::int64_t n : {million, sixteen_million}) {
    bench::add(name(operation, n), [=] {
      return bench::repeat_no_grad([f, a = torch_normal({n}, 1), b = torch_normal({n}, 2)] { return f(a, b); });
    });
    bench::add(name(operation, n) + "@out", [=] {
      return bench::repeat_no_grad([f_out, a = torch_normal({n}, 1), b = torch_normal({n}, 2),
                                    c = torch::ones({n})]() mutable { return f_out(c, a, b); });
    });
  }
}

template <class F, class Out>
void unary(const char* operation, F f, Out f_out) {
  bench::add(name(operation, million),
             [=] { return bench::repeat_no_grad([f, a = torch_normal({million}, 1)] { return f(a); }); });
  bench::add(name(operation, million) + "@out", [=] {
    return bench::repeat_no_grad(
        [f_out, a = torch_normal({million}, 1), c = torch::ones({million})]() mutable { return f_out(c, a); });
  });
}

bench::Work gelu_chain(std::int64_t n) {
  return bench::repeat_no_grad(
      [x = torch_normal({n}, 1)] { return x * half * (1 + torch::tanh(inner * (x + cubic * x * x * x))); });
}

bool add_all() {
  using T = at::Tensor;
  binary(
      "add", [](const T& a, const T& b) { return a + b; },
      [](T& c, const T& a, const T& b) { return torch::add_out(c, a, b); });
  binary(
      "mul", [](const T& a, const T& b) { return a * b; },
      [](T& c, const T& a, const T& b) { return torch::mul_out(c, a, b); });
  unary(
      "exp", [](const T& a) { return torch::exp(a); }, [](T& c, const T& a) { return torch::exp_out(c, a); });
  unary(
      "tanh", [](const T& a) { return torch::tanh(a); }, [](T& c, const T& a) { return torch::tanh_out(c, a); });
  unary(
      "sigmoid", [](const T& a) { return torch::sigmoid(a); },
      [](T& c, const T& a) { return torch::sigmoid_out(c, a); });
  unary(
      "relu", [](const T& a) { return torch::relu(a); }, [](T& c, const T& a) { return torch::relu_out(c, a); });
  for (const std::int64_t n : {million, sixteen_million}) bench::add(name("gelu9", n), [=] { return gelu_chain(n); });
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
