// What a library built with CUDA has of NCCL (cuda/nccl). For the definitions of tandem::distribute_nccl.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "tandem/distribute/device_transport.hpp"

namespace TANDEM_NS::cuda::impl {

/// Bytes that one rank of a group makes, by which its ranks find each other.
using NcclId = std::array<char, 128>;

struct NcclOptions {
  NcclId id;
  int rank, size, device;
  double timeout;                    // seconds that connecting, or an operation, may take
  distribute::DeviceErrors* errors;  // lives as long as the transport
};

/// Why NCCL cannot be used on this machine; empty if it can.
TANDEM_API std::string nccl_trouble();
/// Makes an id.
///   throws  errors::UnavailableError if NCCL finds no network
TANDEM_API NcclId nccl_id();
/// A text that only this GPU of the machine has: "0000:3b:00.0".
TANDEM_API std::string gpu_place(int device);
/// Connects the ranks. Collective.
///   throws  errors::UnavailableError if not all ranks have come within the timeout, or NCCL fails
TANDEM_API std::unique_ptr<distribute::DeviceTransport> nccl_group(const NcclOptions& options);

}  // namespace TANDEM_NS::cuda::impl
