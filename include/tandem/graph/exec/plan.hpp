// Plan: where each value of a graph of known sizes is stored while it runs. Lifetimes become offsets in one arena;
// views share their base's buffer, and so do operands of a concat along axis 0 and of ops that begin work beside the
// program; a dying input's buffer may be reused for the output. Not here: running it (program.hpp).
#pragma once
#include <string>

#include "tandem/graph/exec/branches.hpp"
#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

struct Plan {
  /// One block of memory for each device that has values.
  struct Arena {
    Device device;
    std::size_t bytes;
  };
  enum Kind : std::uint8_t {
    nothing,   // no node produces it (passes leave such numbers), or a shape without data
    constant,  // in the graph
    argument,  // the caller's
    variable,  // a Variable's buffer
    arena,     // at a fixed offset of the call's arena
    fresh      // a separate tensor, since it outlives the call: returned, assigned, or passed to control flow
  };
  // A view's base is the value in whose buffer it lies; the base of an operand stored in the buffer of a concat, a
  // stack or an early op is that result, whose lifetime then begins with its first operand. All other values are their
  // own bases.
  ById<ValueId, ValueId> base;
  ById<ValueId, std::size_t> offset;  // in bytes, into the base
  // Of bases.
  ById<ValueId, Kind> kind;
  ById<ValueId, std::size_t> arena_offset;  // in the arena of its device
  ById<ValueId, NodeId> last_use;           // the last node that reads it; the one behind the last if it is returned
  ById<ValueId, char> escapes;              // may be held after the call
  ById<ValueId, VariableIndex> overwrites;  // fresh: the Variable whose buffer it may reuse, if any
  ById<ValueId, ArgumentIndex> donor;       // fresh: the argument whose buffer it may reuse if that is donated, if any

  ById<NodeId, std::size_t> workspace_offset, workspace_bytes;

  Branches
      branches;  // if config::set_inter_op_parallelism_threads() asked for them; no memory is reused within a region

  LeanVector<Arena> arenas;
  std::size_t arena_bytes = 0;  // of all arenas
  std::size_t work = 0;         // number of inputs, assignments and free blocks visited while planning; for tests
};

/// Whether a graph can be planned: all sizes are known, every op has a kernel for its device, no op outputs strings.
TANDEM_LAZY TANDEM_API bool can_plan(const Graph& graph);
TANDEM_LAZY TANDEM_API Plan make_plan(const Graph& graph);
/// The plan as text, "arena 1024 bytes; %5 add_1 float32[32] @0 (nodes 4 to 7)": peak bytes and what each buffer
/// holds.
TANDEM_LAZY TANDEM_API std::string to_string(const Plan& plan, const Graph& graph);

}  // namespace TANDEM_NS
