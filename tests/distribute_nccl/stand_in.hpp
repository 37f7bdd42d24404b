// GPUs and an NCCL of host memory and threads, for tests of tandem::distribute_nccl without a GPU. Each stream is a
// thread that runs what it was given in order; events, waits and collective operations are asynchronous, as on a GPU.
// Kernels are those of the CPU. NCCL's calls are "in progress" at first, and an operation ends when all ranks have
// launched it. Not here: tests.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stand_in {

/// GPU:0 to GPU:3 exist during the lifetime of this object.
class Installed {
 public:
  Installed();
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  ~Installed();
};

/// How often this process has waited for a GPU.
std::int64_t waits(int device);
/// What NCCL was asked for on a GPU since it was asked for this: "all_reduce float32 6 sum".
std::vector<std::string> take_calls(int device);

/// Faults of one GPU, or of this thread, until clear_faults().
void lose_operations(int device);   // what it launches from now on does not reach the others
void break_connection(int device);  // the operation that runs, or the next one, finds that another rank has gone
void never_connect(int device);     // connecting does not end
void refuse_questions(int device);  // nothing can be asked after waits
void hide_library();                // of this thread: there is no NCCL
void clear_faults();
/// Communicators that were made, and not destroyed or aborted; those that were aborted.
int live_communicators();
int aborted_communicators();

}  // namespace stand_in
