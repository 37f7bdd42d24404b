// copy_to_device and prefetch_to_device to a GPU, whose copies run beside its kernels. On the stand-in (stand_in.hpp).
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "tandem/core/backend.hpp"
#include "tandem/core/devices.hpp"
#include "tandem/data/dataset_devices.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/all.hpp"
#include "tests/data_gpu/stand_in.hpp"
#include "tests/support/catch.hpp"

namespace data_gpu_dataset_test {
using namespace tandem;

constexpr Device gpu{Device::gpu, 0};

const Tensor rows = reshape(cast(range(4000), float32), {100, 40}), labels = range(100);
const auto batches = data::from_tensor_slices({rows, labels}).shuffle({.seed = 5}).batch(8);

// A loop whose kernels run late: all sums are read at the end.
template <class D>
std::vector<float> sums(const D& ds, i64 epoch, i64 first, Device device) {
  std::vector<Tensor> results;
  for (const auto& [x, y] : ds.epoch(epoch, first)) {
    CHECK(x.device() == device);
    CHECK(y.device() == device);
    results.push_back(reduce_sum(x * 2.f) + reduce_sum(cast(y, float32)));
  }
  std::vector<float> r;
  for (const Tensor& t : results) r.push_back(t.item<float>());
  return r;
}

TEST_CASE("to a GPU: the elements, order and positions of the data set") {
  const stand_in::Installed installed;
  const auto copied = data::copy_to_device(batches, gpu);
  CHECK(copied.is_indexed());
  CHECK(copied.size() == 13);
  for (const i64 ahead : {1, 2, 5, 100}) {
    CAPTURE(ahead);
    const auto ds = data::prefetch_to_device(batches, gpu, ahead);
    for (const i64 epoch : {0, 1, 7}) {
      CHECK(sums(ds, epoch, 0, gpu) == sums(batches, epoch, 0, {}));
      CHECK(sums(ds, epoch, 5, gpu) == sums(batches, epoch, 5, {}));
    }
  }
  CHECK(sums(data::prefetch_to_device(batches, gpu, data::autotune), 3, 0, gpu) == sums(batches, 3, 0, {}));
  CHECK(sums(copied, 2, 0, gpu) == sums(batches, 2, 0, {}));
  CHECK(sums(copied, 2, 6, gpu) == sums(batches, 2, 6, {}));
  CHECK(copied.at(2, 6)[0].to_vector<float>() == batches.at(2, 6)[0].to_vector<float>());
  CHECK(sums(copied.prefetch(2), 2, 0, gpu) == sums(batches, 2, 0, {}));
  CHECK(sums(copied.skip(3), 2, 0, gpu) == sums(batches.skip(3), 2, 0, {}));
}

TEST_CASE("to a GPU: elements that are kept keep their values, texts stay on the host") {
  const stand_in::Installed installed;
  using Named = std::map<std::string, Tensor>;
  const auto named = batches.map([](const Tensor& x, const Tensor& y) {
    return Named{{"x", x}, {"y", y}, {"text", constant("t")}, {"there", y.to(gpu)}};
  });
  std::vector<Named> kept;
  for (const Named& element : data::prefetch_to_device(named, gpu).epoch(4)) kept.push_back(element);
  REQUIRE(kept.size() == 13);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto want = batches.at(4, static_cast<i64>(i));
    CHECK(kept[i]["x"].to_vector<float>() == want[0].to_vector<float>());
    CHECK(kept[i]["y"].to_vector<int>() == want[1].to_vector<int>());
    CHECK(kept[i]["there"].to_vector<int>() == want[1].to_vector<int>());
    CHECK(kept[i]["text"].device().kind == Device::cpu);
  }
}

TEST_CASE("to a GPU: a loop that is left early gives everything back") {
  const stand_in::Installed installed;
  const auto ds = data::prefetch_to_device(batches, gpu, 3);
  CHECK(sums(ds, 0, 0, gpu) == sums(batches, 0, 0, {}));
  const std::int64_t live = config::memory_info("GPU:0").live;
  const auto before = stand_in::counts();
  for (int i = 0; i < 200; ++i) {
    auto it = ds.iterator({i, i % 13});
    for (int n = 0; n < i % 4; ++n) {
      const auto element = it.next();
      if (element) (void)((*element)[0] * 2.f);
    }
  }
  CHECK(sums(ds, 9, 0, gpu) == sums(batches, 9, 0, {}));
  CHECK(config::memory_info("GPU:0").live == live);
  CHECK(stand_in::counts().events == before.events);
  CHECK(stand_in::counts().pinned == before.pinned);
}

TEST_CASE("to a GPU: memory does not grow over epochs") {
  const stand_in::Installed installed;
  const auto ds = data::prefetch_to_device(batches, gpu, 2);
  (void)sums(ds, 0, 0, gpu);
  const auto first = stand_in::counts();
  const std::int64_t live = config::memory_info("GPU:0").live;
  for (i64 epoch = 1; epoch < 11; ++epoch) (void)sums(ds, epoch, 0, gpu);
  CHECK(config::memory_info("GPU:0").live == live);
  CHECK(stand_in::counts().pinned == first.pinned);
}

TEST_CASE("to a GPU: an element that raises takes its place, also where the copy has failed") {
  const stand_in::Installed installed;
  const auto some = batches.map([](const Tensor& x, const Tensor& y) {
    if (x.shape()[0] < 8) throw std::runtime_error("the last one");
    return std::pair(x, y);
  });
  for (const auto& ds : {data::copy_to_device(some, gpu), data::prefetch_to_device(some, gpu)}) {
    auto it = ds.iterator();
    for (int i = 0; i < 12; ++i) CHECK(it.next().has_value());
    CHECK_THROWS_WITH(it.next(), "the last one");
    CHECK(!it.next().has_value());

    auto again = ds.iterator();
    stand_in::fail("cudaMemcpyAsync", 4);
    int failed = 0;
    std::vector<Tensor> results;
    for (int i = 0; i < 12; ++i) try {
        const auto element = again.next();
        REQUIRE(element);
        results.push_back(reduce_sum(element->first));
      } catch (const errors::CudaError& e) {
        CHECK_THAT(e.what(), ContainsSubstring("element 2 of epoch 0, in ") && ContainsSubstring("_to_device"));
        ++failed;
        results.emplace_back();
      }
    CHECK(failed == 1);
    for (std::size_t i = 0; i < 12; ++i)
      if (results[i].is_set())
        CHECK(results[i].item<float>() == reduce_sum(batches.at(0, static_cast<i64>(i))[0]).item<float>());
  }
}

TEST_CASE("to a GPU: an error of the loop's wait for a copy names the element") {
  const stand_in::Installed installed;
  {
    auto it = data::copy_to_device(batches, gpu).iterator({.epoch = 3, .index = 4});
    stand_in::fail("cudaStreamWaitEvent", 4 + 2);  // one wait before and one behind each copy of the two
    CHECK(it.next().has_value());
    CHECK_THROWS_WITH(it.next(), ContainsSubstring("element 5 of epoch 3, in copy_to_device"));
    const auto element = it.next();
    REQUIRE(element);
    CHECK((*element)[0].to_vector<float>() == batches.at(3, 6)[0].to_vector<float>());
  }
  for (int after = 0; after < 12; ++after) {
    CAPTURE(after);
    auto it = data::prefetch_to_device(batches, gpu).iterator({.epoch = 3, .index = 0});
    stand_in::fail("cudaStreamWaitEvent", after);
    int failed = 0;
    for (i64 i = 0; i < 13; ++i) try {
        const auto element = it.next();
        REQUIRE(element);
        CHECK((*element)[0].to_vector<float>() == batches.at(3, i)[0].to_vector<float>());
      } catch (const errors::CudaError& e) {
        CHECK_THAT(e.what(), ContainsSubstring("element " + std::to_string(i) + " of epoch 3, in prefetch_to_device"));
        ++failed;
      }
    CHECK(failed == 1);
  }
}

TEST_CASE("to a GPU: without memory that can be locked the error says so") {
  const stand_in::Installed installed;
  const auto ds = data::copy_to_device(batches, gpu);
  {  // chunks that earlier iterations have left
    std::vector<Ref<Uploads>> rings;
    const std::vector<float> x(1 << 20);
    for (int i = 0; i < 3; ++i)
      for (int n = 0; n < 4; ++n) {
        if (n == 0) rings.push_back(backend_of(gpu).uploads(0, 1));
        (void)rings.back()->start(x.data(), 4 * x.size());
      }
    CHECK(stand_in::counts().pinned == 12 * (1 << 22));
    stand_in::fail("cudaHostAlloc");
    auto it = ds.iterator();
    CHECK_THROWS_WITH(it.next(), ContainsSubstring("does not lock 4194304 more bytes") && ContainsSubstring("GPU:0"));
    CHECK(it.next().has_value());
  }
  CHECK(stand_in::counts().pinned <= 8 * (1 << 22));  // what is kept for later
}

TEST_CASE("to a GPU: memory_limit bounds what is ahead") {
  const stand_in::Installed installed;
  const auto ds = data::prefetch_to_device(batches, gpu, 10).memory_limit(4000);
  CHECK(sums(ds, 1, 0, gpu) == sums(batches, 1, 0, {}));
  CHECK_THROWS_AS(sums(data::prefetch_to_device(batches, gpu).memory_limit(100), 0, 0, gpu),
                  errors::ResourceExhaustedError);
}

}  // namespace data_gpu_dataset_test
