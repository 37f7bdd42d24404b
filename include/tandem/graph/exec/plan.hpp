// Plan: where each value of a graph of known sizes lies while it runs. Lifetimes become offsets in one arena; views
// share their root's place, and so do values that are joined along the leading axis; a dying input may become the
// output. Not here: running it (program.hpp).
#pragma once
#include <string>

#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS {

struct Plan {
  enum Kind : std::uint8_t {
    nothing,   // made by nobody (passes leave such numbers), or a shape without data
    constant,  // in the graph
    argument,  // the caller's
    variable,  // a Variable's buffer
    arena,     // at a fixed offset of the call's arena
    fresh      // a tensor of its own, for it outlives the call: returned, assigned, or given to control flow
  };
  // By value. A view's root is the value whose buffer it lies in, that of a piece of a concat or stack the whole, which
  // begins to live with its first piece; all others are their own roots.
  std::vector<int> root;
  std::vector<std::size_t> offset;  // bytes into the root
  // By root.
  std::vector<Kind> kind;
  std::vector<std::size_t> arena_offset;
  std::vector<int> last_use;    // the last node that reads it; nodes.size() if it is returned
  std::vector<char> escapes;    // someone may hold it after the call
  std::vector<int> overwrites;  // fresh: the Variable (its place) whose buffer it may take over, or -1
  std::vector<int> takes;  // fresh: the argument (its place) whose buffer it may take over if it is given up, or -1
  // By node.
  std::vector<std::size_t> workspace_offset, workspace_bytes;

  std::size_t arena_bytes = 0;
  std::size_t work = 0;  // how many inputs, assignments and free stretches were looked at to make it; for tests
};

/// Whether a graph can be planned: all sizes known, all on the CPU, no strings made.
TANDEM_API bool can_plan(const Graph& graph);
TANDEM_API Plan make_plan(const Graph& graph);
/// "arena 1024 bytes; %5 add_1 float32[32] @0 (nodes 4 to 7)": peak bytes and what each buffer holds.
TANDEM_API std::string to_string(const Plan& plan, const Graph& graph);

}  // namespace TANDEM_NS
