// Definitions of serving/web_files.hpp.
#pragma once
#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "tandem/io/regular_file.hpp"
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
TANDEM_INLINE void check_web_files(const std::vector<WebFile>& files) {
  std::set<std::string_view> seen;
  const auto refuse = [](const WebFile& f, const char* why) {
    errors::raise<errors::InvalidArgumentError>("serving", "the path '" + f.path + "' of a web page " + why);
  };
  for (const WebFile& f : files) {
    if (!f.path.starts_with('/')) refuse(f, "does not begin with /");
    for (const char* own : {"/v1/", "/v2", "/metrics", "/monitoring/", "/models.json"})
      if (f.path.starts_with(own)) refuse(f, "belongs to the server");
    if (!seen.insert(f.path).second) refuse(f, "occurs twice");
  }
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
      std::string text = io::detail::read_regular_file("serving", at->path().string());
      bytes += text.size();
      if (r.size() == most_files || bytes > most_bytes)
        errors::raise<errors::ResourceExhaustedError>(
            "serving", "the web page in " + folder + " has more than 1000 files or 64 MiB");
      r.push_back({std::move(path), impl::media_type(at->path().extension().string()), std::move(text)});
    }
  } catch (const fs::filesystem_error& e) {
    errors::raise<errors::NotFoundError>("serving", "cannot read the web page: " + std::string(e.what()));
  }
  std::sort(r.begin(), r.end(), [](const WebFile& a, const WebFile& b) { return a.path < b.path; });
  return r;
}

}  // namespace TANDEM_NS::serving
