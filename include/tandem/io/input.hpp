// Input: the content of a file from its beginning on, plain or inflated, seen through a window. For the readers of
// files. Files are read into a buffer and not mapped: a file that becomes shorter meanwhile then raises an error, where
// the access to a mapping would end the program (SIGBUS).
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "tandem/base/dtype.hpp"
#include "tandem/io/compression.hpp"

namespace TANDEM_NS::io::detail {

class TANDEM_API Input {
 public:
  /// `op` is used in error messages.
  ///   throws  errors::NotFoundError if there is no regular file of that name; errors::UnimplementedError for
  ///           compressed data if the library was built without zlib
  Input(const char* op, std::string path, Compression compression);
  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;
  ~Input();

  const std::string& path() const;
  /// The offset in the content of the window's first byte.
  u64 position() const { return read_ - (end_ - begin_); }
  /// What has been read from position() on.
  std::string_view window() const { return {buffer_.get() + begin_, end_ - begin_}; }
  /// Extends the window to at least n bytes, or up to the end of the content if that comes before. Views that were
  /// returned before become invalid. Memory is proportional to what is read, not to n.
  ///   throws  errors::DataLossError if compressed data are damaged or end early; errors::UnavailableError if the
  ///           system cannot read the file, or it became shorter
  std::string_view peek(std::size_t n) {
    if (end_ - begin_ < n) [[unlikely]]
      fill(n);
    return window();
  }
  /// Moves the beginning of the window by n bytes, of at least as many.
  void skip(std::size_t n) { begin_ += n; }
  /// Moves to an offset in the content: within the window or a plain file at once; in compressed data by inflating what
  /// lies before.
  ///   throws  errors::InvalidArgumentError behind the end of the content, or as peek
  void seek(u64 position);
  /// Whether the bytes behind the window are known to be fewer than n: those of a plain file are.
  bool has_fewer_than(u64 n) const;

 private:
  struct Source;
  void fill(std::size_t n);
  void reserve(std::size_t n);

  std::unique_ptr<Source> source_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;  // the window is [begin_, end_) of the buffer
  u64 read_ = 0;                                    // the offset in the content of the window's end
};

}  // namespace TANDEM_NS::io::detail
