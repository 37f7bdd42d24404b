// What a checkpoint keeps of the data of its run: their name, for messages, and a hash, which is what is compared.
#pragma once
#include <fmt/core.h>
#include <cstdint>
#include <string>
#include <tandem/data.hpp>

/// "moby_dick.txt #0123456789abcdef", of which runs compare the hash: data of the same content are the same, whatever
/// the name.
inline std::string data_setting(const std::string& name, std::uint64_t hash) {
  return fmt::format("{} #{:016x}", name, hash);
}
/// The same of a file, plain or compressed; "generated" if no file was named.
inline std::string file_setting(const std::string& path) {
  return path.empty() ? "generated" : data_setting(path, tandem::data::fingerprint(tandem::data::read_file(path)));
}
