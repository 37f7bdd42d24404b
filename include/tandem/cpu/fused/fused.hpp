// FusedCode: a fused program as the CPU runs it, tile by tile, so that what is between two instructions never leaves
// the first-level cache. Common float ops in a row are one chain, whose value stays in registers; other ops call their
// own loops on the tile.
#pragma once
#include <vector>

#include "tandem/core/kernel.hpp"

namespace TANDEM_NS {
class FusedProgram;  // ops/pointwise/fused.hpp
}
namespace TANDEM_NS::cpu {

/// One action of a chain on the value that it carries: an opcode (fused.inc), and where its operand lies.
struct Micro {
  std::uint16_t code;  // even; the odd one after it is for an operand of one element
  std::uint16_t slot;
};
/// A chain on n elements. slots: where operands and results lie; repeats: 1 for a slot of one element.
using ChainFn = void (*)(const Micro* begin, const Micro* end, void* const* slots, const std::uint8_t* repeats, i64 n,
                         bool streamed);

/// One pass over a tile: a chain, or an op's loop.
struct FusedStep {
  ChainFn chain = nullptr;
  std::uint32_t first = 0, count = 0;  // of the chain's actions
  DenseLoop loop;
  std::uint16_t in[3] = {}, inputs = 0, out = 0;
  bool last_use = false;  // the result is an output that nobody reads again
};

/// Slots are numbered: the inputs, the outputs, then what lives between steps.
class TANDEM_API FusedCode {
 public:
  explicit FusedCode(const FusedProgram& program);
  /// The kernel. An output may lie where an input of its spec lies.
  void run(const KernelCall& call) const;
  /// About, in ns an element.
  double cost() const { return cost_; }

 private:
  friend struct FusedCall;
  friend class FusedTiles;
  friend class FusedLowering;

  std::vector<FusedStep> steps_;
  std::vector<Micro> micros_;
  std::vector<DType> dtypes_;             // by slot; of what lives between steps the widest
  std::vector<bool> written_out_;         // by input: some loop reads it, so it must be as long as a tile
  std::vector<int> last_read_, written_;  // by input and by output: when, counted in actions and loops
  int inputs_ = 0, outputs_ = 0;
  double cost_ = 0.1;
};

/// The kernel of fused_reduce (ops/pointwise/fused_reduce.hpp).
TANDEM_API void fused_reduce(const KernelCall& call);

}  // namespace TANDEM_NS::cpu
