// Definitions of distribute_nccl/transport.hpp: how the ranks of a group find each other for NCCL.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/distribute/communicator.hpp"
#include "tandem/distribute_nccl/nccl.hpp"
#include "tandem/distribute_nccl/transport.hpp"

namespace TANDEM_NS::distribute::impl {

#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA

namespace nccl_backend {

/// What a rank tells the others. Texts end at a zero.
struct Greeting {
  cuda::impl::NcclId id;          // of rank 0: the group's
  std::array<char, 256> trouble;  // why it cannot use NCCL
  std::array<char, 64> gpu;
};

template <std::size_t N>
void set_text(std::array<char, N>& to, const std::string& text) {
  std::memcpy(to.data(), text.data(), std::min(text.size(), N - 1));
}
// Never raises: the others wait for it.
inline Greeting greeting(const Communicator& group, int device) {
  Greeting r{};
  std::string trouble = cuda::impl::nccl_trouble();
  try {
    if (trouble.empty() && group.rank() == 0) r.id = cuda::impl::nccl_id();
    if (trouble.empty()) set_text(r.gpu, cuda::impl::gpu_place(device) + " of node " + std::to_string(group.node()));
  } catch (const errors::OpError& e) {
    trouble = e.message();
  }
  set_text(r.trouble, trouble);
  return r;
}
inline std::vector<Greeting> exchange(const Communicator& group, const Greeting& own) {
  std::vector<Greeting> all(static_cast<std::size_t>(group.size()));
  const std::vector<i64> each(all.size(), static_cast<i64>(sizeof own));
  const Collective call{.kind = Collective::all_gather,
                        .input = &own,
                        .output = all.data(),
                        .count = static_cast<i64>(sizeof own),
                        .unit = static_cast<i64>(sizeof own),
                        .receive = each};
  group.run(call, "nccl", "connecting the GPUs");
  return all;
}
inline void check(const std::vector<Greeting>& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].trouble[0])
      errors::raise<errors::FailedPreconditionError>(
          "nccl", "rank " + std::to_string(i) + " cannot use NCCL: " + all[i].trouble.data());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (all[i].gpu == all[k].gpu)
        errors::raise<errors::FailedPreconditionError>(
            "nccl", "ranks " + std::to_string(k) + " and " + std::to_string(i) + " use the same GPU, " +
                        all[i].gpu.data() +
                        ": each rank needs one of its own, such as Device{Device::gpu, world.local_rank()}");
}

}  // namespace nccl_backend

TANDEM_INLINE std::unique_ptr<DeviceTransport> nccl_transport(const Communicator& group, DeviceErrors& errors,
                                                              int device) {
  const std::vector<nccl_backend::Greeting> all = nccl_backend::exchange(group, nccl_backend::greeting(group, device));
  nccl_backend::check(all);
  return cuda::impl::nccl_group({all[0].id, group.rank(), group.size(), device, group.timeout(), &errors});
}

#else

TANDEM_INLINE std::unique_ptr<DeviceTransport> nccl_transport(const Communicator&, DeviceErrors&, int) {
  errors::raise<errors::UnimplementedError>("nccl", "this library was built without CUDA");
}

#endif

}  // namespace TANDEM_NS::distribute::impl
