// Definitions of io/class_folder.hpp.
#pragma once
#include <algorithm>
#include <filesystem>

#include "tandem/base/error.hpp"
#include "tandem/io/class_folder.hpp"

namespace TANDEM_NS::io {

namespace detail {

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
inline bool ends_with_any(const std::string& name, const std::vector<std::string>& ends) {
  return ends.empty() || std::any_of(ends.begin(), ends.end(), [&](const std::string& end) {
           return end.size() < name.size() &&
                  std::equal(end.begin(), end.end(), name.end() - static_cast<std::ptrdiff_t>(end.size()),
                             [](char a, char b) { return lower(a) == lower(b); });
         });
}
[[noreturn]] inline void raise_listing(const std::string& path, const std::error_code& error) {
  errors::raise<errors::UnavailableError>("list_class_folder", "cannot list " + path + ": " + error.message());
}
// The files below a folder, sorted.
TANDEM_INLINE std::vector<std::string> files_below(const std::string& folder, const std::vector<std::string>& ends) {
  std::vector<std::string> r;
  std::error_code error;
  using Options = std::filesystem::directory_options;
  std::filesystem::recursive_directory_iterator entry(folder, Options::follow_directory_symlink, error), none;
  while (!error && entry != none) {
    const std::string name = entry->path().filename().string();
    const bool hidden = name.starts_with('.');
    if (hidden) entry.disable_recursion_pending();
    if (entry.depth() > 64) raise_listing(folder, std::make_error_code(std::errc::too_many_symbolic_link_levels));
    std::error_code ignored;  // a link whose target does not exist is not a file
    if (!hidden && entry->is_regular_file(ignored) && ends_with_any(name, ends)) r.push_back(entry->path().string());
    entry.increment(error);
  }
  if (error) raise_listing(folder, error);
  std::sort(r.begin(), r.end());
  return r;
}

}  // namespace detail

TANDEM_INLINE ClassFolder list_class_folder(const std::string& root, ClassFolderOptions o) {
  std::error_code error;
  if (!std::filesystem::is_directory(root, error))
    errors::raise<errors::NotFoundError>("list_class_folder", root + " is not a folder that can be read");
  ClassFolder r;
  std::filesystem::directory_iterator entry(root, error), none;
  for (; !error && entry != none; entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (!name.starts_with('.') && entry->is_directory(ignored)) r.class_names.push_back(name);
  }
  if (error) detail::raise_listing(root, error);
  if (r.class_names.empty())
    errors::raise<errors::InvalidArgumentError>("list_class_folder", root + " has no subfolders, one for each class");
  std::sort(r.class_names.begin(), r.class_names.end());
  for (std::size_t label = 0; label < r.class_names.size(); ++label)
    for (std::string& path : detail::files_below(root + "/" + r.class_names[label], o.extensions))
      r.files.emplace_back(std::move(path), static_cast<i64>(label));
  return r;
}

}  // namespace TANDEM_NS::io
