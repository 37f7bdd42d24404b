// Failure files: what a call of a function was when it raised, so that it raises the same elsewhere.
#pragma once
#include <string>
#include <vector>

#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/io/serialize.hpp"

namespace TANDEM_NS::io {

struct FailureOptions {
  std::string path;  ///< of the file; one that exists is replaced
  OpLists ops;       ///< those that the function may have, as LoadOptions::ops: all_ops()
  /// false: of arguments and Variables shapes and dtypes alone. The error may still quote a value of an argument, and
  /// constants of the graph stay.
  bool with_values = true;
  i64 most_bytes = 256 << 20;  ///< a larger file is not written
};

/// Calls a function. If it raises, a file is left with its graph, the arguments, the Variables as they were before the
/// call, the error, the version of the library and the kernels that this CPU runs, and the error goes on. Not if the
/// call is cancelled or out of time. Why a file cannot be written is a warning. While the call runs, the Variables keep
/// their values: steps that would change them in place make new ones.
///   throws  what the call raises
TANDEM_API std::vector<Tensor> call_or_save(ConcreteFunction& function, const std::vector<Tensor>& arguments,
                                            const FailureOptions& options);

/// What a failure file has.
struct Failure {
  Ref<Graph> graph;
  std::vector<Tensor> arguments;  ///< zeros if has_values is false, as are the Variables then
  std::string error;              ///< "gather: index 7 is out of range"; without node and line
  std::string producer, kernels;  ///< "tandem 0.1.0", "AVX2"
  bool has_values = true;
};
/// Loads a failure file, which may be damaged or hostile.
///   throws  as load_graph; errors::DataLossError for another file
TANDEM_API Failure load_failure(const std::string& path, const LoadOptions& options);
/// Runs the call again: the error that it raises, in the form of Failure::error; empty if it raises none.
TANDEM_API std::string replay_failure(const Failure& failure);

}  // namespace TANDEM_NS::io
