// Compares the graphs that ranks have traced, before a graph's first collective operation. Part of the component
// tandem::distribute. For strategies. Not here: the comparison of single operations (Communicator::run).
#pragma once
#include <string>

#include "tandem/distribute/communicator.hpp"
#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS::distribute::impl {

/// Raises in every rank if their graphs differ. Ops, what they read, dtypes and ranks of tensors must be equal, sizes
/// of arguments except for their rows, and of Variables that all ranks have. If arguments have equally many rows in all
/// ranks, sizes of all tensors and attributes must be equal, too, except for lists of integers and where slices
/// begin. Values of constants may differ, as a rank's number does.
///   function  its name, for errors
///   returns   false, without having communicated, if the graph has no collective operation
///   throws    errors::FailedPreconditionError with the first node that differs, and both ranks' lines
/// One operation of 48 bytes from each rank; a second one if the graphs differ.
TANDEM_API bool agree_on_graph(const Communicator& group, const Graph& graph, const std::string& function);

}  // namespace TANDEM_NS::distribute::impl
