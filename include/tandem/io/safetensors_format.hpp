// Shared by the reader and the writer: dtype names, limits, checksums. For the definitions of io/safetensors.hpp.
#pragma once
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "tandem/io/crc32c.hpp"
#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::io::detail {

inline constexpr const char* metadata_key = "__metadata__";
inline constexpr const char* crc_prefix = "crc32c.";     // + a tensor's name: the CRC-32C of its bytes
inline constexpr const char* header_crc = "crc32c";      // the CRC-32C of the rest of the header, by header_checksum
inline constexpr const char* old_crc_prefix = "crc32.";  // the CRC-32 of a tensor: of files of earlier versions
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

/// Checks that a tensor can be written; returns the name of its dtype in the format.
///   throws  as save_safetensors
const char* check_tensor(const NamedTensor& t);

/// Whether a key of the metadata is that of a checksum.
inline bool is_checksum(std::string_view key) {
  return key == header_crc || key.starts_with(crc_prefix) || key.starts_with(old_crc_prefix);
}

/// The description of a tensor in the header, as JSON.
inline std::string json_of(const char* dtype, const Shape& shape, std::size_t begin, std::size_t end) {
  std::string json = "{\"data_offsets\":[" + std::to_string(begin) + "," + std::to_string(end) + "],\"dtype\":\"" +
                     dtype + "\",\"shape\":[";
  for (int i = 0; i < shape.rank(); ++i) (json += i ? "," : "") += std::to_string(shape.dim(i));
  return json += "]}";
}
/// A checksum as it is in the metadata: eight hexadecimal digits.
inline std::string checksum_text(std::uint32_t crc) {
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[crc >> shift & 15];
  return text;
}
/// The checksum of a header, independent of how its JSON is written.
///   entries  the descriptions of the tensors, by name
inline std::string header_checksum(const std::map<std::string, std::string>& entries, const Metadata& metadata) {
  std::uint32_t crc = 0;
  const auto add = [&](std::string_view part) { crc = crc32c({"\0", 1}, crc32c(part, crc)); };
  for (const auto& [name, json] : entries) add(name), add(json);
  for (const auto& [key, value] : metadata)
    if (key != header_crc) add(key), add(value);
  return checksum_text(crc);
}

}  // namespace TANDEM_NS::io::detail
