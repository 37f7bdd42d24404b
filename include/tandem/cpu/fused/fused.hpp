// FusedCode: a fused program as the CPU executes it, tile by tile, so that intermediate values never leave the L1
// cache. Consecutive common float ops form one chain, whose value stays in registers; other ops run their own loops
// on the tile.
#pragma once
#include <vector>

#include "tandem/core/kernel.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
class FusedProgram;  // attrs/fused.hpp
}
namespace TANDEM_NS::cpu {

/// One superinstruction of a chain, applied to the carried value: an opcode (ops/fused/micro.hpp) and the location of
/// its operand.
struct Micro {
  std::uint16_t code;  // even; the next odd code is the variant for a one-element operand
  std::uint16_t slot;
};
/// Runs a chain on n elements. slots: the addresses of operands and results; repeats: 1 for a slot of one element.
using ChainFn = void (*)(const Micro* begin, const Micro* end, void* const* slots, const std::uint8_t* repeats, i64 n,
                         bool streamed);

/// One pass over a tile: a chain, or several that follow each other, or an op's loop.
struct FusedStep {
  ChainFn chain = nullptr;
  std::uint32_t first = 0, count = 0;  // of the chain's superinstructions
  DenseLoop loop;
  std::uint16_t in[3] = {}, inputs = 0, out = 0;
  bool last_use = false;  // the result is an output that is not read again
};

/// Slots are numbered: the inputs, the outputs, then the intermediate values.
class TANDEM_API FusedCode {
 public:
  explicit FusedCode(const FusedProgram& program);
  /// Runs the kernel. An output may share the buffer of an input of its spec.
  void run(const KernelCall& call) const;
  /// The same for fused_reduce (ops/fused/fused_reduce.hpp).
  void reduce(const KernelCall& call) const;
  /// The estimated cost in ns per element.
  double cost() const { return cost_; }

 private:
  friend struct FusedCall;
  friend class FusedTiles;
  friend class FusedLowering;

  LeanVector<FusedStep> steps_;
  LeanVector<Micro> micros_;
  std::vector<DType> dtypes_;             // by slot; for intermediate values the widest
  std::vector<bool> written_out_;         // by input: some loop reads it, so it must be as long as a tile
  std::vector<int> last_read_, written_;  // by input and by output: last read and write, counted in actions and loops
  int inputs_ = 0, outputs_ = 0;
  double cost_ = 0.1;
};

}  // namespace TANDEM_NS::cpu
