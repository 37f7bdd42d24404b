// Partial runs of a graph: other values fed in, other values fetched, and only what lies between. Not here: running
// (program.hpp); ConcreteFunction::prune (concrete.hpp) builds on this.
#pragma once
#include <span>
#include <string>

#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS {

/// The part of a graph that leads from the fed values to the fetched ones. Its arguments are the fed values, with their
/// specs, in that order; its outputs the fetched ones. What lies above a fed value does not run, nor does any op, with
/// effects or without, that no fetch depends on; what runs keeps its order. Variables are read where they were; what an
/// assignment in the graph has given one is read from there, whether the assignment runs or not.
///   feeds    values of the graph; its own arguments or others
///   fetches  values of the graph, a fed one among them too
///   run      places in graph.nodes of ops that are to run for their effects
///   throws   errors::InvalidArgumentError if a fetch depends on an argument that is not fed (named in the text), or
///            a value is fed twice; errors::OutOfRangeError for a value that the graph does not have
TANDEM_API Ref<Graph> prune(const Graph& graph, std::span<const int> feeds, std::span<const int> fetches,
                            std::span<const int> run = {});

/// The same by name: "a:1" is output 1 of the op named "a", "a" its only output. A fetched op without output runs and
/// yields nothing.
///   throws   also errors::NotFoundError for a name that the graph does not have
TANDEM_API Ref<Graph> prune(const Graph& graph, std::span<const std::string> feeds,
                            std::span<const std::string> fetches);

}  // namespace TANDEM_NS
