// The corpus as blocks of text, and a text as words: memory does not grow with the corpus.
#pragma once
#include <tandem/data.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The paths of a corpus, a file or a folder of files, whose blocks are read as tandem::data reads them.
class Corpus {
 public:
  ///   lines  no line is divided, otherwise no word
  ///   throws std::runtime_error if there is no such file, folder, or file in the folder; as TextBlockDataset
  Corpus(const std::string& path, bool lines);

  /// Blocks of 4 KB, of which the last ones are held out.
  const tandem::data::TextBlockDataset& blocks() const { return blocks_; }
  /// Calls f(text) with all of the text, in blocks.
  ///   throws  std::runtime_error if a file is binary; errors::ResourceExhaustedError for more than 1 MiB without white
  ///           space, which is no text
  template <class F>
  void each_block(const F& f) const {
    for (const std::string& path : paths_)
      for (const std::string& text : tandem::data::TextBlockDataset(path, {.max_block_bytes = 1 << 20}).epoch(0)) {
        check_text(path, text);
        f(text);
      }
  }
  /// A hash of the bytes of all files.
  std::uint64_t hash() const;

 private:
  static void check_text(const std::string& path, std::string_view text);
  std::vector<std::string> paths_;
  tandem::data::TextBlockDataset blocks_;
};

/// The text with U+FFFD in place of what is not UTF-8, which other programs would refuse.
std::string well_formed(std::string text);

/// Reads the words of a text in order. A word is a run of letters, converted to lower case. Non-ASCII bytes count as
/// letters, so words in UTF-8 are not split.
class WordReader {
 public:
  /// The text must outlive the reader.
  explicit WordReader(std::string_view text) : text_(text) {}
  /// The next word, valid until the next call; empty at the end of the text.
  std::string_view next();
  /// The number of ends of lines before the last word that next() returned.
  std::int64_t line() const { return line_; }

 private:
  std::string_view text_;
  std::string word_;
  std::size_t at_ = 0;
  std::int64_t line_ = 0;
};

/// The text with its ASCII letters in lower case, as words are.
std::string lower_case(std::string text);
