// The parts of a TFRecord file. For the definitions of io/tfrecord.hpp.
#pragma once
#include <cstring>
#include <string_view>

#include "tandem/base/dtype.hpp"
#include "tandem/io/crc32c.hpp"

namespace TANDEM_NS::io::detail {

inline constexpr std::size_t record_head_bytes = 12, record_tail_bytes = 4;  // length and CRC; CRC of the bytes

template <class T>
T number_from(std::string_view bytes, std::size_t at) {
  T x;
  std::memcpy(&x, bytes.data() + at, sizeof x);
  return x;
}
template <class T>
void append_bytes_of(std::string& to, T x) {
  char bytes[sizeof x];
  std::memcpy(bytes, &x, sizeof x);
  to.append(bytes, sizeof x);
}
/// Whether the CRC at bytes[n] is that of the n bytes before it.
inline bool has_crc(std::string_view bytes, std::size_t n) {
  return masked_crc32c(crc32c(bytes.substr(0, n))) == number_from<std::uint32_t>(bytes, n);
}

}  // namespace TANDEM_NS::io::detail
