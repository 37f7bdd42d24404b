// TFRecord files: records of bytes with checksums, as TensorFlow writes and reads them. Not here: what is in a record
// (io/example.hpp).
#pragma once
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/io/input.hpp"
#include "tandem/io/output.hpp"

namespace TANDEM_NS::io {

struct TFRecordWriterOptions {
  Compression compression = Compression::none;  ///< none, gzip or zlib
  int compression_level = -1;                   ///< 0 to 9; -1: zlib's default
};
/// Writes a TFRecord file: for each record its length (8 bytes, little-endian), the masked CRC-32C of those, its bytes
/// and their masked CRC-32C. An existing file is emptied.
///
///   io::TFRecordWriter writer("train.tfrecord");
///   writer.write(example.serialize());
///   writer.close();
class TANDEM_API TFRecordWriter {
 public:
  ///   throws  errors::UnavailableError if the file cannot be written; errors::InvalidArgumentError for options out of
  ///           range; errors::UnimplementedError for compression if the library was built without zlib
  explicit TFRecordWriter(const std::string& path, TFRecordWriterOptions = {});
  /// Appends a record.
  ///   throws  errors::ResourceExhaustedError for a full disk, errors::UnavailableError for other system errors;
  ///           errors::FailedPreconditionError once the file is closed
  void write(std::string_view record);
  /// Passes the records to the system, so that they outlive the program.
  void flush() { output_.flush(); }
  /// Completes the file. Raises what the destructor, which does the same, cannot.
  void close() { output_.close(); }

 private:
  detail::Output output_;
};

struct TFRecordOptions {
  Compression compression = Compression::none;
  bool check_crc = true;                                   ///< of the bytes; that of the length is always checked
  i64 max_record_bytes = std::numeric_limits<i64>::max();  ///< a longer record raises before it is read
};
/// Reads the records of a TFRecord file one after the other. Memory is bounded by the longest record.
///
///   io::TFRecordReader reader("train.tfrecord.gz", {.compression = io::Compression::gzip});
///   for (std::string record; reader.next(record);) use(record);
class TANDEM_API TFRecordReader {
 public:
  ///   throws  errors::NotFoundError if there is no regular file of that name; errors::InvalidArgumentError for a
  ///           negative limit; errors::UnimplementedError for compression if the library was built without zlib
  explicit TFRecordReader(const std::string& path, TFRecordOptions = {});

  /// Reads the next record; false at the end of the file.
  ///   throws  errors::DataLossError, naming file, record and byte offset (in the content, if it is compressed), for a
  ///           checksum that does not match and for a file that ends within a record: the next call then reads the
  ///           record after a damaged one, and returns false where a length is damaged or the file ends;
  ///           errors::ResourceExhaustedError for a record above max_record_bytes, which is passed over;
  ///           errors::UnavailableError if the system cannot read the file, or it became shorter
  bool next(std::string& record);
  /// The same without a copy: the view is valid until the reader is used again.
  bool next(std::string_view& record);
  /// Where the next record begins, for seek().
  i64 position() const { return static_cast<i64>(input_.position()); }
  /// Goes on at a position of this or another reader of the file: at once, or in a compressed file by inflating what
  /// lies before.
  ///   throws  errors::InvalidArgumentError for one behind the file's end
  void seek(i64 position);

 private:
  std::string place() const;
  [[noreturn]] void damaged(const std::string& what) const;
  u64 read_length();
  void check_limit(u64 length, std::size_t bytes);

  detail::Input input_;
  TFRecordOptions options_;
  i64 start_ = 0, read_ = 0;  // read_ records since position start_
  bool ended_ = false;        // after an error that hides where the next record begins
};

struct TFRecordFileOptions {
  std::string index = "";   ///< the file that keeps the offsets; default: the path with ".index" after it
  bool write_index = true;  ///< false: the index is only used if there is one
  bool check_crc = true;    ///< of the bytes; that of the length is always checked
};
/// The records of a TFRecord file that is not compressed, in any order. Their offsets are found once, by reading the
/// lengths of all records, and kept in a second file beside the first. It is made again if the first has another size
/// or modification time; where it cannot be written, the offsets are only kept in memory (8 bytes a record).
class TANDEM_API TFRecordFile {
 public:
  ///   throws  as TFRecordReader, of which it has the errors for damaged lengths and a truncated file
  explicit TFRecordFile(const std::string& path, TFRecordFileOptions = {});
  TFRecordFile(TFRecordFile&&) noexcept;
  TFRecordFile& operator=(TFRecordFile&&) noexcept;
  ~TFRecordFile();

  /// The number of records.
  i64 size() const;
  /// Reads a record. Threads may call it at the same time.
  ///   throws  errors::InvalidArgumentError for an index out of range; errors::DataLossError, naming file, record and
  ///           byte offset, if it is damaged
  std::string at(i64 index) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::io
