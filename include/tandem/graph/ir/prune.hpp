// Partial runs of a graph: feeds and fetches arbitrary values, and runs only the ops in between. Not here: execution
// (program.hpp); ConcreteFunction::prune (concrete.hpp) builds on this.
#pragma once
#include <string>

#include "tandem/base/span.hpp"
#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

/// Extracts the part of a graph between the fed and the fetched values. Its arguments are the fed values, with their
/// specs, in that order; its outputs are the fetched ones. Ops that only fed values depend on do not run, nor does
/// any op, with effects or without, that no fetch depends on; the remaining ops keep their order. Variables are read
/// where they were. A read after an assignment in the graph yields the assigned value, whether the assignment runs
/// or not.
///   feeds    values of the graph; its own arguments or others
///   fetches  values of the graph; fed ones are allowed
///   run      nodes that must run for their effects
///   throws   errors::InvalidArgumentError if a fetch depends on an argument that is not fed (named in the text), or
///            a value is fed twice; errors::OutOfRangeError for a value that the graph does not have
TANDEM_LAZY TANDEM_API Ref<Graph> prune(const Graph& graph, Span<const ValueId> feeds, Span<const ValueId> fetches,
                                        Span<const NodeId> run = {});

/// The same by name: "a:1" is output 1 of the op named "a", "a" its only output. A fetched op without outputs runs
/// and yields nothing.
///   throws   also errors::NotFoundError for a name that the graph does not have
TANDEM_LAZY TANDEM_API Ref<Graph> prune(const Graph& graph, Span<const std::string> feeds,
                                        Span<const std::string> fetches);

}  // namespace TANDEM_NS
