// Shared by the reader and the writer: dtype names, limits, checksums. For the definitions of io/safetensors.hpp.
#pragma once
#include <array>
#include <string_view>

#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::io::detail {

inline constexpr const char* metadata_key = "__metadata__";
inline constexpr const char* crc_prefix = "crc32.";
inline constexpr std::size_t max_header = std::size_t{32} << 20;  // bytes; a longer header is neither written nor read

struct FormatName {
  DType dtype;
  const char* name;
};
inline constexpr FormatName format_names[] = {
    {DType::float32, "F32"}, {DType::float64, "F64"},  {DType::float16, "F16"}, {DType::bfloat16, "BF16"},
    {DType::int8, "I8"},     {DType::int16, "I16"},    {DType::int32, "I32"},   {DType::int64, "I64"},
    {DType::uint8, "U8"},    {DType::uint16, "U16"},   {DType::uint32, "U32"},  {DType::uint64, "U64"},
    {DType::bool_, "BOOL"},  {DType::complex64, "C64"}};

inline const char* format_name(DType d) {
  for (const FormatName& f : format_names)
    if (f.dtype == d) return f.name;
  return nullptr;
}
inline const FormatName* find_format(std::string_view name) {
  for (const FormatName& f : format_names)
    if (name == f.name) return &f;
  return nullptr;
}

// CRC-32 of IEEE 802.3 (as in zlib), one byte at a time.
inline std::uint32_t crc32(const void* data, std::size_t size) {
  static constexpr std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  std::uint32_t c = 0xffffffffu;
  const auto* p = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) c = table[(c ^ p[i]) & 255] ^ c >> 8;
  return ~c;
}

}  // namespace TANDEM_NS::io::detail
