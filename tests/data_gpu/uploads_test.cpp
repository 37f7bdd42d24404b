// The Uploads of GPUs: the order of copies, events and kernels, memory that is used again, errors. On the stand-in,
// which finds what is used again too early (stand_in.hpp).
#include <cstring>
#include <numeric>
#include <vector>

#include "tandem/core/backend.hpp"
#include "tandem/core/devices.hpp"
#include "tandem/ops/all.hpp"
#include "tests/data_gpu/stand_in.hpp"
#include "tests/support/catch.hpp"

namespace data_gpu_uploads_test {
using namespace tandem;

constexpr Device gpu{Device::gpu, 0};
constexpr i64 chunk = i64{1} << 22;  // bytes, of page-locked memory

Ref<Uploads> uploads(std::size_t blocks) { return backend_of(gpu).uploads(0, blocks); }
Tensor on_gpu(const Ref<Upload>& copy, const Shape& shape, DType dtype = float32) {
  return Tensor::borrow(copy->data(), {shape, dtype, gpu}, Ref<Opaque>(copy.get()));
}
std::vector<float> numbers(i64 n, float first) {
  std::vector<float> r(static_cast<std::size_t>(n));
  std::iota(r.begin(), r.end(), first);
  return r;
}
Ref<Upload> start(const Ref<Uploads>& to, const std::vector<float>& x) { return to->start(x.data(), 4 * x.size()); }
/// The tensor of a copy that is joined; the copy itself is no longer referred to.
Tensor sent(const Ref<Uploads>& to, const std::vector<float>& x) {
  const Ref<Upload> copy = start(to, x);
  copy->join();
  return on_gpu(copy, {static_cast<i64>(x.size())});
}

TEST_CASE("uploads: the stand-in runs what is waited for, and no sooner") {
  const stand_in::Installed installed;
  const auto ring = uploads(4);
  const auto x = numbers(100, 1);
  const Ref<Upload> early = start(ring, x), late = start(ring, x);
  const Tensor unjoined = on_gpu(early, {100}) + 0.f;  // a kernel that does not wait reads what was there before
  late->join();
  const Tensor joined = on_gpu(late, {100}) + 0.f;
  CHECK(unjoined.to_vector<float>() != x);
  CHECK(joined.to_vector<float>() == x);
}

TEST_CASE("uploads: the host's memory is free when start() returns") {
  const stand_in::Installed installed;
  const auto ring = uploads(8);
  std::vector<Tensor> all;
  auto x = numbers(1000, 0);
  for (float i = 0; i < 20; ++i) {
    x = numbers(1000, i);
    all.push_back(sent(ring, x));
    x.assign(x.size(), -1);
  }
  for (float i = 0; i < 20; ++i) CHECK(all[static_cast<std::size_t>(i)].to_vector<float>() == numbers(1000, i));
}

TEST_CASE("uploads: page-locked memory is bounded, whatever a tensor's size") {
  const stand_in::Installed installed;
  const std::int64_t before = stand_in::counts().pinned;
  {
    const auto ring = uploads(2);
    const auto x = numbers(10 * chunk / 4 + 77, 3);
    const std::int64_t copies = stand_in::counts().copies;
    const Tensor there = sent(ring, x);
    CHECK(stand_in::counts().copies == copies + 11);
    CHECK(there.to_vector<float>() == x);
    CHECK(stand_in::counts().pinned <= std::max<std::int64_t>(before, 4 * chunk));
  }
  const std::int64_t kept = stand_in::counts().pinned;
  for (int i = 0; i < 5; ++i) (void)sent(uploads(2), numbers(4 * chunk / 4, 0)).to_vector<float>();
  CHECK(stand_in::counts().pinned == kept);  // the next rings have the same chunks
}

TEST_CASE("uploads: chunks of a ring that has ended are not filled before their copies have run") {
  const stand_in::Installed installed;
  const auto x = numbers(4 * chunk / 4, 1), y = numbers(4 * chunk / 4, 2);
  const Tensor first = sent(uploads(2), x), second = sent(uploads(2), y);
  CHECK(first.to_vector<float>() == x);
  CHECK(second.to_vector<float>() == y);
}

TEST_CASE("uploads: a block is overwritten when the kernels have run that were launched before it was free") {
  const stand_in::Installed installed;
  const auto ring = uploads(4);
  const auto x = numbers(1000, 1), y = numbers(1000, 2);
  std::vector<Tensor> results;
  const void* block = nullptr;
  {
    const Tensor a = sent(ring, x);
    block = a.raw();
    results.push_back(a * 2.f);
    results.push_back(a + 1.f);
  }
  const Ref<Upload> copy = start(ring, y);
  REQUIRE(copy->data() == block);
  stand_in::run_copies();
  CHECK(results[0].to_vector<float>()[10] == 22);
  CHECK(results[1].to_vector<float>()[10] == 12);
  copy->join();
  CHECK(on_gpu(copy, {1000}).to_vector<float>() == y);
}

TEST_CASE("uploads: a block of the allocator is overwritten when what used it before has run") {
  const stand_in::Installed installed;
  const auto x = numbers(1000, 1), y = numbers(1000, 2);
  const auto ring = uploads(4);
  Tensor result;
  const void* block = nullptr;
  {
    const Tensor a = constant(x).to(gpu);
    block = a.raw();
    result = a * 2.f;
  }
  const Ref<Upload> copy = start(ring, y);
  REQUIRE(copy->data() == block);
  stand_in::run_copies();
  CHECK(result.to_vector<float>()[10] == 22);
}

TEST_CASE("uploads: what the allocator gets back is not overwritten by a copy that nobody waited for") {
  const stand_in::Installed installed;
  const void* block = nullptr;
  const auto x = numbers(1000, 5);
  {
    const auto ring = uploads(4);
    const Ref<Upload> copy = start(ring, x);
    block = copy->data();
  }
  const Tensor after = constant(numbers(1000, 1)).to(gpu);
  REQUIRE(after.raw() == block);
  const Tensor sum = after + 0.f;
  (void)sum.to_vector<float>();  // the compute stream has run
  stand_in::run_copies();
  CHECK(after.to_vector<float>() == numbers(1000, 1));
}

TEST_CASE("uploads: blocks outlive their ring, and a ring keeps as many as it was told") {
  const stand_in::Installed installed;
  const std::int64_t events = stand_in::counts().events, live = config::memory_info("GPU:0").live;
  std::vector<Tensor> kept;
  {
    const auto ring = uploads(3);
    for (float i = 0; i < 10; ++i) kept.push_back(sent(ring, numbers(1000, i)));
    for (float i = 0; i < 10; ++i) CHECK(kept[static_cast<std::size_t>(i)].to_vector<float>() == numbers(1000, i));
    const std::int64_t all = config::memory_info("GPU:0").live;
    kept.erase(kept.begin() + 2, kept.end());
    CHECK(config::memory_info("GPU:0").live == live + (all - live) / 10 * 5);  // two kept by us, three by the ring
  }
  CHECK(kept[0].to_vector<float>() == numbers(1000, 0));
  CHECK(kept[1].to_vector<float>() == numbers(1000, 1));
  kept.clear();
  CHECK(config::memory_info("GPU:0").live == live);
  CHECK(stand_in::counts().events <= events + 4);  // those of the chunks
}

TEST_CASE("uploads: a ring has blocks of many sizes; for lack of memory it gives free ones back") {
  const stand_in::Installed installed;
  const std::int64_t live = config::memory_info("GPU:0").live;
  const auto ring = uploads(16);
  for (i64 n = 1; n < 100'000; n = 2 * n + 1) CHECK(sent(ring, numbers(n, 1)).to_vector<float>() == numbers(n, 1));
  CHECK(sent(ring, {}).to_vector<float>().empty());
  config::set_memory_limit("GPU:0", live + 700'000);
  CHECK(sent(ring, numbers(140'000, 2)).to_vector<float>() == numbers(140'000, 2));
  CHECK_THROWS_AS(sent(ring, numbers(200'000, 2)), errors::ResourceExhaustedError);
  config::set_memory_limit("GPU:0", 0);
  CHECK(sent(ring, numbers(200'000, 2)).to_vector<float>() == numbers(200'000, 2));
}

TEST_CASE("uploads: what a ring keeps is released before an allocation of any kind fails, and by a trim") {
  const stand_in::Installed installed;
  const std::int64_t before = config::memory_info("GPU:0").live;
  const auto ring = uploads(4), other = uploads(4);
  const auto x = numbers(10'000, 1);
  for (const auto& r : {ring, other}) {
    std::vector<Tensor> kept;
    for (int i = 0; i < 3; ++i) kept.push_back(sent(r, x));
  }
  const std::int64_t live = config::memory_info("GPU:0").live;
  CHECK(live >= before + 6 * 40'000);
  config::set_memory_limit("GPU:0", live);
  Tensor small = constant(x).to(gpu);
  CHECK(config::memory_info("GPU:0").live < before + 3 * 40'000);
  CHECK(small.to_vector<float>() == x);
  CHECK_THROWS_AS(zeros({200'000}).to(gpu), errors::ResourceExhaustedError);
  config::set_memory_limit("GPU:0", 0);
  small = Tensor();
  CHECK(config::memory_info("GPU:0").live == before);

  CHECK(sent(ring, x).to_vector<float>() == x);
  CHECK(config::memory_info("GPU:0").live > before);
  CHECK(stand_in::trim() >= 40'000);
  CHECK(config::memory_info("GPU:0").live == before);
  CHECK(sent(ring, x).to_vector<float>() == x);
}

TEST_CASE("uploads: the last block that a copy need not wait for is filled first, else the oldest") {
  const stand_in::Installed installed;
  const auto ring = uploads(8);
  const auto x = numbers(1000, 1);
  std::vector<const void*> at;
  {
    std::vector<Tensor> all;
    for (int i = 0; i < 4; ++i) all.push_back(sent(ring, x)), at.push_back(all.back().raw());
    for (Tensor& t : all) t = Tensor();  // in this order
  }
  for (std::size_t i = 0; i < 4; ++i) {  // nothing has run
    const Ref<Upload> copy = start(ring, x);
    CHECK(copy->data() == at[i]);
    copy->join();
  }
  for (int i = 0; i < 20; ++i) {
    stand_in::run_all();
    const Tensor t = sent(ring, x);
    CHECK(t.raw() == at[3]);
  }
}

TEST_CASE("uploads: with fewer chunks than a ring would take the copies are the same") {
  const stand_in::Installed installed;
  (void)stand_in::trim();
  const std::int64_t pinned = stand_in::counts().pinned;
  const auto ring = uploads(2);
  const auto x = numbers(7 * chunk / 4 + 3, 1);
  stand_in::fail("cudaHostAlloc", 2);
  CHECK(sent(ring, x).to_vector<float>() == x);
  CHECK(sent(ring, x).to_vector<float>() == x);
  CHECK(stand_in::counts().pinned == pinned + 2 * chunk);
}

TEST_CASE("uploads: the end of a tensor leaves the thread's device selected") {
  const stand_in::Installed installed;
  const auto ring = uploads(2);
  Tensor t = sent(ring, numbers(1000, 1));
  CHECK(stand_in::selected() == 0);
  stand_in::select(1);
  t = Tensor();
  CHECK(stand_in::selected() == 1);
  stand_in::select(0);
}

TEST_CASE("uploads: the host does not wait for the compute stream") {
  const stand_in::Installed installed;
  const auto ring = uploads(4);
  Tensor sum = zeros({1000}).to(gpu);
  const std::int64_t waits = stand_in::counts().waits;
  for (float i = 0; i < 40; ++i) sum = sum + sent(ring, numbers(1000, i));
  CHECK(stand_in::counts().waits == waits);
  CHECK(sum.to_vector<float>()[1] == 40 * 39 / 2 + 40);
}

TEST_CASE("uploads: a call that fails is an error, and the next copies are right") {
  const stand_in::Installed installed;
  const auto x = numbers(3 * chunk / 4 + 5, 1), y = numbers(3 * chunk / 4 + 5, 2);
  const std::int64_t live = config::memory_info("GPU:0").live;
  for (const char* call : {"cudaMemcpyAsync", "cudaEventRecord", "cudaStreamWaitEvent", "cudaEventCreateWithFlags"})
    for (int after = 0; after < 5; ++after) {
      CAPTURE(call, after);
      const auto ring = uploads(4);
      std::vector<Tensor> right;
      int failures = 0;
      stand_in::fail(call, after);
      for (int i = 0; i < 4; ++i) try {
          const Tensor t = sent(ring, i % 2 ? y : x);
          right.push_back(t + 0.f);
        } catch (const errors::CudaError& e) {
          CHECK(std::string(e.op()) == "copy");
          ++failures;
          // What failed in the middle has written some of its block: other uses of that come later.
          const Tensor other = constant(y).to(gpu);
          stand_in::run_copies();
          CHECK(other.to_vector<float>() == y);
        }
      stand_in::fail(call, 1 << 30);
      // An event is made for each block, of which there is one, and for each new chunk.
      if (std::string(call) == "cudaEventCreateWithFlags" && after > 0) CHECK(failures <= 1);
      else CHECK(failures == 1);
      for (const Tensor& t : right) CHECK(t.to_vector<float>()[7] == (t.to_vector<float>()[0] == 1 ? 8 : 9));
      CHECK(sent(ring, x).to_vector<float>() == x);
      CHECK(sent(ring, y).to_vector<float>() == y);
    }
  CHECK(config::memory_info("GPU:0").live == live);
}

}  // namespace data_gpu_uploads_test
