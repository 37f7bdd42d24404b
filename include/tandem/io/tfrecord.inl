// Definitions of io/tfrecord.hpp: the writer and the reader.
#pragma once
#include <algorithm>

#include "tandem/base/error.hpp"
#include "tandem/io/tfrecord.hpp"
#include "tandem/io/tfrecord_format.hpp"

namespace TANDEM_NS::io {

TANDEM_INLINE TFRecordWriter::TFRecordWriter(const std::string& path, TFRecordWriterOptions o)
    : output_("TFRecordWriter", path, o.compression, o.compression_level) {}
TANDEM_INLINE void TFRecordWriter::write(std::string_view record) {
  std::string head;
  detail::append_bytes_of(head, u64{record.size()});
  detail::append_bytes_of(head, masked_crc32c(crc32c(head)));
  std::string tail;
  detail::append_bytes_of(tail, masked_crc32c(crc32c(record)));
  output_.write(head);
  output_.write(record);
  output_.write(tail);
}

TANDEM_INLINE TFRecordReader::TFRecordReader(const std::string& path, TFRecordOptions o)
    : input_("TFRecordReader", path, o.compression), options_(o) {
  if (o.max_record_bytes < 0)
    errors::raise<errors::InvalidArgumentError>("TFRecordReader", "max_record_bytes must not be negative");
}
// Names the record at the window's beginning.
TANDEM_INLINE std::string TFRecordReader::place() const {
  return input_.path() + ": record " + std::to_string(read_) + (start_ ? " after byte " + std::to_string(start_) : "") +
         " at byte " + std::to_string(position()) + ": ";
}
TANDEM_INLINE void TFRecordReader::damaged(const std::string& what) const {
  errors::raise<errors::DataLossError>("TFRecordReader", place() + what);
}
// The length of the record at the window's beginning.
TANDEM_INLINE u64 TFRecordReader::read_length() {
  constexpr u64 most = u64{1} << 62, around = detail::record_head_bytes + detail::record_tail_bytes;
  const std::string_view head = input_.peek(detail::record_head_bytes);
  if (head.size() < detail::record_head_bytes) damaged("the file ends within its length");
  if (!detail::has_crc(head, 8)) {
    const bool gzip = position() == 0 && head.starts_with("\x1f\x8b");
    damaged(gzip ? "the file is compressed: use {.compression = io::Compression::gzip}"
                 : "the checksum of its length does not match");
  }
  const auto length = detail::number_from<u64>(head, 0);
  if (length > most || input_.has_fewer_than(length + around - std::min<u64>(length + around, head.size())))
    damaged("it has " + std::to_string(length) + " bytes, but the file ends before");
  return length;
}
// A record above the limit is passed over.
TANDEM_INLINE void TFRecordReader::check_limit(u64 length, std::size_t bytes) {
  if (length <= static_cast<u64>(options_.max_record_bytes)) return;
  const std::string text = place() + "it has " + std::to_string(length) +
                           " bytes, more than max_record_bytes = " + std::to_string(options_.max_record_bytes);
  input_.seek(input_.position() + bytes);
  ended_ = false, ++read_;
  errors::raise<errors::ResourceExhaustedError>("TFRecordReader", text);
}
TANDEM_INLINE bool TFRecordReader::next(std::string_view& record) {
  if (ended_) return false;
  ended_ = true;  // unless what follows finds the end of the record
  if (input_.peek(1).empty()) return false;
  const u64 length = read_length();
  const std::size_t all = detail::record_head_bytes + static_cast<std::size_t>(length) + detail::record_tail_bytes;
  check_limit(length, all);
  const std::string_view bytes = input_.peek(all);
  if (bytes.size() < all) damaged("it has " + std::to_string(length) + " bytes, but the file ends before");
  ended_ = false;
  record = bytes.substr(detail::record_head_bytes, static_cast<std::size_t>(length));
  const bool good = !options_.check_crc || detail::has_crc(bytes.substr(detail::record_head_bytes), record.size());
  const std::string at = good ? std::string() : place();
  input_.skip(all);
  ++read_;
  if (!good) errors::raise<errors::DataLossError>("TFRecordReader", at + "the checksum of its bytes does not match");
  return true;
}
TANDEM_INLINE bool TFRecordReader::next(std::string& record) {
  std::string_view view;
  if (!next(view)) return false;
  record.assign(view);
  return true;
}
TANDEM_INLINE void TFRecordReader::seek(i64 position) {
  if (position < 0) errors::raise<errors::InvalidArgumentError>("TFRecordReader", "a position is not negative");
  input_.seek(static_cast<u64>(position));
  start_ = position, read_ = 0, ended_ = false;
}

}  // namespace TANDEM_NS::io
