// CPU kernels of the random ops. Each number is a function of the key and its position only, so results do not
// depend on the number of threads or the instruction set (normals agree to a few ulp between sets, all else bit for
// bit).
// Not here: sampling and shuffling (sample.hpp), the definition of the numbers (util/philox.hpp).
#pragma once
#include "tandem/core/kernel.hpp"
#include "tandem/util/philox.hpp"

namespace TANDEM_NS::cpu {

// in[0] is the key, int64[2]; out[0] receives the numbers; attributes: RandomAttrs.
TANDEM_API void random_bits(const KernelCall& c);
TANDEM_API void random_uniform(const KernelCall& c);
TANDEM_API void random_normal(const KernelCall& c);
TANDEM_API void truncated_normal(const KernelCall& c);
/// in: x, key; attributes: DropoutAttrs.
TANDEM_API void dropout(const KernelCall& c);
/// Writes that by which dropout multiplies elements `first` to `first` + n: 0, or 1 / (1 - rate).
TANDEM_API void dropout_factors(const random::Stream& stream, double rate, i64 first, i64 n, float* out);
TANDEM_API void dropout_factors(const random::Stream& stream, double rate, i64 first, i64 n, double* out);
/// in: state {seed, stream}; out: {seed, stream + 1}.
TANDEM_API void random_advance(const KernelCall& c);

/// The arguments of the loops of all instruction sets.
struct RandomFill {
  random::Stream stream;
  double a = 0, b = 0, c = 0;   // uniform: low, width, last; normal: mean, stddev; dropout: scale
  std::uint32_t threshold = 0;  // dropout keeps elements whose word is at least this
  const void* in = nullptr;     // dropout: x, from group `first` on
  i64 first = 0;
};

}  // namespace TANDEM_NS::cpu
