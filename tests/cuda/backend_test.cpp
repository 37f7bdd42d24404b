// The GPU's place in a program: whether it is there and why not, memory, waits, errors that kernels find.
#include <array>
#include <cstdio>

#include "tests/cuda/device.hpp"

using namespace tandem;
using namespace gpu_test;

TEST_CASE("CUDA: there is a device, or a reason why there is none") {
  CHECK(cuda::available() == (cuda::device_count() > 0));
  CHECK(cuda::available() == cuda::why_unavailable().empty());
  if (cuda::available()) {
    CHECK(constant({1.f, 2.f}).gpu().device() == gpu);
    CHECK_THROWS_AS(constant(1.f).gpu(200), errors::InvalidArgumentError);
    return;
  }
  CHECK_THROWS_WITH(constant(1.f).gpu(), ContainsSubstring("GPU:0 is not available: " + cuda::why_unavailable()));
  CHECK_THROWS_AS(cuda::synchronize(), errors::UnavailableError);
  CHECK_THROWS_WITH(cuda::memory_info(), ContainsSubstring(cuda::why_unavailable()));
  CHECK_THROWS_AS(cuda::trim(), errors::UnavailableError);
}

TEST_CASE("CUDA: the program needs no NVIDIA library to start") {
  FILE* const pipe = popen("readelf -d /proc/self/exe && readelf -d /proc/$PPID/exe", "r");
  REQUIRE(pipe);
  std::string text;
  std::array<char, 4096> line;
  while (std::fgets(line.data(), line.size(), pipe)) text += line.data();
  REQUIRE(pclose(pipe) == 0);
  CHECK_THAT(text, ContainsSubstring("libstdc++"));  // it was this program's list that we read
  for (const char* name :
       {"libcuda", "libcublas", "libcudart", "libcudnn", "libcufft", "libcusolver", "libnccl", "libnv"})
    CHECK(text.find(name) == std::string::npos);
}

TEST_CASE("CUDA: memory is reused, counted and limited") {
  TANDEM_NEEDS_GPU;
  const Spec spec{{1000, 1000}, float32, gpu};
  const std::int64_t live = cuda::memory_info().live;
  {
    const Tensor t = Tensor::allocate(spec);
    CHECK(cuda::memory_info().live >= live + 4'000'000);
  }
  const auto before = cuda::memory_info();
  CHECK(before.live == live);
  CHECK(before.cached >= 4'000'000);
  for (int i = 0; i < 10; ++i) Tensor::allocate(spec);
  CHECK(cuda::memory_info().misses == before.misses);
  cuda::reset_peak();
  CHECK(cuda::memory_info().peak == live);

  cuda::set_memory_limit(live + 1'000'000);
  CHECK_THROWS_AS(Tensor::allocate(spec), errors::ResourceExhaustedError);
  CHECK_THROWS_WITH(Tensor::allocate(spec), ContainsSubstring("limit") && ContainsSubstring("GPU:0"));
  cuda::set_memory_limit(0);
  CHECK(Tensor::allocate(spec).is_set());
  CHECK(cuda::trim() >= 4'000'000);
  CHECK(cuda::memory_info().live == live);
}

TEST_CASE("CUDA: blocks are aligned, empty tensors have one") {
  TANDEM_NEEDS_GPU;
  for (const i64 n : {0, 1, 3, 257, 1000, 70000}) {
    const Tensor t = Tensor::allocate({{n}, uint8, gpu});
    CHECK(t.raw() != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(t.raw()) % 256 == 0);
  }
}

TEST_CASE("CUDA: only reading values waits") {
  TANDEM_NEEDS_GPU;
  const Tensor x = constant({1.f, 2.f, 3.f}).gpu(), w = constant({{1.f}, {2.f}, {3.f}}).gpu();
  const std::uint64_t before = cuda::hidden_synchronizations();
  const Tensor y = reduce_sum(nn::relu(x * 2 + 1)), z = matmul(expand_dims(x, 0), w);
  CHECK(cuda::hidden_synchronizations() == before);
  CHECK(y.item<float>() == 15);
  CHECK(z.item<float>() == 14);
  CHECK(cuda::hidden_synchronizations() == before + 2);
}

TEST_CASE("CUDA: an operand of which only the shape is read goes with the others") {
  TANDEM_NEEDS_GPU;
  const Tensor x = constant({1.f, 2.f, 3.f}), ids = constant({1, 0, 1});
  CHECK(unsorted_segment_mean(x, ids.gpu(), 2).to_vector<float>() == std::vector<float>{2, 2});
  CHECK(unsorted_segment_sum(x.gpu(), ids, 2).to_vector<float>() == std::vector<float>{2, 4});
}

TEST_CASE("CUDA: an index out of range is reported at the next wait, once") {
  TANDEM_NEEDS_GPU;
  const Tensor table = constant({{1.f, 2.f}, {3.f, 4.f}}).gpu();
  const Tensor rows = gather(table, constant({0, 5, 1}).gpu());
  CHECK_THROWS_WITH(cuda::synchronize(), ContainsSubstring("gather: index 5 at position 1 is out of range [0, 2)"));
  CHECK_NOTHROW(cuda::synchronize());
  CHECK(rows.to_vector<float>() == std::vector<float>{1, 2, 0, 0, 3, 4});

  const Tensor loss = nn::sparse_softmax_cross_entropy_with_logits(constant({7}).gpu(), constant({{1.f, 2.f}}).gpu());
  CHECK_THROWS_AS(loss.to_vector<float>(), errors::InvalidArgumentError);
  CHECK_NOTHROW(loss.to_vector<float>());
}

TEST_CASE("CUDA: operands that an op rejects are reported at the next wait, once, in the op's name") {
  TANDEM_NEEDS_GPU;
  const auto rejects = [](const auto& f, const char* text) {
    const Tensor y = f();  // launched: nothing has been read yet
    CHECK_THROWS_AS(cuda::synchronize(), errors::InvalidArgumentError);
    const Tensor again = f();
    CHECK_THROWS_WITH(again.cpu(), ContainsSubstring(text) && ContainsSubstring("found on GPU:0"));
    CHECK_NOTHROW(cuda::synchronize());
  };
  for (const DType d : {int8, int16, int32, int64, uint8, uint16, uint32, uint64}) {
    CAPTURE(name(d));
    const Tensor a = constant({7, 8, 9, 10, 11}, {.dtype = d}).gpu(), b = constant({1, 2, 3, 0, 5}, {.dtype = d}).gpu();
    const Tensor zero = constant({0}, {.dtype = d}).gpu();
    rejects([&] { return floordiv(a, b); }, "floordiv: element 3 is an integer division by zero");
    rejects([&] { return floormod(a, b); }, "floormod: element 3 is an integer division by zero");
    rejects([&] { return truncatediv(a, b); }, "truncatediv: element 3 is an integer division by zero");
    rejects([&] { return truncatemod(a, b); }, "truncatemod: element 3 is an integer division by zero");
    rejects([&] { return floordiv(a, zero); }, "is an integer division by zero");
    rejects([&] { return clip_by_value(b, a, b); }, "clip_by_value: element 0 has a lower bound above the upper bound");
    (void)clip_by_value(a, b, a), (void)floordiv(b, a);
    CHECK_NOTHROW(cuda::synchronize());
  }
  for (const DType d : {int8, int16, int32, int64}) {
    CAPTURE(name(d));
    const Tensor a = constant({{7, 8}, {9, 10}}, {.dtype = d}).gpu(), b = constant({1, -2}, {.dtype = d}).gpu();
    rejects([&] { return pow(a, b); }, "is an integer to a negative power");
    const Tensor flat = constant({{1, -2}, {0, 3}}, {.dtype = d}).gpu();
    rejects([&] { return pow(a, flat); }, "pow: element 1 is an integer to a negative power");
  }
  const Tensor x = ones({3, 1}).gpu(), low = constant({{1.f}, {2.f}, {3.f}}).gpu(), high = constant({2.f, 3.5f}).gpu();
  rejects([&] { return clip_by_value(x, low, high); }, "clip_by_value: element 4 has a lower bound above the upper");
}

TEST_CASE("CUDA: the same operands are fine where the op takes them") {
  TANDEM_NEEDS_GPU;
  const Tensor a = constant({1.f, -2.f, 0.f}).gpu(), zero = constant({0.f}).gpu();
  (void)floordiv(a, zero), (void)floormod(a, zero), (void)pow(a, constant({-1.f}).gpu());
  (void)clip_by_value(a, constant({NAN}).gpu(), constant({1.f}).gpu());
  (void)floordiv(zeros({0}, {.dtype = int32}).gpu(), constant({0}).gpu());
  CHECK_NOTHROW(cuda::synchronize());
}

TEST_CASE("CUDA: operands on two devices meet where the larger one is") {
  TANDEM_NEEDS_GPU;
  const Tensor x = constant({1.f, 2.f, 3.f}).gpu();
  const Tensor y = x + constant(10.f);
  CHECK(y.device() == gpu);
  CHECK(y.to_vector<float>() == std::vector<float>{11, 12, 13});
  CHECK_THROWS_AS(y.data<float>(), errors::InvalidArgumentError);
}

TEST_CASE("CUDA: a failed op leaves its operands as they were") {
  TANDEM_NEEDS_GPU;
  const Tensor a = ones({2, 3}).gpu(), b = ones({2, 3}).gpu();
  CHECK_THROWS_AS(matmul(a, b), errors::InvalidArgumentError);
  CHECK(a.to_vector<float>() == std::vector<float>(6, 1.f));
}
