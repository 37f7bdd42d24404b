// Data sets whose elements go to the device. Their order beside kernels is tested on the stand-in of tests/data_gpu.
#include "tandem/data/dataset_devices.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tests/cuda/device.hpp"

using namespace tandem;
using namespace gpu_test;

namespace {

// One result for each batch, read at the end: kernels and copies run while the loop goes on.
template <class D>
std::vector<float> sums(const D& ds, i64 epoch) {
  std::vector<Tensor> results;
  for (const auto& [x, y] : ds.epoch(epoch))
    results.push_back(reduce_sum(exp(x) * 0.5f) + cast(reduce_sum(y), float32));
  std::vector<float> r;
  for (const Tensor& t : results) r.push_back(t.item<float>());
  return r;
}

}  // namespace

TEST_CASE("CUDA data: batches on the device have the values of the host") {
  TANDEM_NEEDS_GPU;
  // On a GPU batches are larger than the page-locked memory of an iteration.
  const i64 width = emulator::barrier ? 20 : 40'000;
  const auto batches = data::from_tensor_slices({reals({640, width}), cast(range(640), int64)}).shuffle().batch(128);
  const auto copied = data::copy_to_device(batches, gpu);
  for (i64 epoch = 0; epoch < 3; ++epoch) {
    const auto want = sums(batches, epoch), got = sums(copied, epoch);
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-4));
  }
  if (emulator::barrier) return;  // it has one thread
  const auto ahead = data::prefetch_to_device(batches, gpu);
  for (i64 epoch = 0; epoch < 10; ++epoch) CHECK(sums(ahead, epoch) == sums(copied, epoch));
  std::int64_t live = cuda::memory_info().live;
  for (int i = 0; i < 20; ++i) (void)ahead.iterator({i, 2}).next();
  CHECK(cuda::memory_info().live == live);
}

TEST_CASE("CUDA data: the copies of a loop are not hidden synchronizations") {
  TANDEM_NEEDS_GPU;
  const Tensor rows = reals({64, 50});
  const auto batches = data::from_tensor_slices({rows, cast(range(64), int64)}).batch(8);
  const auto there = data::copy_to_device(batches, gpu);
  Tensor sum = zeros({8, 50}).gpu();
  const std::uint64_t before = cuda::hidden_synchronizations();
  for (const auto& [x, y] : there.epoch(0)) sum = sum + x;
  CHECK(cuda::hidden_synchronizations() == before);
  cuda::trim();
  for (const auto& [x, y] : there.epoch(1)) sum = sum + x;
  check_near(sum, reduce_sum(reshape(rows, {8, 8, 50}), 0) * 2.f);
}
