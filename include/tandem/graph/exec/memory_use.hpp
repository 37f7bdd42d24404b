// MemoryUse: what a call of a traced function takes of memory, known before anything runs. Not here: where each value
// lies (plan.hpp).
#pragma once
#include <string>
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

/// In bytes, on all devices, as the allocator counts them: blocks are up to a quarter larger than what is in them.
struct MemoryUse {
  /// A buffer: "MatMul_1 float32[32,10]", the line that it was made for, if known.
  struct Buffer {
    std::string what, where;
    i64 bytes = 0;
  };
  i64 arguments = 0, variables = 0, constants = 0;  ///< what there is before the call
  i64 arena = 0;    ///< of the plan, and of the bodies of control flow; kept between calls
  i64 buffers = 0;  ///< the most bytes at once of tensors that a call makes beside the arena, such as its results
  /// Copies of weights in the order in which kernels read them: about these many, from the third call on.
  i64 packed = 0;
  /// Whether every size is known. Where a loop's number of iterations is not, the gradients of what all iterations
  /// read count twice, which they take from the 64th iteration on. If a size is not known, what depends on data is left
  /// out, and values of ops that run one by one.
  bool is_complete = true;
  std::vector<Buffer> largest;  ///< buffers, and what lies in the arena, the largest first; up to 20

  /// What a call adds.
  i64 call() const { return arena + buffers; }
  /// What there is while it runs.
  i64 total() const { return arguments + variables + constants + packed + call(); }
};
/// A line for each part and each buffer.
TANDEM_LAZY TANDEM_API std::string to_string(const MemoryUse& use);

/// What a call of the graph takes, as its Variables are now. Kernels' scratch that no plan knows, such as what a sort
/// needs, is not in it.
///   graph    with known sizes, as Program::graph() has them
///   planned  whether it runs by a plan, if it can
TANDEM_LAZY TANDEM_API MemoryUse memory_of(const Graph& graph, bool planned = true);

}  // namespace TANDEM_NS
