// Whether there is zlib (TANDEM_HAS_ZLIB), and reading of compressed data with it. For the definitions of io/npz.hpp
// and data/file.hpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/config.hpp"

#if __has_include(<zlib.h>) && !defined(TANDEM_NO_ZLIB)
#include <zlib.h>
#define TANDEM_HAS_ZLIB 1
#else
#define TANDEM_HAS_ZLIB 0
#endif

namespace TANDEM_NS::io::detail {

/// The content of deflate data has at most this many times their size.
inline constexpr std::uint64_t largest_deflate_ratio = 1032;

[[noreturn]] inline void raise_no_zlib(const char* op, const std::string& what) {
  errors::raise<errors::UnimplementedError>(op, what +
                                                    ": this program was built without zlib (TANDEM_NO_ZLIB is defined, "
                                                    "or there is no <zlib.h>; Debian: zlib1g-dev)");
}

#if TANDEM_HAS_ZLIB
/// What surrounds the data.
enum class Wrapper { none = -MAX_WBITS, zlib = MAX_WBITS, gzip = MAX_WBITS + 16 };

/// Inflates the data that `source` holds from `at` on, piece by piece. Source: has read_at(to, offset, n).
template <class Source>
class Inflater {
 public:
  Inflater(const char* op, Source& source, std::uint64_t at, std::uint64_t bytes, Wrapper wrapper)
      : source_(source), at_(at), left_(bytes) {
    if (inflateInit2(&z_, static_cast<int>(wrapper)) != Z_OK)
      errors::raise<errors::ResourceExhaustedError>(op, "zlib has no memory");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&z_); }

  /// The next bytes, up to n: fewer where the data end or are damaged.
  std::size_t read_some(char* to, std::size_t n) {
    const std::size_t wanted = n;
    while (n && state_ == Z_OK) {
      refill();
      const uInt room = static_cast<uInt>(std::min(n, std::size_t{1} << 30));
      z_.next_out = reinterpret_cast<Bytef*>(to), z_.avail_out = room;
      state_ = inflate(&z_, Z_NO_FLUSH);
      to += room - z_.avail_out, n -= room - z_.avail_out;
    }
    return wanted - n;
  }
  /// The next n bytes; false if the data are damaged or end before.
  bool read(char* to, std::size_t n) { return read_some(to, n) == n && (state_ == Z_OK || ended()); }
  /// Whether the data have ended as they should.
  bool ended() const { return state_ == Z_STREAM_END; }
  /// Whether the data end here, and the source with them.
  bool at_end() {
    char more;
    return !read_some(&more, 1) && ended() && !left_ && !z_.avail_in;
  }
  /// After the end of a gzip member: goes on with the next one; false if at most zero bytes follow.
  bool next_member() {
    for (;;) {
      refill();
      if (!z_.avail_in) return false;
      if (*z_.next_in) break;
      ++z_.next_in, --z_.avail_in;
    }
    state_ = inflateReset(&z_);
    return true;
  }

 private:
  void refill() {
    if (z_.avail_in || !left_) return;
    const std::size_t n = std::min<std::uint64_t>(left_, sizeof piece_);
    source_.read_at(piece_, at_, n);
    at_ += n, left_ -= n;
    z_.next_in = reinterpret_cast<Bytef*>(piece_), z_.avail_in = static_cast<uInt>(n);
  }

  Source& source_;
  std::uint64_t at_, left_;
  z_stream z_{};
  int state_ = Z_OK;
  char piece_[1 << 14];
};
#endif

}  // namespace TANDEM_NS::io::detail
