// The instructions of fused programs on the device and what their kernels are launched with: plain data, for host,
// kernels and NVRTC. Not here: how a program of ops becomes one of these (program.hpp), what an instruction computes
// (compute.inc).
#pragma once
#include <cstdint>

#include "tandem/config.hpp"
#include "tandem/ops/fused/fusible.hpp"

// The ops that a program may contain, of the list for all devices (ops/fused/fusible.hpp), by how they are computed.
// They compute in float32; flags are 0 and 1.
#define TANDEM_CUDA_FUSED_UNARY(f) TANDEM_FUSED_UNARY(f) TANDEM_FUSED_LOOP_UNARY(f)
#define TANDEM_CUDA_FUSED_BINARY(f) TANDEM_FUSED_BINARY(f) TANDEM_FUSED_LOOP_BINARY(f)
#define TANDEM_CUDA_FUSED(f) \
  TANDEM_CUDA_FUSED_UNARY(f) TANDEM_CUDA_FUSED_BINARY(f) TANDEM_FUSED_LOOP_COMPARISON(f) TANDEM_FUSED_LOOP_OTHER(f)
// Instructions that stand for casts.
#define TANDEM_CUDA_FUSED_CASTS(f) f(copy) f(to_flag) f(round_half) f(round_bfloat)

namespace TANDEM_NS::cuda {

/// What an instruction does. round_half and round_bfloat: float32 to the nearest number of that dtype.
enum class FusedCode : std::uint8_t {
#define TANDEM_CODE(name) name,
  TANDEM_CUDA_FUSED(TANDEM_CODE) TANDEM_CUDA_FUSED_CASTS(TANDEM_CODE)
#undef TANDEM_CODE
      unknown
};

/// How many operands an instruction has.
constexpr int operand_count(FusedCode code) {
  switch (code) {
#define TANDEM_CODE(name) case FusedCode::name:
    TANDEM_CUDA_FUSED_BINARY(TANDEM_CODE)
    TANDEM_FUSED_LOOP_COMPARISON(TANDEM_CODE)
#undef TANDEM_CODE
    case FusedCode::logical_and:
    case FusedCode::logical_or:
    case FusedCode::logical_xor: return 2;
    case FusedCode::leaky_relu_grad:
    case FusedCode::select: return 3;
    default: return 1;
  }
}

// How many ops and inputs a program may have. An op of half precision is an instruction and another that rounds, but
// the values that are needed at one time are never more than ops and inputs.
inline constexpr int most_fused_ops = 32, most_fused_inputs = 16, most_fused_instructions = 2 * most_fused_ops,
                     most_fused_slots = most_fused_ops + most_fused_inputs;

/// How an operand is stored.
enum class FusedType : std::uint8_t { number, half, bfloat, flag };
/// How an input is read: its one element; the element of the result's index; one that the axes know.
enum class FusedAccess : std::uint8_t { scalar, flat, mapped };

inline constexpr int most_fused_axes = 8;

/// What a kernel is launched with.
struct FusedOperands {
  const void* in[most_fused_inputs];
  void* out[most_fused_ops];
  FusedAccess access[most_fused_inputs];
  bool whole;  // flat inputs and outputs can be read and written in chunks
  std::uint32_t n;
};
/// The same for a compiled kernel, which knows the accesses. Axes are outermost first, strides in elements.
struct FusedLaunch {
  FusedOperands operands;
  struct {
    std::uint32_t divisor, magic, shift;  // FastDivisor
  } axis[most_fused_axes];
  std::int64_t stride[most_fused_inputs][most_fused_axes];
};

}  // namespace TANDEM_NS::cuda
