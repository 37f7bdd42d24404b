// Definitions of io/graph_file.hpp.
#pragma once
#include "tandem/io/graph_file.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/io/replace_file.hpp"

namespace TANDEM_NS::io {

TANDEM_INLINE void save_graph(const std::string& path, const Graph& graph, const SaveOptions& options) {
  const std::string bytes = serialize(graph, options);
  replace_file(path, {{bytes.data(), bytes.size()}});
}
TANDEM_INLINE Ref<Graph> load_graph(const std::string& path, const LoadOptions& options) {
  detail::RegularFile file("load_graph", path);
  const memory::Scratch bytes(file.size());
  file.read(bytes.data(), file.size());
  return parse_graph({static_cast<const char*>(bytes.data()), file.size()}, options);
}

}  // namespace TANDEM_NS::io
