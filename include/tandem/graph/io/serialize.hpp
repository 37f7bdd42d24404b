// Serializes graphs to bytes and back: ops by name, attributes by field, constants, Variables with their values or by
// name. Not here: files (io/graph_file.hpp), the table of all ops that a loader uses (op_table.hpp).
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

/// The latest format version; parse_graph() reads this version and all earlier ones. serialize() writes version 1 where
/// that can hold what is saved, so that earlier versions of the library read it.
///   1  graphs with all that they need to run
///   2  also names of inputs and outputs, Variables whose values are elsewhere, and objects that ops refer to, such as
///      lookup tables
inline constexpr std::uint32_t graph_format = 2;

struct SaveOptions {
  /// Names of the arguments and of the outputs, in their order; none: the file has no names.
  std::vector<std::string> inputs = {}, outputs = {};
  /// Variables of which the file has only this name, shape and dtype: their values are saved elsewhere, so that several
  /// graphs can share them. May have more than the graph.
  std::vector<std::pair<std::string, Variable>> values_elsewhere = {};
};

/// Serializes the graph with all that it needs to run elsewhere: constants, Variables (name, trainable, current
/// value), the graphs of control flow, and lookup tables that do not change. Source lines are not kept. The same graph
/// gives the same bytes. Ops whose kernels take half precision in this build alone are saved in float32 between casts,
/// which gives the same bits.
///   throws  errors::UnimplementedError if an op holds something that cannot be saved (a custom gradient's closure, a
///           mutable table, a fused program: save the graph as it was traced), errors::InvalidArgumentError for names
///           that are empty, equal or not as many as the graph has inputs or outputs, errors::InternalError if the
///           graph is invalid (see verify)
TANDEM_LAZY TANDEM_API std::string serialize(const Graph& graph, const SaveOptions& options = {});

/// Ops from one list, or from several: all_ops(), or {linalg::all_ops(), signal::all_ops()}.
class OpLists {
 public:
  using List = Span<const OpDef* const>;
  OpLists() = default;
  template <class L>
    requires(std::is_convertible_v<const L&, List>)
  OpLists(const L& list) : lists_{List(list)} {}
  OpLists(std::initializer_list<List> lists) : lists_(lists) {}
  /// These and those of another.
  OpLists with(const OpLists& more) const {
    OpLists r = *this;
    r.lists_.insert(r.lists_.end(), more.lists_.begin(), more.lists_.end());
    return r;
  }

  const std::vector<List>& lists() const { return lists_; }

 private:
  std::vector<List> lists_;
};

struct LoadOptions {
  /// The ops that may occur besides arguments, constants, Variables and control flow: all_ops() of op_table.hpp, or
  /// fewer; with components {linalg::all_ops(), signal::all_ops(), strings::all_ops()} of linalg_op_table.hpp,
  /// signal_op_table.hpp, strings_op_table.hpp. For untrusted graphs leave out print, which can write to files.
  OpLists ops = {};
  /// By saved name: Variables that replace the saved ones. All others are created anew.
  std::vector<std::pair<std::string, Variable>> variables = {};
  /// By saved name: the Variables whose values are not in the file (SaveOptions::values_elsewhere). May have more.
  std::vector<std::pair<std::string, Variable>> values = {};
};

/// A graph with the names that its file has, if any.
struct NamedGraph {
  Ref<Graph> graph;
  std::vector<std::string> inputs, outputs;
};

/// Parses a graph that serialize() wrote. Any bytes give a graph that verify() accepts, or an error; memory use
/// stays proportional to their number.
///   throws  errors::DataLossError for bytes that are truncated, malicious or not a graph, with the position;
///           errors::FailedPreconditionError for a newer format; errors::NotFoundError for an op that is not among
///           `ops`, a name in `variables` that was not saved, or a Variable without a value that is neither in
///           `variables` nor in `values`; errors::InvalidArgumentError if a Variable of those has another shape or
///           dtype, or is on another device
TANDEM_LAZY TANDEM_API Ref<Graph> parse_graph(std::string_view bytes, const LoadOptions& options);
/// The same with the names of inputs and outputs, which are different and not empty; no names where the file has none.
TANDEM_LAZY TANDEM_API NamedGraph parse_named_graph(std::string_view bytes, const LoadOptions& options);

/// A hash that is equal for graphs that compute the same in the same order, regardless of names: it covers ops,
/// attributes, constants, specs and wiring. With a scope, it covers only the ops named "scope/...", so that a view
/// can draw equal parts once.
TANDEM_LAZY TANDEM_API std::size_t structure_hash(const Graph& graph, std::string_view scope = {});

}  // namespace TANDEM_NS
