// The corpus of a program: a file or a folder of files, and a test for binary content.
#pragma once
#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace corpus {

/// The file of that name, or the regular files of that folder in name order.
///   throws  std::runtime_error if there is none
inline std::vector<std::filesystem::path> files_of(const std::string& path) {
  namespace fs = std::filesystem;
  if (!fs::exists(path)) throw std::runtime_error("corpus: there is no " + path + " (name a text file with --data)");
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& e : fs::directory_iterator(path))
    if (e.is_regular_file() && !e.is_symlink()) files.push_back(e.path());
  std::sort(files.begin(), files.end());
  if (files.empty()) throw std::runtime_error("corpus: the folder " + path + " has no files");
  return files;
}

/// Whether the text has a zero byte, or more than one control character in fifty.
inline bool is_binary(std::string_view bytes) {
  const auto strange = std::count_if(bytes.begin(), bytes.end(), [](char c) {
    const auto b = static_cast<unsigned char>(c);
    return b < 32 && b != '\n' && b != '\r' && b != '\t' && b != '\f';
  });
  return bytes.find('\0') != bytes.npos || strange * 50 > static_cast<std::ptrdiff_t>(bytes.size());
}

}  // namespace corpus
