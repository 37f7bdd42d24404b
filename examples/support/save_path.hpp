// Whether a program will be able to save where it was told to: asked before the work, not after it.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace save_path {

namespace detail {
inline void check_folder(const std::string& path, const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    throw std::runtime_error("cannot save to " + path + ": there is no folder " + folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw std::runtime_error("cannot save to " + path + ": the folder " + folder.string() + " cannot be written to");
}
}  // namespace detail

/// Checks that a file of this name can be written.
///   throws  std::runtime_error if it is a folder, or if the folder that it belongs in is missing or not writable
inline void check_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw std::runtime_error("cannot save to " + path + ": it is a folder");
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  detail::check_folder(path, folder.empty() ? "." : folder);
}
/// Checks that files can be written in a folder of this name, which need not exist yet.
///   throws  as check_file
inline void check_new_folder(const std::string& path) {
  std::filesystem::path at = std::filesystem::path(path);
  while (!at.empty() && !std::filesystem::exists(at)) at = at.parent_path();
  detail::check_folder(path, at.empty() ? "." : at);
}

}  // namespace save_path
