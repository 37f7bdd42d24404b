// What the library does with the CUDA runtime: errors of kernels that ran before, several devices, memory of both
// sides. On the emulator, which makes such errors and has three devices, the last of which no kernel was built for.
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tests/cuda/device.hpp"

using namespace tandem;
using namespace gpu_test;

#define TANDEM_NEEDS_EMULATOR \
  if (!emulator::barrier) TANDEM_SKIP("needs the emulated device")

TEST_CASE("CUDA driver: an asynchronous failure names the ops that may have caused it") {
  TANDEM_NEEDS_EMULATOR;
  const Tensor x = constant({1.f, 2.f, 3.f}).gpu();
  cuda::synchronize();
  (void)nn::relu(x), (void)reduce_sum(x);
  emulator::fail();
  CHECK_THROWS_WITH(cuda::synchronize(), ContainsSubstring("an op launched before failed: an emulated error") &&
                                             ContainsSubstring("GPU:0: relu, reduce_sum;") &&
                                             ContainsSubstring("TANDEM_CUDA_LAUNCH_BLOCKING=1"));
  CHECK_NOTHROW(cuda::synchronize());
  cuda::trim();
  emulator::fail();  // not a lack of memory
  CHECK_THROWS_WITH(Tensor::allocate({{1 << 22}, uint8, gpu}), ContainsSubstring("an op launched before failed"));
  for (int i = 0; i < 20; ++i) (void)nn::relu(x);
  (void)exp(x);
  emulator::fail();
  try {
    (void)x.to_vector<float>();
    FAIL("it passed");
  } catch (const errors::CudaError& e) {
    CHECK_THAT(e.what(), ContainsSubstring("GPU:0: ... relu, relu, relu, relu, relu, relu, relu, exp;"));
  }
}

TEST_CASE("CUDA driver: with set_launch_blocking an op's failure is its own") {
  TANDEM_NEEDS_EMULATOR;
  const Tensor x = constant({1.f, 2.f, 3.f}).gpu(), table = constant({1.f, 2.f}).gpu(), five = constant({5}).gpu();
  CHECK(!cuda::launch_blocking());
  cuda::set_launch_blocking(true);
  CHECK(cuda::launch_blocking());
  emulator::fail();
  try {
    (void)nn::relu(x);
    FAIL("it passed");
  } catch (const errors::CudaError& e) {
    CHECK(std::string(e.op()) == "relu");
    CHECK_THAT(e.what(), ContainsSubstring("failed on GPU:0: an emulated error"));
  }
  CHECK_THROWS_WITH(gather(table, five), ContainsSubstring("gather: index 5"));  // faults, too, are raised at once
  cuda::set_launch_blocking(false);
  CHECK_NOTHROW(gather(table, five));
  CHECK_THROWS_AS(cuda::synchronize(), errors::InvalidArgumentError);
}

TEST_CASE("CUDA driver: a device that no kernel was built for says so when it is used") {
  TANDEM_NEEDS_EMULATOR;
  REQUIRE(cuda::device_count() == 3);
  CHECK_THROWS_AS(constant({1.f}).gpu(2), errors::UnavailableError);
  CHECK_THROWS_WITH(constant({1.f}).gpu(2), ContainsSubstring("GPU:2 cannot be used: its kernels were not built for") &&
                                                ContainsSubstring("CUDA_VISIBLE_DEVICES"));
}

TEST_CASE("CUDA driver: devices ask for access to each other's memory before the first copy, and copy without it") {
  TANDEM_NEEDS_EMULATOR;
  const Tensor x = constant({1.f, 2.f, 3.f}).gpu();
  const Tensor y = x.gpu(1);
  CHECK(y.device() == Device{Device::gpu, 1});
  CHECK(y.to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK((y + y).gpu(0).to_vector<float>() == std::vector<float>{2, 4, 6});
  CHECK(emulator::peer_access_requests() == 2);
}

TEST_CASE("CUDA driver: managed memory, which is read later, is waited for") {
  TANDEM_NEEDS_EMULATOR;
  const Tensor x = constant({1.f, 2.f, 3.f});
  const std::uint64_t before = cuda::hidden_synchronizations();
  (void)x.gpu();
  CHECK(cuda::hidden_synchronizations() == before);
  emulator::set_managed(x.raw());
  (void)x.gpu();
  CHECK(cuda::hidden_synchronizations() == before + 1);
  emulator::set_managed(nullptr);
}

TEST_CASE("CUDA driver: a limit counts what was asked for") {
  TANDEM_NEEDS_GPU;
  const std::int64_t live = cuda::memory_info().live;
  const i64 bytes = 5 * (i64(1) << 20) + 256;  // just above the size of a class
  cuda::set_memory_limit(live + bytes);
  {
    const Tensor t = Tensor::allocate({{bytes}, uint8, gpu});
    CHECK(cuda::memory_info().live == live + bytes);
    CHECK_THROWS_AS(Tensor::allocate({{1}, uint8, gpu}), errors::ResourceExhaustedError);
  }
  cuda::set_memory_limit(0);
  CHECK(cuda::memory_info().live == live);
}

TEST_CASE("CUDA driver: trim returns slabs whose blocks are all free") {
  TANDEM_NEEDS_GPU;
  cuda::trim();
  const std::int64_t cached = cuda::memory_info().cached;
  const std::size_t taken = emulator::barrier ? emulator::taken_bytes() : 0;
  std::vector<Tensor> some;
  for (int i = 0; i < 100; ++i) some.push_back(Tensor::allocate({{100'000}, uint8, gpu}));
  CHECK(cuda::memory_info().cached >= cached);
  const Tensor last = some.back();
  some.clear();
  CHECK(cuda::trim() >= 4 << 20);
  CHECK(cuda::memory_info().cached < cached + (4 << 20));  // the slab of `last` stays
  if (emulator::barrier) CHECK(emulator::taken_bytes() <= taken + (2 << 20));
}

TEST_CASE("CUDA driver: the columns of an input gradient are made in parts, of one image, too") {
  TANDEM_NEEDS_EMULATOR;  // whose budget is 1024 numbers
  const auto gradient = [](const Tensor& x, const Tensor& w, const auto& f) {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(f(x, w), x);
  };
  const auto compare = [&](const Tensor& x, const Tensor& w, const auto& f) {
    const Tensor want = gradient(x, w, f), on_gpu = x.gpu(), filter = w.gpu();
    cuda::reset_peak();
    const std::int64_t live = cuda::memory_info().live;
    const Tensor got = gradient(on_gpu, filter, f);
    // Results of forward and backward, and the columns of one part: 4 KiB.
    CHECK(cuda::memory_info().peak - live < 3 * static_cast<i64>(x.spec().bytes()) + 10'000);
    check_near(got, want);
  };
  const auto same = [](const Tensor& x, const Tensor& w) { return nn::conv2d(x, w, {.padding = Padding::same}); };
  const auto strided = [](const Tensor& x, const Tensor& w) { return nn::conv2d(x, w, {.strides = {2, 3}}); };
  const auto dilated = [](const Tensor& x, const Tensor& w) {
    return nn::conv2d(x, w, {.padding = Padding::same, .dilations = {2, 2}});
  };
  compare(gpu_test::reals({2, 16, 17, 4}), gpu_test::reals({3, 3, 4, 2}), same);
  compare(gpu_test::reals({1, 19, 16, 6}), gpu_test::reals({5, 3, 3, 4}), same);  // groups
  compare(gpu_test::reals({1, 1, 300, 4}), gpu_test::reals({1, 5, 4, 2}), same);
  compare(gpu_test::reals({2, 23, 24, 4}), gpu_test::reals({3, 4, 4, 3}), strided);
  compare(gpu_test::reals({1, 14, 15, 4}), gpu_test::reals({3, 3, 4, 3}), dilated);
  compare(gpu_test::reals({1, 6, 7, 8, 2}), gpu_test::reals({3, 2, 3, 2, 3}),
          [](const Tensor& x, const Tensor& w) { return nn::conv3d(x, w, {.padding = Padding::same}); });
}
