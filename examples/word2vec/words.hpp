// The corpus as words, read in blocks: memory does not grow with the text.
#pragma once
#include <compare>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

/// A position in the corpus.
struct Place {
  std::int64_t file = 0, byte = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// The files of a corpus. Those that are compressed (gzip) are inflated into memory; the others stay on the disk.
class TextFiles {
 public:
  /// throws std::runtime_error if there is no such file, folder, or file in the folder; as tandem::data::read_file
  explicit TextFiles(const std::string& path);

  std::int64_t count() const { return static_cast<std::int64_t>(files_.size()); }
  const std::string& name(std::int64_t file) const { return files_[static_cast<std::size_t>(file)].name; }
  std::int64_t size(std::int64_t file) const { return files_[static_cast<std::size_t>(file)].size; }
  /// The bytes of a compressed file; null for one that is not.
  const std::string* content(std::int64_t file) const {
    const File& f = files_[static_cast<std::size_t>(file)];
    return f.compressed ? &f.content : nullptr;
  }
  /// The bytes of all files; the bytes before a position; and the position after a number of bytes.
  std::int64_t bytes() const { return bytes_before({count(), 0}); }
  std::int64_t bytes_before(Place place) const;
  Place place_at(std::int64_t bytes) const;
  /// A hash of the bytes of all files.
  std::uint64_t hash() const;

 private:
  struct File {
    std::string name, content;
    std::int64_t size;
    bool compressed;
  };
  std::vector<File> files_;
};

/// Reads words from the files of a corpus in order. A word is a run of letters, converted to lower case. Non-ASCII
/// bytes count as letters, so words in UTF-8 are not split; bytes that are not UTF-8 become U+FFFD.
class WordReader {
 public:
  /// The files must outlive the reader. throws std::runtime_error if a file cannot be read
  explicit WordReader(const TextFiles& files, Place from = {});
  /// The next word, valid until the next call; empty at the end of the last file.
  ///   throws  std::runtime_error if a file cannot be read or is binary
  std::string_view next();
  /// The position after the last word that next() returned.
  Place place() const { return {file_, start_ + static_cast<std::int64_t>(at_)}; }
  /// The number of ends of lines and files before the last word that next() returned.
  std::int64_t line() const { return line_; }

 private:
  bool fill();  // appends bytes to those not consumed yet; false at the end of the file
  void open(Place from);
  std::string_view word();  // the letters read so far, as UTF-8

  const TextFiles& files_;
  std::ifstream in_;
  std::int64_t file_ = 0;   // index of the current file
  std::int64_t start_ = 0;  // offset of the buffer in that file
  std::string buffer_, word_;
  std::size_t at_ = 0;  // within the buffer
  std::int64_t line_ = 0;
};

/// The text with its ASCII letters in lower case, as words are.
std::string lower_case(std::string text);
