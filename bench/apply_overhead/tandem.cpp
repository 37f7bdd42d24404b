// The cost of one small operation in Tandem: a + b of 32 elements, without and with a recording tape.
#include "../support/tandem.hpp"

namespace {
using bench::tandem_normal;
using tandem::Tensor;

bench::Work no_tape() {
  return bench::repeat([a = tandem_normal({32}, 1), b = tandem_normal({32}, 2)] { return a + b; });
}

/// A thousand operations per tape, so that creating and growing the tape is included in the figure.
bench::Work recorded() {
  const Tensor a = tandem_normal({32}, 1), b = tandem_normal({32}, 2);
  constexpr int operations = 1000;
  return bench::repeat(
      [=] {
        tandem::GradientTape tape;
        tape.watch(a);
        Tensor c;
        for (int i = 0; i < operations; ++i) {
          c = a + b;
          benchmark::DoNotOptimize(c);
        }
        return c;
      },
      operations);
}

[[maybe_unused]] const bool added[] = {bench::add("apply_overhead/add_32", no_tape),
                                       bench::add("apply_overhead/add_32_recorded", recorded)};
}  // namespace
