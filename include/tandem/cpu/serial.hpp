// SerialOps: a thread that works beside others runs its operations on itself alone. Defined in cpu/parallel.inl.
#pragma once
#include "tandem/config.hpp"

namespace TANDEM_NS::cpu {

/// While one exists, parallel_for runs serially on this thread, as in a piece of another parallel_for.
class TANDEM_API SerialOps {
 public:
  SerialOps();
  SerialOps(const SerialOps&) = delete;
  SerialOps& operator=(const SerialOps&) = delete;
  ~SerialOps();

 private:
  bool before_;
};

}  // namespace TANDEM_NS::cpu
