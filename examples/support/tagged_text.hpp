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
  std::vector<std::vector<std::string>> words, tags;  // of each sentence; as many tags as words
};

/// Adds the words and tags of a line, `length` at most. What follows - or + in a tag is left out: Grand/jj-tl is the
/// word Grand with the tag jj.
///   throws  std::runtime_error for a token of another form
inline void add_line(Sentences& to, const std::string& line, std::int64_t length) {
  std::vector<std::string> words, tags;
  std::istringstream tokens(line);
  for (std::string token; std::ssize(words) < length && tokens >> token;) {
    const std::size_t slash = token.rfind('/');
    if (slash == token.npos || slash == 0 || slash + 1 == token.size())
      throw std::runtime_error("there is a token that is not word/tag");
    const std::string tag = token.substr(slash + 1);
    words.push_back(token.substr(0, slash));
    tags.push_back(tag.substr(0, tag.find_first_of("-+", tag.starts_with("--") ? 2 : 1)));
  }
  if (words.empty()) return;
  to.words.push_back(words), to.tags.push_back(tags);
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
  const auto each = [](const Sentences& s, const auto& use) {
    for (std::size_t i = 0; i < s.words.size(); ++i)
      for (std::size_t t = 0; t < s.words[i].size(); ++t) use(s.words[i][t], s.tags[i][t]);
  };
  each(s.train, [&](const std::string& word, const std::string& tag) { ++counts[word][tag], ++counts[""][tag]; });
  std::int64_t right = 0, all = 0;
  each(s.test, [&](const std::string& word, const std::string& tag) {
    const auto known = counts.find(word);
    const auto& tags = known == counts.end() ? counts[""] : known->second;
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    right += std::max_element(tags.begin(), tags.end(), fewer)->first == tag;
    ++all;
  });
  return static_cast<double>(right) / static_cast<double>(all);
}

}  // namespace tagged
