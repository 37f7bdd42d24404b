// Definitions of serving/web_files.hpp.
#pragma once
#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "tandem/io/regular_file.hpp"
#include "tandem/serving/page.hpp"
#include "tandem/serving/web_files.hpp"

namespace TANDEM_NS::serving {

namespace impl {

TANDEM_INLINE const char* media_type(const std::string& extension) {
  static constexpr std::pair<std::string_view, const char*> types[] = {{".html", "text/html; charset=utf-8"},
                                                                       {".js", "text/javascript; charset=utf-8"},
                                                                       {".css", "text/css; charset=utf-8"},
                                                                       {".txt", "text/plain; charset=utf-8"},
                                                                       {".json", "application/json"},
                                                                       {".svg", "image/svg+xml"},
                                                                       {".png", "image/png"},
                                                                       {".jpg", "image/jpeg"},
                                                                       {".ico", "image/x-icon"},
                                                                       {".webp", "image/webp"},
                                                                       {".woff2", "font/woff2"},
                                                                       {".wasm", "application/wasm"}};
  for (const auto& [known, type] : types)
    if (known == extension) return type;
  return "application/octet-stream";
}
[[noreturn]] TANDEM_INLINE void refuse_path(const std::string& path, const char* what, const char* why) {
  errors::raise<errors::InvalidArgumentError>("serving", "the path '" + path + "' of " + std::string(what) + " " + why);
}
// what  of what they are paths: "a web page"
template <class With>
void check_paths(const char* what, const std::vector<With>& all) {
  std::set<std::string_view> seen;
  for (const With& one : all) {
    const std::string& path = one.path;
    const auto refuse = [&](const char* why) { refuse_path(path, what, why); };
    if (!path.starts_with('/')) refuse("does not begin with /");
    for (const char* own : {"/v1/", "/v2", "/metrics", "/monitoring/", "/models.json", "/openapi.json"})
      if (path.starts_with(own)) refuse("belongs to the server");
    if (!seen.insert(path).second) refuse("occurs twice");
  }
}
TANDEM_INLINE void check_web_files(const std::vector<WebFile>& files) { check_paths("a web page", files); }
TANDEM_INLINE void check_routes(const std::vector<Route>& routes) {
  check_paths("a route", routes);
  for (const Route& route : routes)
    if (!route.code)
      errors::raise<errors::InvalidArgumentError>("serving", "the route '" + route.path + "' has no code");
}
TANDEM_INLINE void check_monitoring(const Monitoring& monitoring, const std::vector<WebFile>& files) {
  const std::string& path = monitoring.path;
  const auto refuse = [&](const char* why) { refuse_path(path, "the metrics", why); };
  if (!monitoring.enable) return;
  if (!path.starts_with('/')) refuse("does not begin with /");
  if (path.find_first_of("?#") != path.npos) refuse("has a ? or #");
  for (const char* own : {"/v1/", "/v2", "/models.json", "/openapi.json"})
    if (path.starts_with(own)) refuse("belongs to other answers of the server");
  const bool is_of_files = std::any_of(files.begin(), files.end(), [&](const WebFile& f) { return f.path == path; });
  if (is_of_files || (files.empty() && page_file(path))) refuse("is that of the web page");
}

}  // namespace impl

TANDEM_INLINE std::vector<WebFile> read_web_files(const std::string& folder) {
  namespace fs = std::filesystem;
  constexpr std::size_t most_files = 1000, most_bytes = 64 << 20;
  std::vector<WebFile> r;
  std::size_t bytes = 0;
  try {
    for (fs::recursive_directory_iterator at(folder), end; at != end; ++at) {
      if (at->path().filename().string().starts_with('.')) {
        at.disable_recursion_pending();
        continue;
      }
      if (!fs::is_regular_file(at->symlink_status())) continue;
      std::string path = "/" + fs::relative(at->path(), folder).generic_string();
      if (path == "/index.html") path = "/";
      const std::string name = at->path().string();
      io::detail::RegularFile file("serving", name);
      if (r.size() == most_files || file.size() > most_bytes - bytes)
        errors::raise<errors::ResourceExhaustedError>(
            "serving", "the web page in " + folder + " has more than 1000 files or 64 MiB");
      bytes += file.size();
      std::string text(file.size(), '\0');
      file.read(text.data(), text.size());
      r.push_back({std::move(path), impl::media_type(at->path().extension().string()), std::move(text)});
    }
  } catch (const fs::filesystem_error& e) {
    errors::raise<errors::NotFoundError>("serving", "cannot read the web page: " + std::string(e.what()));
  }
  std::sort(r.begin(), r.end(), [](const WebFile& a, const WebFile& b) { return a.path < b.path; });
  return r;
}

}  // namespace TANDEM_NS::serving
