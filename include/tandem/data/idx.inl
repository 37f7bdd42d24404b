// Definitions of data/idx.hpp: reading an IDX file that may be damaged or hostile.
#pragma once
#include <bit>
#include <cstring>

#include "tandem/data/content.hpp"
#include "tandem/data/idx.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS::data {

namespace detail {

static_assert(std::endian::native == std::endian::little);

// A text in memory, with the functions of FileContent.
class TextContent {
 public:
  explicit TextContent(std::string_view text) : text_(text) {}
  std::uint64_t most() const { return text_.size(); }
  std::size_t read(char* to, std::size_t n) {
    const std::size_t count = std::min(n, text_.size() - at_);
    if (count) std::memcpy(to, text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

inline std::optional<DType> idx_dtype(unsigned code) {
  switch (code) {
    case 0x08: return DType::uint8;
    case 0x09: return DType::int8;
    case 0x0b: return DType::int16;
    case 0x0c: return DType::int32;
    case 0x0d: return DType::float32;
    case 0x0e: return DType::float64;
    default: return std::nullopt;
  }
}
template <class T>
void swap_bytes(void* data, i64 n) {
  T* const x = static_cast<T*>(data);
  for (i64 i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 2) x[i] = __builtin_bswap16(x[i]);
    else if constexpr (sizeof(T) == 4) x[i] = __builtin_bswap32(x[i]);
    else x[i] = __builtin_bswap64(x[i]);
  }
}
inline void from_big_endian(const Tensor& t) {
  switch (size_of(t.dtype())) {
    case 2: return swap_bytes<std::uint16_t>(t.raw(), t.size());
    case 4: return swap_bytes<std::uint32_t>(t.raw(), t.size());
    case 8: return swap_bytes<u64>(t.raw(), t.size());
    default: return;
  }
}

// Content: FileContent or TextContent.
template <class Content>
class IdxReader {
 public:
  IdxReader(Content& content, const std::string& path, u64 limit) : content_(content), path_(path), limit_(limit) {}

  Tensor read() {
    unsigned char magic[4];
    read_exactly(magic, 4, "its first four bytes");
    if (magic[0] || magic[1]) fail(0, "it does not begin with two zero bytes");
    const std::optional<DType> dtype = idx_dtype(magic[2]);
    if (!dtype) fail(2, "it has the unknown dtype " + std::to_string(magic[2]));
    if (magic[3] > max_rank) fail(3, "it has " + std::to_string(magic[3]) + " axes; a tensor can have 8");
    const Spec spec{shape(magic[3]), *dtype, {}};
    const u64 bytes = checked_bytes(spec);
    const Tensor t = Tensor::allocate(spec);
    read_exactly(t.raw(), bytes, "its elements: " + to_string(spec));
    char more;
    if (content_.read(&more, 1)) fail(at_, "more bytes follow its " + to_string(spec));
    from_big_endian(t);
    return t;
  }

 private:
  [[noreturn]] void fail(u64 offset, const std::string& what) const {
    errors::raise<errors::DataLossError>(
        "load_idx", path_ + " is damaged or not an IDX file: " + what + " (offset " + std::to_string(offset) + ")");
  }
  void read_exactly(void* to, u64 n, const std::string& what) {
    const std::size_t got = n ? content_.read(static_cast<char*>(to), n) : 0;
    if (got < n) fail(at_ + got, "it ends within " + what);
    at_ += n;
  }
  Shape shape(int rank) {
    Shape s;
    for (int d = 0; d < rank; ++d) {
      std::uint32_t size = 0;
      read_exactly(&size, 4, "its sizes");
      s.push_back(static_cast<i64>(__builtin_bswap32(size)));
    }
    return s;
  }
  // The bytes of the elements. Sizes that lie are refused before memory is allocated for them; a size of 0 does not
  // excuse others whose product overflows.
  u64 checked_bytes(const Spec& spec) const {
    i64 n = static_cast<i64>(size_of(spec.dtype));
    bool empty = false, too_large = false;
    for (const i64 d : spec.shape) empty |= d == 0, too_large |= d && __builtin_mul_overflow(n, d, &n);
    const u64 bytes = empty ? 0 : static_cast<u64>(n);
    if (too_large || bytes > content_.most())
      fail(4, "the " + to_string(spec) + " of its header is larger than the file");
    if (bytes > limit_) raise_limit("load_idx", path_, limit_);
    return bytes;
  }

  Content& content_;
  const std::string& path_;
  u64 limit_, at_ = 0;
};

}  // namespace detail

TANDEM_INLINE Tensor load_idx(const std::string& path, ReadOptions options) {
  const tandem::detail::OutsideTrace outside;
  const u64 limit = detail::limit_of("load_idx", options.max_bytes);
  detail::FileContent content("load_idx", path);
  return detail::IdxReader(content, path, limit).read();
}
TANDEM_INLINE Tensor parse_idx(std::string_view bytes, const std::string& path) {
  const tandem::detail::OutsideTrace outside;
  detail::TextContent content(bytes);
  return detail::IdxReader(content, path, ~u64{0}).read();
}

}  // namespace TANDEM_NS::data
