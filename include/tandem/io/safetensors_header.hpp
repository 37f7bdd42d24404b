// The JSON header of a safetensors file.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::io::detail {

[[noreturn]] void raise_damaged(const std::string& path, const std::string& what);

struct Entry {
  std::string name;
  Spec spec;
  std::size_t begin, end;  // within the data
};

/// The parsed header, validated against the size of the data that follows it.
struct SafetensorsHeader {
  SafetensorsHeader(std::string_view text, std::size_t data_size, const std::string& path);

  std::vector<Entry> entries;
  Metadata metadata;
};

}  // namespace TANDEM_NS::io::detail
