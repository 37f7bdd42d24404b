// Text helpers that several examples share: atomic writing of a file, and a hash that is the same in every run.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <tandem/io.hpp>

/// Atomically replaces the content of the file by `text`. throws as tandem::io::replace_file
inline void write_text(const std::string& path, const std::string& text) {
  tandem::io::replace_file(path, {{text.data(), text.size()}});
}

/// The 64-bit FNV-1a hash, which is the same on every machine. `before`: the hash of the preceding text, to hash a
/// text in parts.
inline std::uint64_t stable_hash(std::string_view text, std::uint64_t before = 0xcbf29ce484222325u) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return before;
}
