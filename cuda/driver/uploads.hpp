// Copies from the host on a stream of their own, beside the kernels of the compute stream: the Uploads of GPUs.
#pragma once
#include <cstddef>

#include "tandem/core/uploads.hpp"

namespace TANDEM_NS::cuda {

/// Begins copies to a device; keeps up to `blocks` blocks of its memory for the next ones.
Ref<Uploads> uploads(int device, std::size_t blocks);

}  // namespace TANDEM_NS::cuda
