// Blocks of fibers: see emulator.hpp.
#include <ucontext.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "tests/cuda/emulator/emulator.hpp"
#include "tests/cuda/emulator/memory.hpp"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulator {
namespace {

constexpr std::size_t stack_bytes = 64 * 1024;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[stack_bytes]};
  bool done = true;
};

struct Scheduler {
  std::vector<Fiber> fibers;
  ucontext_t home;
  Fiber* current = nullptr;
  Kernel kernel{};

  static Scheduler& get() {
    static Scheduler s;
    return s;
  }
  static void body() {
    Scheduler& s = get();
    s.kernel.call(s.kernel.self);
    s.current->done = true;
    swapcontext(&s.current->context, &s.home);
  }
  void start(unsigned threads) {
    if (fibers.size() < threads) fibers = std::vector<Fiber>(threads);
    for (unsigned i = 0; i < threads; ++i) {
      Fiber& f = fibers[i];
      getcontext(&f.context);
      f.context.uc_stack.ss_sp = f.stack.get();
      f.context.uc_stack.ss_size = stack_bytes;
      f.context.uc_link = nullptr;
      makecontext(&f.context, &Scheduler::body, 0);
      f.done = false;
    }
  }
  // From barrier to barrier. A thread that has ended while others wait would hang a GPU: it ends the test here.
  void run_block(unsigned threads) {
    start(threads);
    for (bool more = true; more;) {
      unsigned ended = 0;
      for (unsigned i = 0; i < threads; ++i) {
        threadIdx = {i, 0, 0};
        current = &fibers[i];
        if (!current->done) swapcontext(&home, &current->context);
        ended += current->done;
      }
      if (ended && ended != threads) std::abort();
      more = ended == 0;
    }
  }
};

}  // namespace

void barrier() {
  Scheduler& s = Scheduler::get();
  swapcontext(&s.current->context, &s.home);
}
void run_kernel(unsigned blocks, unsigned threads, Kernel kernel) {
  const Unlocked unlocked;
  Scheduler& s = Scheduler::get();
  s.kernel = kernel;
  gridDim = dim3(blocks);
  blockDim = dim3(threads);
  for (unsigned b = 0; b < blocks; ++b) {
    blockIdx = {b, 0, 0};
    s.run_block(threads);
  }
}

}  // namespace emulator
