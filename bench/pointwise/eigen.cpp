// Pointwise operations in Eigen: one expression evaluated into preallocated memory, split over the threads.
#include "../support/eigen.hpp"
#include "work.hpp"

namespace {
using namespace bench::pointwise;
using bench::Array;
using bench::eigen_normal;

template <class F>
bench::Work into(F f, std::int64_t n) {
  auto c = std::make_shared<Array>(Array::Ones(n));
  return bench::repeat_into(
      [=, a = eigen_normal(n, 1), b = eigen_normal(n, 2)] {
        bench::split(n, [&](std::int64_t from, std::int64_t length) {
          c->segment(from, length) = f(a.segment(from, length), b.segment(from, length));
        });
      },
      [c] { return bench::eigen_values(*c); });
}

template <class F>
void binary(const char* operation, F f) {
  for (const std::int64_t n : {million, sixteen_million}) bench::add(name(operation, n), [=] { return into(f, n); });
}

template <class F>
void unary(const std::string& name, F f, std::int64_t n = million) {
  bench::add(name, [=] { return into([f](auto a, auto) { return f(a); }, n); });
}

bool add_all() {
  binary("add", [](auto a, auto b) { return a + b; });
  binary("mul", [](auto a, auto b) { return a * b; });
  unary("pointwise/exp_1M", [](auto a) { return a.exp(); });
  unary("pointwise/tanh_1M", [](auto a) { return a.tanh(); });
  unary("pointwise/sigmoid_1M", [](auto a) { return a.logistic(); });
  unary("pointwise/relu_1M", [](auto a) { return a.cwiseMax(0.f); });
  // One fused expression: the reference for the traced chain, not for the eager one.
  const auto gelu = [](auto x) { return x * half * (1.f + (inner * (x + cubic * x * x * x)).tanh()); };
  for (const std::int64_t n : {million, sixteen_million}) unary(name("gelu9", n) + "@fused", gelu, n);
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
