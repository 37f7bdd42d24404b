// recompute_grad: the gradients of the function itself, at less memory; Variables, traced calls, several arguments.
#include "tandem/autodiff/recompute.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
using Floats = std::vector<float>;

Tensor deep(const Tensor& x) {
  Tensor y = x;
  for (int i = 0; i < 20; ++i) y = tanh(y * 1.1f);
  return y;
}
std::size_t kept_by(const GradientTape& tape) {
  std::size_t bytes = 0;
  for (const TapeMemory& m : tape.memory()) bytes += static_cast<std::size_t>(m.bytes);
  return bytes;
}
}  // namespace

TEST_CASE("recompute_grad: values and gradients are the function's, of which the tape keeps nothing") {
  const Tensor x = random::normal({1000}, {.seed = 1});
  const auto cheap = recompute_grad(&deep);
  GradientTape plain({.persistent = true}), small({.persistent = true});
  plain.watch(x), small.watch(x);
  Tensor y, z;
  {
    const auto pause = small.stop_recording();
    y = deep(x);
  }
  {
    const auto pause = plain.stop_recording();
    z = cheap(x);
  }
  CHECK(z.to_vector<float>() == y.to_vector<float>());
  CHECK(kept_by(plain) >= 20 * 4000);
  CHECK(kept_by(small) == 0);
  CHECK(small.gradient(z, x).to_vector<float>() == plain.gradient(y, x).to_vector<float>());
}

TEST_CASE("recompute_grad: gradients of both orders, several arguments, lists") {
  const auto f = recompute_grad([](const Tensor& a, const Tensor& b) { return sin(a * b) + square(a); });
  const Tensor a = constant(std::vector<double>{.3, -.7, 1.1}), b = constant(std::vector<double>{1.5, .2, -.4});
  CHECK(test::compute_gradient_error(f, {a, b}, {.delta = 1e-5}) < 1e-6);
  const auto slope = [&](const Tensor& p, const Tensor& q) {
    GradientTape tape;
    tape.watch(p);
    return tape.gradient(f(p, q), p);
  };
  CHECK(test::compute_gradient_error(slope, {a, b}, {.delta = 1e-5}) < 1e-6);
  const auto of_list = recompute_grad([](const std::vector<Tensor>& x) { return x[0] * x[1] * x[2] * x[3]; });
  const std::vector<Tensor> list{constant(2.f), constant(3.f), constant(5.f), constant(7.f)};
  GradientTape tape;
  for (const Tensor& t : list) tape.watch(t);
  const std::vector<Tensor> g = tape.gradient(of_list(list), list);
  CHECK((g[0].item<float>() == 105 && g[3].item<float>() == 30));
  const auto chosen = recompute_grad([](const Tensor& x, const Tensor& i) { return gather(x, i); });
  GradientTape other;
  const Tensor x = constant({1.f, 2.f, 3.f});
  other.watch(x);
  CHECK(other.gradient(chosen(x, constant({2, 2})), x).to_vector<float>() == Floats{0, 0, 2});
}

TEST_CASE("recompute_grad: Variables that the function reads get their gradients, eager and traced") {
  const Variable w(constant({1.f, 2.f})), fixed(constant({5.f, 5.f}), {.trainable = false});
  const auto block = recompute_grad([&](const Tensor& x) { return reduce_sum(x * w * w * fixed); });
  const auto both = [&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = block(x);
    auto [dx, dw] = tape.gradient(y, {x, w});
    return std::pair(Tensor(dx), Tensor(dw));
  };
  const Tensor x = constant({3.f, 4.f});
  const auto eager = both(x), traced = function(both)(x);
  CHECK(eager.first.to_vector<float>() == Floats{5, 20});
  CHECK(eager.second.to_vector<float>() == Floats{30, 80});
  CHECK(traced.first.to_vector<float>() == Floats{5, 20});
  CHECK(traced.second.to_vector<float>() == Floats{30, 80});
}
