// exchange(): a collective operation as the kernel of an op, on the CPU or on a GPU. Part of the component
// tandem::distribute. For definitions.
#pragma once
#include <string>

#include "tandem/core/kernel.hpp"
#include "tandem/distribute/communicator.hpp"

namespace TANDEM_NS::distribute::impl {

/// Whether a kernel's buffers are in the memory of a GPU.
inline bool is_on_gpu(const KernelCall& c) { return c.stream.device.kind == Device::gpu; }

/// Runs an operation on the buffers of a kernel's call: on the CPU until it has ended, on a GPU in its order.
inline void exchange(const KernelCall& c, const Communicator& group, const Collective& call, const char* op,
                     const std::string& label) {
  if (is_on_gpu(c)) group.join(group.launch(call, c, op, label), c);
  else group.run(call, op, label);
}

}  // namespace TANDEM_NS::distribute::impl
