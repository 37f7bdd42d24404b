// Runs a check with the kernels of every instruction set that the machine has.
#pragma once
#include "tandem/cpu/simd/isa.hpp"
#include "tests/support/catch.hpp"

namespace testing {

template <class F>
void on_every_set(F f) {
  const int best = tandem::cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    tandem::cpu::isa_level.store(static_cast<signed char>(level));
    CAPTURE(level);
    f();
  }
  tandem::cpu::isa_level.store(static_cast<signed char>(best));
}

}  // namespace testing
