// Definitions of io/tfrecord.hpp: records in any order, and the file of their offsets. That has, little-endian: 8 bytes
// "TNDTFRX1", the size and the modification time of the records' file, the number of records, the offset of each, and
// the CRC-32C of all that.
#pragma once
#include <vector>

#include "tandem/io/file_version.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/io/tfrecord.hpp"
#include "tandem/io/tfrecord_format.hpp"

namespace TANDEM_NS::io {

namespace detail {

inline constexpr std::string_view record_index_magic = "TNDTFRX1";

// The offsets of the records, and the file's size.
TANDEM_INLINE std::vector<u64> scan_records(const std::string& path) {
  RegularFile file("TFRecordFile", path);
  std::vector<u64> offsets{0};
  const auto damaged = [&](const std::string& what) {
    errors::raise<errors::DataLossError>("TFRecordFile", path + ": record " + std::to_string(offsets.size() - 1) +
                                                             " at byte " + std::to_string(offsets.back()) + ": " +
                                                             what);
  };
  while (offsets.back() < file.size()) {
    const u64 left = file.size() - offsets.back();
    char head[record_head_bytes];
    if (left < sizeof head) damaged("the file ends within its length");
    file.read_at(head, static_cast<std::size_t>(offsets.back()), sizeof head);
    const std::string_view bytes(head, sizeof head);
    if (!has_crc(bytes, 8)) damaged("the checksum of its length does not match");
    const auto length = number_from<u64>(bytes, 0);
    constexpr u64 around = record_head_bytes + record_tail_bytes;
    if (left < around || left - around < length)
      damaged("it has " + std::to_string(length) + " bytes, but the file ends before");
    offsets.push_back(offsets.back() + around + length);
  }
  return offsets;
}

// The offsets in an index; empty if that is of another version of the file, or damaged.
TANDEM_INLINE std::vector<u64> load_record_index(const std::string& path, const FileVersion& version) {
  std::vector<u64> offsets;
  std::string bytes;
  try {
    bytes = read_regular_file("TFRecordFile", path);
  } catch (const errors::OpError&) {  // there is none yet
    return offsets;
  }
  constexpr std::size_t head = 32;
  if (bytes.size() < head + 12 || !bytes.starts_with(record_index_magic) || !has_crc(bytes, bytes.size() - 4))
    return {};
  const auto count = number_from<u64>(bytes, 24);
  const FileVersion of{number_from<u64>(bytes, 8), number_from<u64>(bytes, 16)};
  if (!(of == version) || count != (bytes.size() - head - 4) / 8) return {};
  offsets.resize(static_cast<std::size_t>(count));
  std::memcpy(offsets.data(), bytes.data() + head, offsets.size() * 8);
  return offsets;
}
TANDEM_INLINE void save_record_index(const std::string& path, const FileVersion& version,
                                     const std::vector<u64>& offsets) {
  std::string bytes(record_index_magic);
  for (const u64 x : {version.size, version.time, u64{offsets.size()}}) append_bytes_of(bytes, x);
  bytes.append(reinterpret_cast<const char*>(offsets.data()), offsets.size() * 8);
  append_bytes_of(bytes, masked_crc32c(crc32c(bytes)));
  try {
    replace_file(path, {{bytes.data(), bytes.size()}});
  } catch (const errors::OpError&) {  // a folder that cannot be written: the offsets are in memory
  }
}

}  // namespace detail

struct TFRecordFile::State {
  State(const std::string& p, bool check) : path(p), file("TFRecordFile", path), check_crc(check) {}
  std::string path;
  mutable detail::RegularFile file;  // read_at may be called by several threads
  bool check_crc;
  std::vector<u64> offsets;  // of the records, and of the file's end
};

TANDEM_INLINE TFRecordFile::TFRecordFile(const std::string& path, TFRecordFileOptions o)
    : state_(std::make_unique<State>(path, o.check_crc)) {
  const std::string index = o.index.empty() ? path + ".index" : o.index;
  const detail::FileVersion version = detail::version_of(path);
  state_->offsets = detail::load_record_index(index, version);
  if (!state_->offsets.empty()) return;
  state_->offsets = detail::scan_records(path);
  if (o.write_index) detail::save_record_index(index, version, state_->offsets);
}
TANDEM_INLINE TFRecordFile::TFRecordFile(TFRecordFile&&) noexcept = default;
TANDEM_INLINE TFRecordFile& TFRecordFile::operator=(TFRecordFile&&) noexcept = default;
TANDEM_INLINE TFRecordFile::~TFRecordFile() = default;

TANDEM_INLINE i64 TFRecordFile::size() const { return static_cast<i64>(state_->offsets.size()) - 1; }
TANDEM_INLINE std::string TFRecordFile::at(i64 index) const {
  if (index < 0 || index >= size())
    errors::raise<errors::InvalidArgumentError>(
        "TFRecordFile",
        state_->path + ": there is no record " + std::to_string(index) + " in " + std::to_string(size()));
  const u64 begin = state_->offsets[static_cast<std::size_t>(index)];
  const u64 end = state_->offsets[static_cast<std::size_t>(index) + 1];
  const auto damaged = [&](const char* what) {
    errors::raise<errors::DataLossError>("TFRecordFile", state_->path + ": record " + std::to_string(index) +
                                                             " at byte " + std::to_string(begin) + ": " + what);
  };
  constexpr u64 around = detail::record_head_bytes + detail::record_tail_bytes;
  if (end < begin + around || end > state_->file.size()) damaged("the index does not belong to the file");
  std::string bytes(static_cast<std::size_t>(end - begin), '\0');
  state_->file.read_at(bytes.data(), static_cast<std::size_t>(begin), bytes.size());
  const std::size_t length = bytes.size() - static_cast<std::size_t>(around);
  if (!detail::has_crc(bytes, 8) || detail::number_from<u64>(bytes, 0) != length)
    damaged("its length is damaged, or the file has changed");
  const std::string_view record = std::string_view(bytes).substr(detail::record_head_bytes);
  if (state_->check_crc && !detail::has_crc(record, length)) damaged("the checksum of its bytes does not match");
  return std::string(record.substr(0, length));
}

}  // namespace TANDEM_NS::io
