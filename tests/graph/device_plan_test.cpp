// Plans on devices other than the CPU: arenas, fusion, steady state, programs on two devices. The kernels are the
// CPU's.
#include <tandem/tandem.hpp>

#include "tandem/core/backend.hpp"
#include "tandem/ops/fused/fused.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;

namespace {

Tensor on_sim(const Tensor& x) { return x.to(sim::device); }

}  // namespace

TEST_CASE("device plan: an elementwise chain on a device is one launch") {
  const sim::Installed installed;
  const auto f = function([](const Tensor& x, const Tensor& y) { return tanh(x * y + x) - exp(y); }, {.name = "f"});
  const Tensor x = constant({0.5f, -1.f, 2.f}), y = constant({1.f, 0.25f, -3.f});
  const Tensor want = tanh(x * y + x) - exp(y), a = on_sim(x), b = on_sim(y);
  CHECK(f(a, b).cpu().to_vector<float>() == want.to_vector<float>());
  const auto before = sim::counts().launches;
  const Tensor result = f(a, b);
  CHECK(sim::counts().launches == before + 1);
  CHECK(result.device() == sim::device);
}

TEST_CASE("device plan: intermediate values lie in an arena that calls reuse") {
  const sim::Installed installed;
  const Tensor w = on_sim(reshape(range(0.f, 16.f), {4, 4}));
  const auto f =
      function([&](const Tensor& x) { return matmul(transpose(matmul(x, w)), matmul(x, w)); }, {.name = "f"});
  const Tensor x = on_sim(reshape(range(0.f, 16.f), {4, 4}));
  const auto concrete = f.get_concrete_function(x);
  CHECK_THAT(concrete->plan(), ContainsSubstring("bytes on SIM:0"));
  CHECK_THAT(concrete->plan(), !ContainsSubstring("no plan"));
  (void)f(x);
  const auto blocks = sim::counts().blocks;
  for (int i = 0; i < 3; ++i) CHECK(f(x).shape() == Shape{4, 4});
  CHECK(sim::counts().blocks == blocks);
  const Tensor host_x = x.cpu(), host_w = w.cpu(), product = matmul(host_x, host_w);
  CHECK(f(x).cpu().to_vector<float>() == matmul(transpose(product), product).to_vector<float>());
}

TEST_CASE("device plan: a program on two devices has an arena for each") {
  const sim::Installed installed;
  const Tensor w = reshape(range(0.f, 4.f), {2, 2}), there = on_sim(w);
  const auto f = function(
      [&](const Tensor& x) {
        const Tensor here = matmul(matmul(x, w), w);
        return matmul(matmul(here.to(sim::device), there), there).cpu() + here;
      },
      {.name = "f"});
  const Tensor x = reshape(range(1.f, 5.f), {2, 2});
  const std::string plan = f.get_concrete_function(x)->plan();
  CHECK_THAT(plan, ContainsSubstring("bytes on SIM:0\n") && ContainsSubstring(" bytes\n"));
  const Tensor here = matmul(matmul(x, w), w), want = matmul(matmul(here, w), w) + here;
  for (int i = 0; i < 2; ++i) CHECK(f(x).to_vector<float>() == want.to_vector<float>());
}

TEST_CASE("device plan: Variables on a device are updated in their own buffers") {
  const sim::Installed installed;
  const Variable total(on_sim(zeros({3})));
  const auto f = function([&](const Tensor& x) { total.assign(total.read_value() * 0.5f + x); }, {.name = "f"});
  const Tensor x = on_sim(ones({3}));
  f(x);
  const auto blocks = sim::counts().blocks;
  f(x);
  CHECK(sim::counts().blocks == blocks);
  CHECK(total.read_value().cpu().to_vector<float>() == std::vector<float>{1.5f, 1.5f, 1.5f});
}

TEST_CASE("device plan: what a device has no kernel for is not fused for it") {
  CHECK(has_kernel(fused_op, Device{}));
  CHECK_FALSE(has_kernel(fused_op, sim::device));  // not installed
  const sim::Installed installed;
  CHECK(has_kernel(fused_op, sim::device));
}
