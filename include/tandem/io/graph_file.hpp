// Saving graphs to files and loading them. The format: graph/io/serialize.hpp.
#pragma once
#include <string>

#include "tandem/graph/io/serialize.hpp"

namespace TANDEM_NS::io {

/// Saves a graph with its constants and Variables, and with the names of the options. An existing file is kept until
/// the new one is complete.
///   throws  as serialize, and as replace_file (io/replace_file.hpp)
TANDEM_API void save_graph(const std::string& path, const Graph& graph, const SaveOptions& options = {});

/// Loads a graph from a file that may be damaged or hostile: io::load_graph("f.graph", {.ops = all_ops()}).
///   throws  errors::NotFoundError if there is no regular file of that name, errors::UnavailableError if it cannot be
///           read; otherwise as parse_graph
TANDEM_API Ref<Graph> load_graph(const std::string& path, const LoadOptions& options);

}  // namespace TANDEM_NS::io
