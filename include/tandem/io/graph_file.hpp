// Graphs as files. What stands in them: graph/serialize.hpp.
#pragma once
#include <string>

#include "tandem/graph/serialize.hpp"

namespace TANDEM_NS::io {

/// Writes a graph with its constants and Variables; the file that was there stays until the new one is complete.
///   throws  as serialize; errors::ResourceExhaustedError for a full disk, errors::UnavailableError for other failures
///           of the system: each names the path and leaves the previous file as it was
TANDEM_API void save_graph(const std::string& path, const Graph& graph);

/// Reads a graph, from a file that may be damaged or hostile: io::load_graph("f.graph", {.ops = all_ops()}).
///   throws  errors::NotFoundError if there is no such file; otherwise as parse_graph
TANDEM_API Ref<Graph> load_graph(const std::string& path, const LoadOptions& options);

}  // namespace TANDEM_NS::io

#ifdef TANDEM_IMPLEMENT_GRAPH_FILE
#include <filesystem>
#include <fstream>

#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::io {

TANDEM_INLINE void save_graph(const std::string& path, const Graph& graph) {
  const std::string bytes = serialize(graph);
  replace_file(path, {{bytes.data(), bytes.size()}});
}
TANDEM_INLINE Ref<Graph> load_graph(const std::string& path, const LoadOptions& options) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) errors::raise<errors::NotFoundError>("load_graph", "cannot read " + path + ": " + error.message());
  std::string bytes(size, '\0');
  if (!std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(size)))
    errors::raise<errors::UnavailableError>("load_graph", "cannot read " + path + " to its end");
  return parse_graph(bytes, options);
}

}  // namespace TANDEM_NS::io
#endif
