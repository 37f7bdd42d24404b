// Sentences whose words have tags, read from lines of word/tag word/tag ...; and how far a table of the tags goes.
#pragma once
#include <fmt/core.h>
#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tandem/data.hpp>
#include <vector>

namespace tagged {

struct Sentences {
  std::vector<std::string> words, tags;  // of all sentences, one after another
  std::vector<std::int32_t> lengths;     // the words of each sentence
};

/// Adds the words and tags of a line, `length` at most. What follows - or + in a tag is left out: Grand/jj-tl is the
/// word Grand with the tag jj.
///   throws  std::runtime_error for a token of another form
inline void add_line(Sentences& to, const std::string& line, std::int64_t length) {
  std::istringstream tokens(line);
  std::int32_t count = 0;
  for (std::string token; count < length && tokens >> token; ++count) {
    const std::size_t slash = token.rfind('/');
    if (slash == token.npos || slash == 0 || slash + 1 == token.size())
      throw std::runtime_error("there is a token that is not word/tag");
    const std::string tag = token.substr(slash + 1);
    to.words.push_back(token.substr(0, slash));
    to.tags.push_back(tag.substr(0, tag.find_first_of("-+", tag.starts_with("--") ? 2 : 1)));
  }
  if (count > 0) to.lengths.push_back(count);
}

struct Split {
  Sentences train, test;
};
/// Reads a file, plain or compressed by gzip. Every tenth line is held out, for `test`.
///   throws  std::runtime_error, naming file and line, for another form; as tandem::data::read_lines
inline Split read(const std::string& path, std::int64_t length) {
  Split s;
  std::size_t number = 0;
  for (const std::string& line : tandem::data::read_lines(path)) try {
      add_line(number++ % 10 == 0 ? s.test : s.train, line, length);
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(fmt::format("{}, line {}: {}", path, number, e.what()));
    }
  if (s.train.words.empty() || s.test.words.empty()) throw std::runtime_error(path + " needs eleven lines at least");
  return s;
}

/// The share of right tags in `test` if each word gets the tag that it has most often in `train`, and a word that is
/// not there the commonest tag of all.
inline double commonest_tags(const Split& s) {
  std::map<std::string, std::map<std::string, std::int64_t>> counts;  // by word; of all words at ""
  for (std::size_t i = 0; i < s.train.words.size(); ++i)
    ++counts[s.train.words[i]][s.train.tags[i]], ++counts[""][s.train.tags[i]];
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  std::size_t right = 0;
  for (std::size_t i = 0; i < s.test.words.size(); ++i) {
    const auto known = counts.find(s.test.words[i]);
    const auto& tags = known == counts.end() ? counts[""] : known->second;
    right += std::max_element(tags.begin(), tags.end(), fewer)->first == s.test.tags[i];
  }
  return static_cast<double>(right) / static_cast<double>(s.test.words.size());
}

}  // namespace tagged
