// Whether a program will be able to save where it was told to: asked before the work, not after it.
#pragma once
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace save_path {

namespace detail {
[[noreturn]] inline void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error(fmt::format("cannot save to {}: {}", path, why));
}
inline void check_folder(const std::string& path, const std::filesystem::path& folder) {
  if (!std::filesystem::exists(folder)) fail(path, "there is no folder " + folder.string());
  if (!std::filesystem::is_directory(folder)) fail(path, folder.string() + " is not a folder");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail(path, "the folder " + folder.string() + " cannot be written to");
}
}  // namespace detail

/// Checks that a file of this name can be written.
///   throws  std::runtime_error if it is a folder, or if the folder that it belongs in is missing or not writable
inline void check_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) detail::fail(path, "it is a folder");
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

/// Makes a folder of this name, and those around it, if they are missing.
///   throws  std::runtime_error naming the folder
inline void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) detail::fail(path, error.message());
}

}  // namespace save_path
