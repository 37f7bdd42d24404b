// Scopes of devices and names: what is made in them, and what holds again behind them.
#include "tandem/core/scope.hpp"

#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;

TEST_CASE("DeviceScope: the innermost one decides, and the outer one holds again behind it") {
  const sim::Installed installed;
  const Device cpu{};
  CHECK(zeros({2}).device() == cpu);
  {
    const DeviceScope outer(sim::device);
    CHECK(zeros({2}).device() == sim::device);
    {
      const DeviceScope inner(cpu);
      CHECK(zeros({2}).device() == cpu);
      {
        const DeviceScope innermost(sim::device);
        CHECK(zeros({2}).device() == sim::device);
      }
      CHECK(zeros({2}).device() == cpu);
    }
    CHECK(zeros({2}).device() == sim::device);
    CHECK_THROWS_AS(
        [] {
          const DeviceScope inner(Device{});
          errors::raise<errors::InternalError>("test", "leaves the scope");
        }(),
        errors::InternalError);
    CHECK(zeros({2}).device() == sim::device);
  }
  CHECK(zeros({2}).device() == cpu);
}

TEST_CASE("DeviceScope: operands decide where they are, not the scope") {
  const sim::Installed installed;
  const Tensor here = ones({2});
  const DeviceScope scope(sim::device);
  CHECK(exp(here).device() == Device{});
}
