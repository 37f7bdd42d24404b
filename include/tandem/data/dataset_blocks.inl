// Definitions of data/dataset_blocks.hpp.
#pragma once
#include <algorithm>
#include <cstring>
#include <optional>

#include "tandem/data/dataset_blocks.hpp"
#include "tandem/io/file_version.hpp"
#include "tandem/io/input.hpp"
#include "tandem/io/regular_file.hpp"

namespace TANDEM_NS::data {

namespace detail {

// The bytes of a file at any place, for several threads. Those of a compressed file are in memory.
class PlacedBytes {
 public:
  ///   keep_open  whether to read from one descriptor; otherwise the file is opened at each read
  PlacedBytes(const char* op, const std::string& path, bool keep_open, io::Compression compression)
      : op_(op), path_(path) {
    file_.emplace(op, path_);
    version_ = io::detail::version_of(*file_);
    if (compression == io::Compression::automatic) {
      unsigned char magic[2] = {};
      if (file_->size() >= 2) file_->read_at(magic, 0, 2);
      compression = magic[0] == 0x1f && magic[1] == 0x8b ? io::Compression::gzip : io::Compression::none;
    }
    if (compression == io::Compression::none) size_ = static_cast<i64>(file_->size());
    else inflate(compression);
    if (content_ || !keep_open) file_.reset();
  }
  PlacedBytes(const PlacedBytes&) = delete;  // the open file refers to the path

  const std::string& path() const { return path_; }
  i64 size() const { return size_; }
  // Appends bytes [from, to).
  void append(std::string& out, i64 from, i64 to) const {
    const auto at = static_cast<std::size_t>(from), n = static_cast<std::size_t>(to - from);
    if (content_) {
      out.append(*content_, at, n);
      return;
    }
    const std::size_t before = out.size();
    out.resize(before + n);
    if (file_) return read_at(*file_, out.data() + before, at, n);
    std::optional<io::detail::RegularFile> file;
    try {
      file.emplace(op_, path_);
    } catch (const errors::NotFoundError& e) {  // it was there when the data set was made
      errors::raise<errors::UnavailableError>(op_, e.message().substr(e.op().size() + 2));
    }
    read_at(*file, out.data() + before, at, n);
  }

 private:
  void inflate(io::Compression compression) {
    io::detail::Input input(op_, path_, compression);
    content_.emplace();
    for (std::string_view part = input.peek(1); !part.empty(); part = input.peek(1)) {
      content_->append(part);
      input.skip(part.size());
    }
    size_ = static_cast<i64>(content_->size());
  }
  void read_at(io::detail::RegularFile& file, char* to, std::size_t at, std::size_t n) const {
    file.read_at(to, at, n);
    if (!(io::detail::version_of(file) == version_))  // behind the read, which it covers
      errors::raise<errors::UnavailableError>(op_, path_ + " has changed since the data set was made");
  }
  const char* op_;
  const std::string path_;
  io::detail::FileVersion version_;
  mutable std::optional<io::detail::RegularFile> file_;  // read_at may be called by several threads
  std::optional<std::string> content_;
  i64 size_ = 0;
};

// The records of one file, for IndexedFiles.
class FixedLengthRecords {
 public:
  FixedLengthRecords(const char* op, const std::string& path, bool keep_open, i64 record_bytes,
                     const FixedLengthRecordOptions& o)
      : bytes_(op, path, keep_open, o.compression), record_bytes_(record_bytes), begin_(o.header_bytes) {
    const i64 body = bytes_.size() - saturating_add(o.header_bytes, o.footer_bytes);
    if (body < 0)
      errors::raise<errors::InvalidArgumentError>(
          op, path + " has " + std::to_string(bytes_.size()) + " bytes, fewer than header_bytes = " +
                  std::to_string(o.header_bytes) + " and footer_bytes = " + std::to_string(o.footer_bytes));
    if (body % record_bytes != 0)
      errors::raise<errors::InvalidArgumentError>(
          op, path + ": record " + std::to_string(body / record_bytes) + " at byte " +
                  std::to_string(begin_ + body / record_bytes * record_bytes) + " has " +
                  std::to_string(body % record_bytes) +
                  " bytes instead of record_bytes = " + std::to_string(record_bytes));
    size_ = body / record_bytes;
  }
  i64 size() const { return size_; }
  std::string at(i64 index) const {
    std::string r;
    const i64 from = begin_ + index * record_bytes_;
    bytes_.append(r, from, from + record_bytes_);
    return r;
  }

 private:
  PlacedBytes bytes_;
  i64 record_bytes_, begin_, size_ = 0;
};

// The blocks of one file, for IndexedFiles.
class TextBlocks {
 public:
  TextBlocks(const char* op, const std::string& path, bool keep_open, const TextBlockOptions& options)
      : op_(op), bytes_(op, path, keep_open, options.compression), options_(options) {}
  i64 size() const { return bytes_.size() / options_.block_bytes + (bytes_.size() % options_.block_bytes != 0); }
  std::string at(i64 index) const {
    const i64 begin = index * options_.block_bytes;
    const i64 end = begin + std::min(options_.block_bytes, bytes_.size() - begin);
    // With the byte before, behind which a word or line may begin.
    std::string r;
    bytes_.append(r, begin - (begin > 0), end);
    if (begin > 0) {
      const std::size_t first = behind_end(r, 0);
      if (first >= r.size()) return {};  // none begins, or at the beginning of the next block
      r.erase(0, first);
    }
    finish(r, end, begin);
    return r;
  }

 private:
  bool is_end(char c) const {
    return c == '\n' || (options_.unit == TextUnit::word && (c == ' ' || (c >= '\t' && c <= '\r')));
  }
  // The place behind the first end of a word or line from `from` on; npos if there is none.
  std::size_t behind_end(const std::string& text, std::size_t from) const {
    if (options_.unit == TextUnit::line) {
      const std::size_t at = text.find('\n', from);
      return at == text.npos ? at : at + 1;
    }
    for (; from < text.size(); ++from)
      if (is_end(text[from])) return from + 1;
    return text.npos;
  }
  // Reads on from `end` to where the last word or line ends.
  void finish(std::string& text, i64 end, i64 begin) const {
    const auto check = [&] {
      if (text.size() > static_cast<std::size_t>(options_.max_block_bytes))
        errors::raise<errors::ResourceExhaustedError>(
            op_, bytes_.path() + ": the block at byte " + std::to_string(begin) +
                     " has more than max_block_bytes = " + std::to_string(options_.max_block_bytes) + " bytes");
    };
    for (i64 piece = 256; end < bytes_.size() && !is_end(text.back()); piece *= 2) {
      check();
      const std::size_t before = text.size();
      const i64 to = end + std::min(piece, bytes_.size() - end);
      bytes_.append(text, end, to);
      end = to;
      const std::size_t behind = behind_end(text, before);
      if (behind == text.npos) continue;
      text.resize(behind);
      break;
    }
    check();
  }

  const char* op_;
  PlacedBytes bytes_;
  TextBlockOptions options_;
};

template <class F, class... Args>
Dataset<std::string> placed_files(const char* op, const Paths& paths, const Args&... args) {
  check_paths(op, paths.list());
  constexpr std::size_t most_open = 64;
  std::vector<std::unique_ptr<F>> files;
  for (const std::string& path : paths.list())
    files.push_back(std::make_unique<F>(op, path, paths.list().size() <= most_open, args...));
  return Dataset<std::string>(std::make_shared<IndexedFiles<F>>(op, std::move(files)));
}

inline Dataset<std::string> fixed_length_records(const Paths& paths, i64 record_bytes,
                                                 const FixedLengthRecordOptions& o) {
  const char* const op = "FixedLengthRecordDataset";
  check_at_least(op, "record_bytes", record_bytes, 1);
  check_at_least(op, "header_bytes", o.header_bytes, 0);
  check_at_least(op, "footer_bytes", o.footer_bytes, 0);
  return placed_files<FixedLengthRecords>(op, paths, record_bytes, o);
}
inline Dataset<std::string> text_blocks(const Paths& paths, const TextBlockOptions& o) {
  const char* const op = "TextBlockDataset";
  check_at_least(op, "block_bytes", o.block_bytes, 1);
  check_at_least(op, "max_block_bytes", o.max_block_bytes, 1);
  if (o.block_bytes > o.max_block_bytes)
    errors::raise<errors::InvalidArgumentError>(
        op, "block_bytes = " + std::to_string(o.block_bytes) +
                " must be at most max_block_bytes = " + std::to_string(o.max_block_bytes));
  return placed_files<TextBlocks>(op, paths, o);
}

}  // namespace detail

TANDEM_INLINE FixedLengthRecordDataset::FixedLengthRecordDataset(const Paths& paths, i64 record_bytes,
                                                                 FixedLengthRecordOptions options)
    : Dataset(detail::fixed_length_records(paths, record_bytes, options)) {}
TANDEM_INLINE TextBlockDataset::TextBlockDataset(const Paths& paths, TextBlockOptions options)
    : Dataset(detail::text_blocks(paths, options)) {}

}  // namespace TANDEM_NS::data
