// The parts of the ZIP format that .npz files use: stored and deflated members, 64-bit sizes when reading. Source:
// PKWARE's APPNOTE 6.3. For the definitions of io/npz.hpp.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/config.hpp"
#include "tandem/io/inflate.hpp"

namespace TANDEM_NS::io::detail {

struct ZipMember {
  std::string name;
  std::uint16_t method = 0;  // 0: stored, 8: deflated
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0, size = 0, offset = 0;  // offset: of its local header
};

inline constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50,
                               end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
inline constexpr std::size_t local_bytes = 30, central_bytes = 46, end_bytes = 22, end64_bytes = 56,
                             locator64_bytes = 20;
static_assert(std::endian::native == std::endian::little);

// The CRC-32 by tables, eight bytes a step; table k advances a byte over k zero bytes more.
inline std::uint32_t crc_by_tables(const void* data, std::size_t n, std::uint32_t crc = 0) {
  static constexpr auto table = [] {
    std::array<std::array<std::uint32_t, 256>, 8> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      t[0][i] = i;
      for (int bit = 0; bit < 8; ++bit) t[0][i] = t[0][i] >> 1 ^ (t[0][i] & 1 ? 0xedb88320u : 0);
    }
    for (std::size_t k = 1; k < 8; ++k)
      for (std::size_t i = 0; i < 256; ++i) t[k][i] = t[0][t[k - 1][i] & 255] ^ t[k - 1][i] >> 8;
    return t;
  }();
  const auto* p = static_cast<const unsigned char*>(data);
  crc = ~crc;
  for (; n >= 8; n -= 8, p += 8) {
    std::uint64_t x;
    std::memcpy(&x, p, 8);
    x ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= table[7 - k][x >> 8 * k & 255];
  }
  for (; n; --n, ++p) crc = table[0][(crc ^ *p) & 255] ^ crc >> 8;
  return ~crc;
}
inline std::uint32_t crc_of(const void* data, std::size_t n, std::uint32_t crc = 0) {
#if TANDEM_HAS_ZLIB
  return n ? static_cast<std::uint32_t>(crc32_z(crc, static_cast<const Bytef*>(data), n)) : crc;
#else
  return crc_by_tables(data, n, crc);
#endif
}
// Checks a size or offset that save_npz writes: 0xffffffff marks a 64-bit one.
inline void check_32_bits(std::uint64_t bytes, const std::string& at) {
  if (bytes >= 0xffffffffu)
    errors::raise<errors::InvalidArgumentError>(
        "save_npz", "a tensor or the file would reach 4 GiB at " + at + " (save_safetensors has no limit)");
}

// Little endian, of up to 8 bytes.
inline void append_number(std::string& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> 8 * i & 255);
}
inline std::uint64_t number_at(std::string_view bytes, std::size_t at, int count) {
  std::uint64_t r = 0;
  for (int i = 0; i < count; ++i)
    r |= std::uint64_t{static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)])} << 8 * i;
  return r;
}

// The fields that local and central headers share, from the version needed to the name's length; the date is
// 1980-01-01.
inline void append_common(std::string& to, const ZipMember& m) {
  append_number(to, 20, 2);      // version needed
  append_number(to, 0x0800, 2);  // names are UTF-8
  append_number(to, m.method, 2);
  append_number(to, 0, 2);       // time
  append_number(to, 0x0021, 2);  // date
  append_number(to, m.crc, 4);
  append_number(to, m.compressed, 4);
  append_number(to, m.size, 4);
  append_number(to, m.name.size(), 2);
}
inline std::string local_header(const ZipMember& m) {
  std::string r;
  append_number(r, local_signature, 4);
  append_common(r, m);
  append_number(r, 0, 2);  // extra fields
  return r + m.name;
}
inline std::string central_directory(const std::vector<ZipMember>& members, std::uint64_t offset) {
  std::string r;
  for (const ZipMember& m : members) {
    append_number(r, central_signature, 4);
    append_number(r, 20, 2);  // made by version 2.0, MS-DOS
    append_common(r, m);
    r.append(2 + 2 + 2 + 2 + 4, '\0');  // extra fields, comment, disk, internal and external attributes
    append_number(r, m.offset, 4);
    r += m.name;
  }
  const std::size_t bytes = r.size();
  append_number(r, end_signature, 4);
  append_number(r, 0, 4);  // disks
  append_number(r, members.size(), 2);
  append_number(r, members.size(), 2);
  append_number(r, bytes, 4);
  append_number(r, offset, 4);
  append_number(r, 0, 2);  // comment
  return r;
}

}  // namespace TANDEM_NS::io::detail
