// Definitions of io/input.hpp.
#pragma once
#include <cstring>
#include <optional>

#include "tandem/io/inflate.hpp"
#include "tandem/io/input.hpp"
#include "tandem/io/regular_file.hpp"

namespace TANDEM_NS::io::detail {

inline constexpr std::size_t input_buffer_bytes = std::size_t{1} << 18;  // stays in a core's cache

struct Input::Source {
  Source(const char* o, std::string p, Compression c) : op(o), path(std::move(p)), file(o, path), compression(c) {
    if (c != Compression::automatic) return;
    unsigned char magic[2] = {};
    if (file.size() >= 2) file.read_at(magic, 0, 2);
    compression = magic[0] == 0x1f && magic[1] == 0x8b ? Compression::gzip : Compression::none;
  }
  // Begins again with the first byte.
  void rewind() {
    at = 0;
    if (compression == Compression::none) return;
#if TANDEM_HAS_ZLIB
    inflater.emplace(op, file, 0, file.size(), compression == Compression::gzip ? Wrapper::gzip : Wrapper::zlib);
#else
    raise_no_zlib(op, path + " is compressed");
#endif
  }
  // Reads up to n bytes; fewer at the end.
  std::size_t read(char* to, std::size_t n) {
    if (compression == Compression::none) {
      const std::size_t count = std::min(n, file.size() - static_cast<std::size_t>(at));
      file.read_at(to, static_cast<std::size_t>(at), count);
      at += count;
      return count;
    }
    std::size_t done = 0;
#if TANDEM_HAS_ZLIB
    while ((done += inflater->read_some(to + done, n - done)) < n) {
      if (!inflater->ended())
        errors::raise<errors::DataLossError>(op, path + ": its compressed data are damaged or end early, after " +
                                                     std::to_string(at + done) + " bytes of content");
      if (!inflater->next_member()) break;
    }
    at += done;
#endif
    return done;
  }

  const char* op;
  std::string path;
  RegularFile file;
  Compression compression;
  u64 at = 0;  // in the content
#if TANDEM_HAS_ZLIB
  std::optional<Inflater<RegularFile>> inflater;
#endif
};

TANDEM_INLINE Input::Input(const char* op, std::string path, Compression compression)
    : source_(std::make_unique<Source>(op, std::move(path), compression)) {
  source_->rewind();
}
TANDEM_INLINE Input::Input(Input&&) noexcept = default;
TANDEM_INLINE Input& Input::operator=(Input&&) noexcept = default;
TANDEM_INLINE Input::~Input() = default;

TANDEM_INLINE const std::string& Input::path() const { return source_->path; }
TANDEM_INLINE bool Input::has_fewer_than(u64 n) const {
  return source_->compression == Compression::none && source_->file.size() - source_->at < n;
}
// Moves the window to the front of a buffer of at least n bytes.
TANDEM_INLINE void Input::reserve(std::size_t n) {
  const std::size_t left = end_ - begin_;
  if (n > capacity_) {
    auto larger = std::make_unique_for_overwrite<char[]>(n);
    if (left) std::memcpy(larger.get(), buffer_.get() + begin_, left);
    buffer_ = std::move(larger);
    capacity_ = n;
  } else if (left) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, left);
  }
  begin_ = 0, end_ = left;
}
TANDEM_INLINE void Input::fill(std::size_t n) {
  while (end_ - begin_ < n) {
    // The buffer doubles once it is full: a length that lies does not make it large.
    const bool full = end_ - begin_ == capacity_;
    reserve(std::max(input_buffer_bytes, full ? 2 * capacity_ : capacity_));
    const std::size_t count = source_->read(buffer_.get() + end_, capacity_ - end_);
    if (count == 0) return;
    end_ += count;
    read_ += count;
  }
}
TANDEM_INLINE void Input::seek(u64 position) {
  if (position >= this->position() && position <= read_) {
    begin_ = end_ - static_cast<std::size_t>(read_ - position);
    return;
  }
  begin_ = end_ = 0;
  if (source_->compression == Compression::none) {
    source_->at = read_ = std::min<u64>(position, source_->file.size());
  } else {
    if (position < read_) source_->rewind(), read_ = 0;
    while (read_ < position) {
      fill(1);
      if (begin_ == end_) break;
      begin_ = end_ - static_cast<std::size_t>(read_ - std::min(position, read_));
      if (read_ < position) end_ = begin_ = 0;
    }
  }
  if (this->position() != position)
    errors::raise<errors::InvalidArgumentError>(source_->op, source_->path + ": position " + std::to_string(position) +
                                                                 " is behind its end at " + std::to_string(read_));
}

}  // namespace TANDEM_NS::io::detail
