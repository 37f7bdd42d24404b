// How a kernel reports an operand's value that the op rejects (an index out of range, a zero divisor): the first one
// is written to the queue's page, which the host reads after its next wait. For .cu files.
#pragma once
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

class Reporter {
 public:
  explicit Reporter(const KernelCall& c) : fault_(queue_of(c).fault), op_(c.op) {}

  /// Returns whether index is in [low, limit); if not, reports it to the host.
  ///   unit   what the index is, a host string that outlives the launch; null: "index"
  __device__ bool in_range(i64 index, i64 position, i64 limit, i64 low = 0, const char* unit = nullptr) const {
    if (index >= low && index < limit) return true;
    tell({1, op_, unit, nullptr, index, position, low, limit});
    return false;
  }

  /// Reports a problem at a position, which counts rows, elements, ...: "element 3 is an integer ...".
  ///   unit, what   host strings that outlive the launch
  __device__ void complain(const char* unit, const char* what, i64 position) const {
    tell({1, op_, unit, what, 0, position, 0, 0});
  }

 private:
  // The host may read at any time, while kernels of another of its threads run: `found` is 2 only behind the rest.
  __device__ void tell(const Fault& f) const {
    if (atomicCAS(&fault_->found, 0, 1) != 0) return;
    *fault_ = f;
    __threadfence_system();
    *const_cast<volatile int*>(&fault_->found) = 2;
  }
  Fault* fault_;
  const char* op_;
};

}  // namespace TANDEM_NS::cuda
