// The real NCCL, where it is installed: every function that the library calls is in it. The kernels that call it, in a
// library with CUDA. Neither needs a GPU.
#include "cuda/nccl/library.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/distribute/bucket_ops.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tests/support/catch.hpp"

TEST_CASE("NCCL: the installed library has each function of the table") {
  const tandem::cuda::Library<tandem::cuda::Nccl> nccl = tandem::cuda::open_nccl();
  if (!nccl.is_open()) {
    CHECK_THAT(nccl.error, ContainsSubstring("cannot be opened"));
    TANDEM_SKIP("no NCCL: " + nccl.error);
  }
  const auto& f = nccl.functions;
  CHECK((f.version && f.error_string && f.last_error && f.unique_id && f.init && f.finalize && f.destroy && f.abort));
  CHECK((f.async_error && f.group_start && f.group_end && f.all_reduce && f.reduce && f.broadcast && f.all_gather));
  CHECK((f.reduce_scatter && f.send && f.receive));
  int version = 0;
  REQUIRE(f.version(&version) == ncclSuccess);
  CHECK(version / 10000 == NCCL_MAJOR);
  CHECK(version >= NCCL_VERSION(2, 14, 0));
  CHECK_THAT(std::string(f.error_string(ncclRemoteError)), ContainsSubstring("remote"));
}

TEST_CASE("NCCL: each collective op has a kernel for GPUs in a library with CUDA") {
  using namespace tandem;
  if (!backends[Device::gpu]) TANDEM_SKIP("a library without CUDA");
  const auto have_kernels = [](const auto& ops) {
    for (const OpDef* op : ops) {
      INFO(op->name);
      CHECK(op->flags.collective);
      CHECK(op->cuda != nullptr);
    }
  };
  have_kernels(collective_ops);
  have_kernels(bucket_ops);
}
