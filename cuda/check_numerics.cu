// The CUDA kernel of check_numerics: a number that is not finite is reported at the next wait.
#include <mutex>
#include <set>
#include <string>

#include "cuda/number.hpp"
#include "cuda/report.hpp"
#include "tandem/ops/debug/check_numerics.hpp"

namespace TANDEM_NS::cuda {
namespace {

// The text outlives the call, as the report of a fault needs: it is kept once for the whole program.
const char* kept_text(const std::string& message) {
  static std::mutex mutex;
  static auto* const texts = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return texts->insert(message.empty() ? "is not finite" : "is not finite: " + message).first->c_str();
}
// All bits of the exponent are set in NaN and infinity. Complex elements have two numbers.
template <class Bits>
__global__ void __launch_bounds__(block_size) check_kernel(const Bits* x, Bits exponent, i64 numbers, i64 n,
                                                           Reporter report, const char* unit, const char* what) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    if ((x[i] & exponent) == exponent) report.complain(unit, what, i / numbers);
}

}  // namespace

void check_numerics(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 numbers = is_complex(x.spec->dtype) ? 2 : 1, n = x.size() * numbers;
  if (n == 0) return;
  const char* const what = kept_text(c.attrs.get<rules::CheckNumericsAttrs>().message);
  const auto check_bits = [&]<class Bits>(Bits exponent) {
    launch(c, &check_kernel<Bits>, blocks_for(n), x.as<const Bits>(), exponent, numbers, n, Reporter(c), "element",
           what);
  };
  switch (x.spec->dtype) {
    case DType::float16: check_bits(std::uint16_t(0x7c00)); break;
    case DType::bfloat16: check_bits(std::uint16_t(0x7f80)); break;
    case DType::float32:
    case DType::complex64: check_bits(std::uint32_t(0x7f800000)); break;
    default: check_bits(u64(0x7ff0000000000000));
  }
  if (y.data != x.data)
    check(cudaMemcpyAsync(y.data, x.data, y.spec->bytes(), cudaMemcpyDeviceToDevice, queue_of(c).stream), c.op, "copy");
}

}  // namespace TANDEM_NS::cuda
