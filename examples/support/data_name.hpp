// What a checkpoint keeps of the data of its run: their name, for messages, and a hash, which is what is compared.
#pragma once
#include <fmt/core.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <tandem/data.hpp>

/// The 64-bit FNV-1a hash, which is the same on every machine. `before`: the hash of the preceding text, to hash a
/// text in parts.
inline std::uint64_t stable_hash(std::string_view text, std::uint64_t before = 0xcbf29ce484222325u) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return before;
}
/// "moby_dick.txt #0123456789abcdef", of which runs compare the hash: data of the same content are the same, whatever
/// the name.
inline std::string data_setting(const std::string& name, std::uint64_t hash) {
  return fmt::format("{} #{:016x}", name, hash);
}
/// The same of a file, plain or compressed; "generated" if no file was named.
inline std::string file_setting(const std::string& path) {
  return path.empty() ? "generated" : data_setting(path, stable_hash(tandem::data::read_file(path)));
}
