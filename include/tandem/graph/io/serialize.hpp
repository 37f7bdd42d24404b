// Graphs as bytes and back: ops by name, attributes by field, constants, Variables with their values. Not here: files
// (io/graph_file.hpp), the table of all ops that a loader looks into (op_table.hpp).
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS {

/// The version of the format that serialize() writes; parse_graph() reads it and all before it.
inline constexpr std::uint32_t graph_format = 1;

/// The graph with all that it needs to run elsewhere: constants, Variables (name, trainable, value now) and the graphs
/// of control flow. Source lines are not kept. The same graph gives the same bytes.
///   throws  errors::UnimplementedError where an op holds what no file can (a custom gradient's closure, a fused
///           program: save the graph as it was traced), errors::InternalError where the graph is wrong (see verify)
TANDEM_API std::string serialize(const Graph& graph);

struct LoadOptions {
  /// The ops that may occur besides arguments, constants, Variables and control flow: all_ops() of op_table.hpp, or
  /// fewer. For graphs of strangers leave out print, which can write to files.
  std::span<const OpDef* const> ops;
  /// By saved name: Variables that take the place of the saved ones. All others are made anew.
  std::vector<std::pair<std::string, Variable>> variables = {};
};

/// The graph that serialize() wrote. Any bytes give a graph that verify() accepts, or an error; memory stays in
/// proportion to their number.
///   throws  errors::DataLossError for bytes that are torn, hostile or no graph, with the place;
///           errors::FailedPreconditionError for a newer format; errors::NotFoundError for an op that is not among
///           `ops`, or a name in `variables` that was not saved; errors::InvalidArgumentError if a Variable of
///           `variables` has another shape or dtype
TANDEM_API Ref<Graph> parse_graph(std::string_view bytes, const LoadOptions& options);

/// Equal for graphs that compute the same in the same order, whatever their names: ops, attributes, constants, specs
/// and wiring count. With a scope: of the ops named "scope/..." alone, so that a view can draw equal parts once.
TANDEM_API std::size_t structure_hash(const Graph& graph, std::string_view scope = {});

}  // namespace TANDEM_NS
