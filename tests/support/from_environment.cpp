// What environment variables set for every test of a program. Part of every test program in compiled mode.
//   TANDEM_TEST_ISA=baseline|v3   runs the tests on the kernels of that instruction set where the machine has a better
//                                 one: ./dev test --sanitize runs every program once with each
//   TANDEM_TEST_DEVICE=GPU:0      creates their tensors on that device
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/simd/isa.hpp"

#if __has_include(<catch2/catch_all.hpp>)
using TestListener = Catch::EventListenerBase;
#else
using TestListener = Catch::TestEventListenerBase;
#endif

namespace {

using namespace tandem;

void use_set(const std::string& set) {
  if (set != "baseline" && set != "v3") throw std::invalid_argument("TANDEM_TEST_ISA: baseline or v3, not " + set);
  const int level = set == "v3" ? cpu::level_v3 : cpu::level_baseline;
  cpu::isa_level.store(static_cast<signed char>(std::min(level, cpu::best_isa())));
}

struct FromEnvironment : TestListener {
  using TestListener::TestListener;
  void testCaseStarting(const Catch::TestCaseInfo&) override {
    if (const char* set = std::getenv("TANDEM_TEST_ISA")) use_set(set);
    if (const char* device = std::getenv("TANDEM_TEST_DEVICE")) scope_.emplace(device_named(device));
  }
  void testCaseEnded(const Catch::TestCaseStats&) override { scope_.reset(); }

 private:
  std::optional<DeviceScope> scope_;
};
CATCH_REGISTER_LISTENER(FromEnvironment)

}  // namespace
