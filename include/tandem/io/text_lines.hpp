// Text files, line by line. Part of the component tandem::io. Not here: whole files (data/file.hpp), fields
// (data/csv.hpp).
#pragma once
#include <limits>
#include <string>
#include <string_view>

#include "tandem/io/input.hpp"

namespace TANDEM_NS::io {

struct TextLineOptions {
  Compression compression = Compression::automatic;
  i64 max_line_bytes = std::numeric_limits<i64>::max();  ///< a longer line raises instead of filling the memory
};
/// Reads the lines of a text file one after the other, without their ends: LF or CR LF. The last line need not have
/// one. A byte order mark at the file's beginning is skipped. Memory is bounded by the longest line.
///
///   io::TextLineReader reader("words.txt");
///   for (std::string line; reader.next(line);) use(line);
class TANDEM_API TextLineReader {
 public:
  ///   throws  errors::NotFoundError if there is no regular file of that name; errors::InvalidArgumentError for a
  ///           negative limit; errors::UnimplementedError for compressed data if the library was built without zlib
  explicit TextLineReader(const std::string& path, TextLineOptions = {});

  /// Reads the next line; false at the end of the file.
  ///   throws  errors::ResourceExhaustedError for a line above max_line_bytes, naming file, line and byte offset: the
  ///           next call reads the line after it; errors::DataLossError if compressed data are damaged or end early,
  ///           and errors::UnavailableError if the system cannot read the file, or it became shorter: the next call
  ///           returns false
  bool next(std::string& line);
  /// The same without a copy: the view is valid until the reader is used again.
  bool next(std::string_view& line);
  /// Where the next line begins, for seek().
  i64 position() const { return static_cast<i64>(input_.position()); }
  /// Goes on at a position of this or another reader of the file: at once, or in a compressed file by inflating what
  /// lies before.
  ///   throws  errors::InvalidArgumentError for one behind the file's end
  void seek(i64 position);
  /// "path: line 3 at byte 40", where lines are counted from 1: the line that was read last.
  std::string place() const;

 private:
  bool extend(std::size_t& end);
  [[noreturn]] void skip_long_line();

  detail::Input input_;
  u64 limit_;
  i64 start_ = 0, read_ = 0, line_at_ = 0;  // read_ lines since position start_; the last one began at line_at_
  bool ended_ = false;                      // after an error that hides where the next line begins
};

}  // namespace TANDEM_NS::io
