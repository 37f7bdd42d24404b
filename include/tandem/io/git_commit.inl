// Definitions of io/git_commit.hpp. Source of the format: gitrepository-layout(5) of git.
#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "tandem/io/git_commit.hpp"

namespace TANDEM_NS::io {

namespace impl {
namespace fs = std::filesystem;

// The first line of a file; "" if there is no regular file of that name.
inline std::string first_line(const fs::path& path) {
  std::error_code error;
  std::string line;
  if (!fs::is_regular_file(path, error)) return line;
  std::ifstream file(path);
  std::getline(file, line);
  while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
  return line;
}
inline bool is_hash(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}
// The text behind a word: "refs/heads/main" of "ref: refs/heads/main"; "" for another text.
inline std::string text_after(const std::string& word, const std::string& line) {
  if (!line.starts_with(word)) return {};
  const std::size_t begin = line.find_first_not_of(' ', word.size());
  return begin == line.npos ? std::string() : line.substr(begin);
}
// The folder with HEAD of the repository that a folder belongs to; of a worktree and a submodule, the one that their
// file .git names. Empty if there is none.
inline fs::path git_folder_of(const fs::path& folder) {
  std::error_code error;
  for (fs::path at = fs::absolute(folder, error).lexically_normal(); !error; at = at.parent_path()) {
    const fs::path git = at / ".git";
    if (fs::is_directory(git, error)) return git;
    if (const std::string named = text_after("gitdir:", first_line(git)); !named.empty()) return at / named;
    if (at == at.parent_path()) break;
    error.clear();  // there is no .git here
  }
  return {};
}
inline std::string packed_ref(const fs::path& packed, const std::string& name) {
  std::error_code error;
  if (!fs::is_regular_file(packed, error)) return {};
  std::ifstream file(packed);
  for (std::string line; std::getline(file, line);)  // "HASH NAME"; of a tag, "^HASH" follows
    if (const std::size_t blank = line.find(' '); blank != line.npos && line.substr(blank + 1) == name)
      return line.substr(0, blank);
  return {};
}
}  // namespace impl

TANDEM_INLINE std::string git_commit(const std::string& folder) {
  const std::filesystem::path own = impl::git_folder_of(folder);
  if (own.empty()) return {};
  // Worktrees share their branches.
  const std::string shared = impl::first_line(own / "commondir");
  const std::filesystem::path common = shared.empty() ? own : own / shared;
  std::string text = impl::first_line(own / "HEAD");
  for (int links = 0; links < 5 && !impl::is_hash(text); ++links) {  // as many as git follows
    const std::string name = impl::text_after("ref:", text);
    if (!name.starts_with("refs/") || name.find("..") != name.npos) return {};
    text = impl::first_line(own / name);
    if (text.empty()) text = impl::first_line(common / name);
    if (text.empty()) text = impl::packed_ref(common / "packed-refs", name);
  }
  return impl::is_hash(text) ? text : std::string();
}

}  // namespace TANDEM_NS::io
