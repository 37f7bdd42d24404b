// What the device tests share: the device or a reason to skip, and comparisons. The same tests run on a GPU and, in
// test_cuda_emulated, on the emulator.
#pragma once
#include <cmath>

#include "tandem/cuda.hpp"
#include "tandem/ops/all.hpp"
#include "tests/ops/table_calls.hpp"
#include "tests/support/catch.hpp"

/// First line of a test that needs a device.
#define TANDEM_NEEDS_GPU \
  if (!tandem::cuda::available()) TANDEM_SKIP("no CUDA device: " + tandem::cuda::why_unavailable())

namespace emulator {  // where it is linked
[[gnu::weak]] void barrier();
[[gnu::weak]] void fail();                      // a kernel has failed: the next wait finds it
[[gnu::weak]] void set_managed(const void* p);  // what is managed memory
[[gnu::weak]] void lose_solvers(bool lost);     // cuSOLVER is not there
[[gnu::weak]] void stop_iteration(int matrix);  // eigh or svd does not converge for a matrix, counted from now
[[gnu::weak]] int peer_access_requests();       // how often a device asked for access to another
[[gnu::weak]] std::size_t taken_bytes();        // memory of the device that is in use
[[gnu::weak]] int kernels_run();                // how many kernels have run; call it when none does

[[gnu::weak]] void hide_recurrences(bool hidden);     // whether cuDNN is not there for LSTM and GRU
[[gnu::weak]] void fail_recurrence_plans(int count);  // cuDNN's, for lack of memory
[[gnu::weak]] void break_compiler(bool broken);       // no kernel can be compiled at run time
[[gnu::weak]] void hide_fourier(bool hidden);         // whether cuFFT is not there
[[gnu::weak]] void fail_fourier_plans(int count);     // for lack of memory
}  // namespace emulator

namespace TANDEM_NS::cuda {  // where the library's own symbols can be linked
[[gnu::weak]] bool has_cudnn();
[[gnu::weak]] u64 cudnn_convolutions();
[[gnu::weak]] bool has_cudnn_rnn();
[[gnu::weak]] u64 cudnn_recurrences();
[[gnu::weak]] void use_cudnn_rnn(bool use);
[[gnu::weak]] std::size_t fourier_plans(int device);
}  // namespace TANDEM_NS::cuda

namespace gpu_test {

inline constexpr tandem::Device gpu{tandem::Device::gpu, 0};
/// A size that a GPU divides among many blocks; the emulator is slow, and its kernels divide less.
inline const tandem::i64 many = emulator::barrier ? 9'000 : 3'000'000;

/// Numbers in [-1, 1), in host memory.
inline tandem::Tensor reals(const tandem::Shape& shape, tandem::DType dtype = tandem::float32, tandem::i64 seed = 1) {
  const tandem::DeviceScope host({tandem::Device::cpu, 0});
  return cast(
      tandem::random::stateless_uniform(shape, {seed, 2}, {.minval = -1, .maxval = 1, .dtype = tandem::float64}),
      dtype);
}
/// How far a device's result may be from the CPU's, relative to its largest number: sums in another order, and other
/// roundings of exp and its kin.
inline double tolerance(tandem::DType d) {
  switch (d) {
    case tandem::DType::float64:
    case tandem::DType::complex128: return 1e-12;
    case tandem::DType::float32:
    case tandem::DType::complex64: return 1e-5;
    case tandem::DType::float16: return 2e-3;
    case tandem::DType::bfloat16: return 1.6e-2;
    default: return 0;
  }
}
/// Checks dtype, shape and elements of a device result against the CPU's. Errors are relative to the result's largest
/// number, or to `least`: what cancels has the errors of its terms.
inline void check_near(const tandem::Tensor& got, const tandem::Tensor& want, double least = 1e-3) {
  REQUIRE(got.dtype() == want.dtype());
  REQUIRE(got.shape() == want.shape());
  const double limit = tolerance(want.dtype());
  if (limit == 0) {
    CHECK(table_calls::same_bits(got, want));
  } else if (tandem::is_complex(want.dtype())) {
    const tandem::Tensor a = tandem::cast(got.cpu(), tandem::complex128), b = tandem::cast(want, tandem::complex128);
    const auto numbers = [](const tandem::Tensor& t) {
      const double* p = static_cast<const double*>(t.raw());
      return std::vector<double>(p, p + 2 * t.size());
    };
    CHECK(table_calls::relative_error(numbers(a), numbers(b), least) <= limit);
  } else {
    CHECK(table_calls::relative_error(table_calls::as_doubles(got.cpu()), table_calls::as_doubles(want.cpu()), least) <=
          limit);
  }
}

/// The inputs where the row wants them: on the device, but for those that live on the host everywhere.
inline std::vector<tandem::Tensor> on_device(const tandem::OpDef& op, const std::vector<tandem::Tensor>& in) {
  std::vector<tandem::Tensor> r;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const tandem::Tensor& t = in[i];
    if (tandem::lives_on_host(op, i, in.size())) r.push_back(t);
    else if (t.is_symbolic()) r.push_back(tandem::Tensor::symbol({t.shape(), t.dtype(), gpu}));
    else r.push_back(t.to(gpu));
  }
  return r;
}
inline bool has_strings(const std::vector<tandem::Tensor>& in) {
  for (const tandem::Tensor& t : in)
    if (t.dtype() == tandem::string) return true;
  return false;
}

}  // namespace gpu_test
