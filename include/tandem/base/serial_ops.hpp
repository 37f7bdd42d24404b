// SerialOps: a thread that works beside others runs its operations on itself alone. Defined in cpu/parallel.inl.
#pragma once
#include "tandem/config.hpp"

namespace TANDEM_NS::detail {

/// While one exists, an operation of this thread uses no other threads (cpu::parallel_for runs serially).
class TANDEM_API SerialOps {
 public:
  SerialOps();
  SerialOps(const SerialOps&) = delete;
  SerialOps& operator=(const SerialOps&) = delete;
  ~SerialOps();

 private:
  bool before_;
};

}  // namespace TANDEM_NS::detail
