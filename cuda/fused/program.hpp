// The form of a fused program (attrs/fused.hpp) that the device executes: numbers in a few slots, and one instruction
// for each op. Host code and plain data; the kernel is in fused.cu.
#pragma once
#include <cstdint>

#include "cuda/fused/code.hpp"
#include "cuda/index_map.hpp"
#include "cuda/queue.hpp"
#include "tandem/attrs/fused.hpp"

namespace TANDEM_NS::cuda {

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

  FusedMachine() = default;
  /// Lowers a program.
  ///   throws  errors::UnimplementedError in the call's name if it is too large, or has ops or dtypes without a code
  FusedMachine(const KernelCall& c, const FusedProgram& p);
};

/// The axes of a call: those of the inputs, and behind them of the result.
using FusedAxes = AxisList<most_fused_inputs + 1, max_rank>;
/// What a kernel of `width` elements a thread is launched with for a piece of a call.
FusedOperands operands_of(const KernelCall& c, const FusedMachine& machine, const FusedAxes& piece, const i64* at,
                          int width);
/// Runs the program on the call's operands.
void run_fused(const KernelCall& c, const FusedMachine& machine);

/// Whether a program may contain the op, given the dtypes of its inputs and, as the last one, of its result.
bool can_fuse(const OpDef& op, Span<const DType> dtypes);

}  // namespace TANDEM_NS::cuda
