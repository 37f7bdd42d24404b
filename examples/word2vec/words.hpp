// The corpus as words, read in blocks: memory does not grow with the text.
#pragma once
#include <compare>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

/// A position in the corpus.
struct Place {
  std::int64_t file = 0, byte = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// Reads words from the files of a corpus in order. A word is a run of letters, converted to lower case. Non-ASCII
/// bytes count as letters, so words in UTF-8 are not split.
class WordReader {
 public:
  /// throws std::runtime_error if there is no such file, folder, or file in the folder
  explicit WordReader(const std::string& path, Place from = {});
  /// The next word, valid until the next call; empty at the end of the last file.
  ///   throws  std::runtime_error if a file cannot be read or is binary
  std::string_view next();
  /// The position after the last word that next() returned.
  Place place() const { return {file_, start_ + static_cast<std::int64_t>(at_)}; }
  /// The number of ends of lines and files before the last word that next() returned.
  std::int64_t line() const { return line_; }
  /// The bytes of all files; the bytes before a position; and the position after a number of bytes.
  std::int64_t bytes() const { return bytes_before({static_cast<std::int64_t>(files_.size()), 0}); }
  std::int64_t bytes_before(Place place) const;
  Place place_at(std::int64_t bytes) const;

 private:
  std::int64_t size_of(std::int64_t file) const;
  bool fill();  // appends bytes to those not consumed yet; false at the end of the file
  void open(Place from);

  std::vector<std::filesystem::path> files_;
  std::ifstream in_;
  std::int64_t file_ = 0;   // index of the current file
  std::int64_t start_ = 0;  // offset of the buffer in that file
  std::string buffer_, word_;
  std::size_t at_ = 0;  // within the buffer
  std::int64_t line_ = 0;
};
