// read_web_files: the files of a folder as a page of a model server. Part of the component tandem::serving.
#pragma once
#include <string>
#include <vector>

#include "tandem/serving/options.hpp"

namespace TANDEM_NS::serving {

/// Reads the regular files of a folder and of the folders in it, for Options::web_files: index.html is "/", others have
/// the paths that they have there. What begins with a dot, and links, are left out.
///   throws  errors::NotFoundError for a folder or a file that cannot be read; errors::ResourceExhaustedError for more
///           than 1000 files or 64 MiB
TANDEM_API std::vector<WebFile> read_web_files(const std::string& folder);

namespace impl {
/// Raises unless the paths are some that a page may have.
///   throws  errors::InvalidArgumentError for one that does not begin with /, occurs twice, or belongs to the server:
///           /v1/..., /v2..., /metrics, /monitoring/..., /models.json, /openapi.json
void check_web_files(const std::vector<WebFile>& files);
/// The same for routes, which need code, too.
///   throws  as check_web_files
void check_routes(const std::vector<Route>& routes);
/// Raises unless the metrics may have their path.
///   files   Options::web_files: empty for the built-in page
///   throws  errors::InvalidArgumentError for a path that does not begin with /, has a ? or #, belongs to other answers
///           of the server, or is that of a file of the page: one of `files`, or of the built-in page if there are none
void check_monitoring(const Monitoring& monitoring, const std::vector<WebFile>& files);
}  // namespace impl

}  // namespace TANDEM_NS::serving
