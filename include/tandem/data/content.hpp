// The content of a file, read piece by piece and inflated if it is compressed. For the definitions of data/file.hpp and
// data/idx.hpp.
#pragma once
#include <optional>
#include <string>

#include "tandem/base/dtype.hpp"
#include "tandem/base/error.hpp"
#include "tandem/io/inflate.hpp"
#include "tandem/io/regular_file.hpp"

namespace TANDEM_NS::data::detail {

/// `max_bytes` as a limit.
///   throws  errors::InvalidArgumentError if it is negative
inline std::uint64_t limit_of(const char* op, i64 max_bytes) {
  if (max_bytes < 0)
    errors::raise<errors::InvalidArgumentError>(op,
                                                "max_bytes must not be negative, but is " + std::to_string(max_bytes));
  return static_cast<std::uint64_t>(max_bytes);
}
[[noreturn]] inline void raise_limit(const char* op, const std::string& path, std::uint64_t limit) {
  errors::raise<errors::ResourceExhaustedError>(
      op, path + " has more than max_bytes = " + std::to_string(limit) + " bytes");
}

class FileContent {
 public:
  /// `op` is used in error messages; the path must outlive this object.
  FileContent(const char* op, const std::string& path) : op_(op), path_(path), file_(op, path) {
    unsigned char magic[2] = {};
    if (file_.size() >= 2) file_.read_at(magic, 0, 2);
    compressed_ = magic[0] == 0x1f && magic[1] == 0x8b;
#if TANDEM_HAS_ZLIB
    if (compressed_) inflater_.emplace(op, file_, 0, file_.size(), io::detail::Wrapper::gzip);
#else
    if (compressed_) io::detail::raise_no_zlib(op, path + " is compressed by gzip");
#endif
  }
  bool compressed() const { return compressed_; }
  /// The number of bytes of the file: of compressed data.
  std::size_t file_size() const { return file_.size(); }
  /// The most bytes that the content can have; for a plain file the number that it has.
  std::uint64_t most() const {
    std::uint64_t n;
    const std::uint64_t ratio = compressed_ ? io::detail::largest_deflate_ratio : 1;
    return __builtin_mul_overflow(static_cast<std::uint64_t>(file_.size()), ratio, &n) ? ~std::uint64_t{0} : n;
  }
  /// Reads the next n bytes; returns how many there were. Reading up to the end, and one byte more, checks all of it.
  std::size_t read(char* to, std::size_t n) {
    if (!compressed_) {
      const std::size_t count = std::min(n, file_.size() - at_);
      file_.read(to, count);
      at_ += count;
      return count;
    }
#if TANDEM_HAS_ZLIB
    std::size_t done = 0;
    while ((done += inflater_->read_some(to + done, n - done)) < n) {
      if (!inflater_->ended())
        errors::raise<errors::DataLossError>(op_, path_ + ": its compressed data are damaged or end early, after " +
                                                      std::to_string(at_ + done) + " bytes of content");
      if (!inflater_->next_member()) break;
    }
    at_ += done;
    return done;
#else
    return 0;
#endif
  }

 private:
  const char* op_;
  const std::string& path_;
  io::detail::RegularFile file_;
  bool compressed_ = false;
  std::size_t at_ = 0;
#if TANDEM_HAS_ZLIB
  std::optional<io::detail::Inflater<io::detail::RegularFile>> inflater_;
#endif
};

}  // namespace TANDEM_NS::data::detail
