// TANDEM_TEST_ISA=baseline or v3: the tests of this program run on the kernels of that set where the machine has a
// better one; ./dev test --sanitize runs every program once with each. Part of every test program in compiled mode.
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tandem/cpu/simd/isa.hpp"

#if __has_include(<catch2/catch_all.hpp>)
using TestListener = Catch::EventListenerBase;
#else
using TestListener = Catch::TestEventListenerBase;
#endif

namespace {

using namespace tandem;

struct UseSet : TestListener {
  using TestListener::TestListener;
  void testCaseStarting(const Catch::TestCaseInfo&) override {
    const char* name = std::getenv("TANDEM_TEST_ISA");
    if (!name) return;
    const std::string set = name;
    if (set != "baseline" && set != "v3") throw std::invalid_argument("TANDEM_TEST_ISA: baseline or v3, not " + set);
    const int level = set == "v3" ? cpu::level_v3 : cpu::level_baseline;
    cpu::isa_level.store(static_cast<signed char>(std::min(level, cpu::best_isa())));
  }
};
CATCH_REGISTER_LISTENER(UseSet)

}  // namespace
