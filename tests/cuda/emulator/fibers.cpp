// Blocks of fibers: see emulator.hpp. A fiber's stack is made once; from then on fibers change by jumps, which, unlike
// swapcontext, do not call the kernel of the operating system.
#include <setjmp.h>
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
  jmp_buf at;
  std::unique_ptr<char[]> stack;
  bool done = true;
};

struct Scheduler {
  std::vector<Fiber> fibers;
  jmp_buf home;
  Fiber* current = nullptr;
  Kernel kernel{};
  int kernels = 0;

  static Scheduler& get() {
    static Scheduler s;
    return s;
  }
  // What a fiber executes: the kernel, again and again.
  static void body() {
    Scheduler& s = get();
    for (;;) {
      s.kernel.call(s.kernel.self);
      s.current->done = true;
      s.leave();
    }
  }
  void leave() {
    if (!_setjmp(current->at)) _longjmp(home, 1);
  }
  // Runs the current fiber until it leaves.
  void enter() {
    if (_setjmp(home)) return;
    if (current->stack) _longjmp(current->at, 1);
    current->stack.reset(new char[stack_bytes]);
    ucontext_t first;
    getcontext(&first);
    first.uc_stack.ss_sp = current->stack.get();
    first.uc_stack.ss_size = stack_bytes;
    first.uc_link = nullptr;
    makecontext(&first, &Scheduler::body, 0);
    setcontext(&first);
  }
  // From barrier to barrier. A thread that has ended while others wait would hang a GPU: it ends the test here.
  void run_block(unsigned threads) {
    if (fibers.size() < threads) fibers.resize(threads);
    for (unsigned i = 0; i < threads; ++i) fibers[i].done = false;
    for (bool more = true; more;) {
      unsigned ended = 0;
      for (unsigned i = 0; i < threads; ++i) {
        threadIdx = {i, 0, 0};
        current = &fibers[i];
        if (!current->done) enter();
        ended += current->done;
      }
      if (ended && ended != threads) std::abort();
      more = ended == 0;
    }
  }
};

}  // namespace

void barrier() { Scheduler::get().leave(); }
int kernels_run() { return Scheduler::get().kernels; }
void run_kernel(unsigned blocks, unsigned threads, Kernel kernel) {
  const Unlocked unlocked;
  Scheduler& s = Scheduler::get();
  s.kernel = kernel;
  ++s.kernels;
  gridDim = dim3(blocks);
  blockDim = dim3(threads);
  for (unsigned b = 0; b < blocks; ++b) {
    blockIdx = {b, 0, 0};
    s.run_block(threads);
  }
}

}  // namespace emulator
