// The form of a fused program (attrs/fused.hpp) that the device executes: numbers in a few slots, and one instruction
// for each op. Host code and plain data; the kernel is in fused.cu.
#pragma once
#include <cstdint>

#include "cuda/index_map.hpp"
#include "cuda/queue.hpp"
#include "tandem/attrs/fused.hpp"
#include "tandem/ops/fused/fusible.hpp"

// The ops that a program may contain, of the list for all devices (ops/fused/fusible.hpp), by how they are computed.
// They compute in float32; flags are 0 and 1.
#define TANDEM_CUDA_FUSED_UNARY(f) TANDEM_FUSED_UNARY(f) TANDEM_FUSED_LOOP_UNARY(f)
#define TANDEM_CUDA_FUSED_BINARY(f) TANDEM_FUSED_BINARY(f) TANDEM_FUSED_LOOP_BINARY(f)
#define TANDEM_CUDA_FUSED(f) \
  TANDEM_CUDA_FUSED_UNARY(f) TANDEM_CUDA_FUSED_BINARY(f) TANDEM_FUSED_LOOP_COMPARISON(f) TANDEM_FUSED_LOOP_OTHER(f)

namespace TANDEM_NS::cuda {

/// What an instruction does. round_half and round_bfloat: float32 to the nearest number of that dtype.
enum class FusedCode : std::uint8_t {
#define TANDEM_CODE(name) name,
  TANDEM_CUDA_FUSED(TANDEM_CODE)
#undef TANDEM_CODE
      copy,
  to_flag,
  round_half,
  round_bfloat,
  unknown
};

// How many ops and inputs a program may have. An op of half precision is an instruction and another that rounds, but
// the values that are needed at one time are never more than ops and inputs.
inline constexpr int most_fused_ops = 32, most_fused_inputs = 16, most_fused_instructions = 2 * most_fused_ops,
                     most_fused_slots = most_fused_ops + most_fused_inputs;

/// How an operand is stored.
enum class FusedType : std::uint8_t { number, half, bfloat, flag };
/// How an input is read: its one element; the element of the result's index; one that the map knows.
enum class FusedAccess : std::uint8_t { scalar, flat, mapped };

/// Reads slots `in` and writes the result to a slot, an output, or both. `carried` is the result of the instruction
/// before, `nowhere` an absent result.
struct alignas(8) FusedInstruction {  // read at once
  static constexpr std::uint8_t carried = 0xff, nowhere = 0xff;
  FusedCode code;
  std::uint8_t in[3], slot, output;
};

/// Input i is in slot i at first.
struct FusedMachine {
  int inputs = 0, count = 0, slots = 0;
  FusedType in_type[most_fused_inputs], out_type[most_fused_ops];
  FusedInstruction code[most_fused_instructions];

  /// Lowers a program.
  ///   throws  errors::UnimplementedError in the call's name if it is too large, or has ops or dtypes without a code
  FusedMachine(const KernelCall& c, const FusedProgram& p);
};

/// Whether a program may contain the op, given the dtypes of its inputs and, as the last one, of its result.
bool can_fuse(const OpDef& op, Span<const DType> dtypes);

}  // namespace TANDEM_NS::cuda
