// Tar archives, file by file, and the samples that WebDataset keeps in them. Part of the component tandem::io.
#pragma once
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/io/input.hpp"

namespace TANDEM_NS::io {

struct TarOptions {
  Compression compression = Compression::automatic;
  i64 max_file_bytes = std::numeric_limits<i64>::max();  ///< a larger file of the archive raises, and is passed over
};
/// A file of an archive.
struct TarEntry {
  std::string name, data;
  bool operator==(const TarEntry&) const = default;
};
/// Reads the regular files of a tar archive one after the other: ustar, with the names and sizes of pax and GNU tar.
/// Folders, links and devices are passed over. Memory is bounded by the largest file.
class TANDEM_API TarReader {
 public:
  ///   throws  errors::NotFoundError if there is no regular file of that name; errors::InvalidArgumentError for a
  ///           negative limit; errors::UnimplementedError for compressed data if the library was built without zlib
  explicit TarReader(const std::string& path, TarOptions = {});

  /// Reads the next file; false at the archive's end.
  ///   throws  errors::DataLossError, naming archive, file and byte offset, for a header whose checksum does not match
  ///           and for an archive that ends early (also between two files, without its end mark), after which the next
  ///           call returns false; errors::ResourceExhaustedError for a file above max_file_bytes, which is passed
  ///           over: entry.name is its name; errors::UnavailableError if the system cannot read the archive, or it
  ///           became shorter
  bool next(TarEntry& entry);
  /// Where the next file's headers begin, for seek().
  i64 position() const { return static_cast<i64>(input_.position()); }
  /// Goes on at a position of this or another reader of the archive.
  ///   throws  errors::InvalidArgumentError for one behind the archive's end
  void seek(i64 position);

 private:
  struct Header;
  [[noreturn]] void damaged(const std::string& what) const;
  bool read_header(Header& header);
  void read_extension(Header& header);
  void read_data(const Header& header, std::string& to);
  void skip(u64 bytes);

  detail::Input input_;
  u64 limit_;
  std::string name_;    // of the file that is read, for errors
  u64 header_at_ = 0;   // its headers' offset
  bool ended_ = false;  // at the end mark, or after an error that hides where the next file begins
};

/// A sample: the files of an archive whose names are equal up to the first dot behind the last slash.
struct WebDatasetSample {
  std::string key;                                         ///< that part of the name: "train/0001"
  std::vector<std::pair<std::string, std::string>> files;  ///< the rest in lower case, and the content: {"jpg", ...}

  /// The content of the file with this extension.
  ///   throws  errors::NotFoundError, with the extensions that there are
  TANDEM_API const std::string& operator[](std::string_view extension) const;
  bool operator==(const WebDatasetSample&) const = default;
};
/// Reads the samples of a WebDataset shard: adjacent files with the same key. Files without an extension are passed
/// over, whatever their size.
///   source  https://github.com/webdataset/webdataset, the format's description
class TANDEM_API WebDatasetReader {
 public:
  explicit WebDatasetReader(const std::string& path, TarOptions = {});

  /// Reads the next sample; false at the archive's end.
  ///   throws  errors::DataLossError if a sample has two files with one extension; otherwise as TarReader::next. A
  ///           sample with an error is lost, all its files are passed over
  bool next(WebDatasetSample& sample);
  /// Where the next sample begins, for seek().
  i64 position() const { return pending_ ? pending_->at : tar_.position(); }
  void seek(i64 position);

 private:
  // A file of a sample, or the error of one; without a key, of what cannot be known.
  struct File {
    std::string key = {}, extension = {}, data = {};
    i64 at = 0;
    std::exception_ptr error = {};
  };
  bool read(File& file);

  TarReader tar_;
  std::string path_;
  std::optional<File> pending_;  // the first file of the next sample
};

}  // namespace TANDEM_NS::io
