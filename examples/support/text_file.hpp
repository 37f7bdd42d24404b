// What several examples do with text: write a file of it whole or not at all, and number it the same way in every run.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <tandem/io.hpp>

/// Makes `text` the content of the file. throws as tandem::io::replace_file
inline void write_text(const std::string& path, const std::string& text) {
  tandem::io::replace_file(path, {{text.data(), text.size()}});
}

/// The 64-bit FNV-1a hash, which is the same on every machine; of text that follows other text, if that one's hash is
/// given.
inline std::uint64_t stable_hash(std::string_view text, std::uint64_t before = 0xcbf29ce484222325u) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return before;
}
