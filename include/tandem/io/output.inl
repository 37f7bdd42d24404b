// Definitions of io/output.hpp.
#pragma once
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tandem/io/inflate.hpp"
#include "tandem/io/output.hpp"
#include "tandem/io/regular_file.hpp"

namespace TANDEM_NS::io::detail {

struct Output::Sink {
  Sink(const char* o, std::string p, Compression c, int level) : op(o), path(std::move(p)), compression(c) {
    if (c == Compression::automatic) refuse("compression must be none, gzip or zlib");
    if (level < -1 || level > 9) refuse("compression_level must be -1 to 9, not " + std::to_string(level));
    if (c != Compression::none) start_compression(level);
    file =
        Descriptor(uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }));
    if (file.get() < 0) fail(errno);
    buffer.reserve(buffer_bytes);
  }
  void put(std::string_view bytes) {
    if (buffer.size() + bytes.size() > buffer_bytes) drain();
    if (bytes.size() > buffer_bytes) to_file(bytes);
    else buffer += bytes;
  }
  void drain() {
    to_file(buffer);
    buffer.clear();
  }
  void to_file(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = uninterrupted(
          [&] { return ::write(file.get(), bytes.data(), std::min(bytes.size(), std::size_t{1} << 30)); });
      if (n < 0) fail(errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  // Compresses bytes; `mode` is zlib's flush mode.
  void deflate_bytes([[maybe_unused]] std::string_view bytes, [[maybe_unused]] int mode) {
#if TANDEM_HAS_ZLIB
    char piece[1 << 14];
    do {
      const std::size_t part = std::min(bytes.size(), std::size_t{1} << 30);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())), z.avail_in = static_cast<uInt>(part);
      bytes.remove_prefix(part);
      do {
        z.next_out = reinterpret_cast<Bytef*>(piece), z.avail_out = sizeof piece;
        ::deflate(&z, bytes.empty() ? mode : Z_NO_FLUSH);
        put({piece, sizeof piece - z.avail_out});
      } while (z.avail_out == 0);
    } while (!bytes.empty());
#endif
  }
  void start_compression([[maybe_unused]] int level) {
#if TANDEM_HAS_ZLIB
    const auto wrapper = static_cast<int>(compression == Compression::gzip ? Wrapper::gzip : Wrapper::zlib);
    if (deflateInit2(&z, level, Z_DEFLATED, wrapper, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      errors::raise<errors::ResourceExhaustedError>(op, "zlib has no memory");
#else
    raise_no_zlib(op, "compression of " + path);
#endif
  }
  [[noreturn]] void refuse(const std::string& what) const { errors::raise<errors::InvalidArgumentError>(op, what); }
  [[noreturn]] void fail(int error) const {
    const std::string text = "cannot write " + path + ": " + std::strerror(error);
    if (is_full(error)) errors::raise<errors::ResourceExhaustedError>(op, text);
    errors::raise<errors::UnavailableError>(op, text);
  }

  static constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
  const char* op;
  std::string path, buffer;
  Compression compression;
  Descriptor file;
#if TANDEM_HAS_ZLIB
  struct Deflater : z_stream {
    Deflater() : z_stream{} {}
    Deflater(const Deflater&) = delete;
    ~Deflater() { deflateEnd(this); }  // no effect before deflateInit2
  } z;
#endif
};

TANDEM_INLINE Output::Output(const char* op, std::string path, Compression compression, int level)
    : sink_(std::make_unique<Sink>(op, std::move(path), compression, level)) {}
TANDEM_INLINE Output::Output(Output&&) noexcept = default;
TANDEM_INLINE Output& Output::operator=(Output&& o) noexcept {
  std::swap(sink_, o.sink_);  // the destructor of o closes the file of this
  return *this;
}
TANDEM_INLINE Output::~Output() {
  try {
    close();
  } catch (const errors::OpError&) {  // what must not be lost is closed by close()
  }
}
TANDEM_INLINE void Output::write(std::string_view bytes) {
  if (!sink_) errors::raise<errors::FailedPreconditionError>("write", "the file is closed");
  if (sink_->compression == Compression::none) sink_->put(bytes);
  else sink_->deflate_bytes(bytes, 0);
}
TANDEM_INLINE void Output::flush() {
  if (!sink_) errors::raise<errors::FailedPreconditionError>("flush", "the file is closed");
#if TANDEM_HAS_ZLIB
  if (sink_->compression != Compression::none) sink_->deflate_bytes({}, Z_SYNC_FLUSH);
#endif
  sink_->drain();
}
TANDEM_INLINE void Output::close() {
  if (!sink_) return;
  const std::unique_ptr<Sink> sink = std::move(sink_);  // closed even if that fails
#if TANDEM_HAS_ZLIB
  if (sink->compression != Compression::none) sink->deflate_bytes({}, Z_FINISH);
#endif
  sink->drain();
}

}  // namespace TANDEM_NS::io::detail
