// debugging::set_log_device_placement and config::cpu_features.
#include "tandem/ops/debug/device_placement.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/devices.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;

namespace {

using Lines = std::vector<std::string>;
Lines lines;
void keep(const char* line) { lines.push_back(line); }
Lines taken() { return std::exchange(lines, {}); }

}  // namespace

TEST_CASE("set_log_device_placement writes one line an op, with its device") {
  const sim::Installed installed;
  const Tensor x = constant({1.f, 2.f}), there = x.to(sim::device);
  lines.clear();
  debugging::set_log_device_placement(true, keep);
  sin(x);
  exp(there, {.name = "power"});
  CHECK(taken() == Lines{"sin on CPU:0", "power (exp) on SIM:0"});

  GradientTape tape;
  tape.watch(there);
  const Tensor y = sin(there);
  taken();
  (void)tape.gradient(y, there);
  CHECK(std::ranges::count(taken(), "cos on SIM:0") == 1);

  const auto f = function([](const Tensor& t) { return exp(sin(t)); });
  f(there);
  CHECK(taken() == Lines{"Sin (sin) on SIM:0", "Exp (exp) on SIM:0"});
  const auto late = function([](const Tensor& t) {
    debugging::set_log_device_placement(false);
    return t;
  });
  CHECK_THROWS_AS(late(x), errors::FailedPreconditionError);
  debugging::set_log_device_placement(false);
  debugging::set_log_device_placement(false);  // no effect: it is off
  sin(x);
  CHECK(lines.empty());
}

TEST_CASE("cpu_features: the kernels in use are those of a set that the machine has") {
  const config::CpuFeatures features = config::cpu_features();
  CHECK((features.kernels == "baseline" || features.avx2));
  CHECK((features.kernels != "AVX-512" || features.avx512));
  const int before = cpu::isa();
  cpu::isa_level = cpu::level_baseline;
  CHECK(config::cpu_features().kernels == "baseline");
  cpu::isa_level = static_cast<signed char>(before);
}
