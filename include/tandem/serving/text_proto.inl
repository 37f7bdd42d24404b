// Definitions of serving/text_proto.hpp.
#pragma once
#include <algorithm>
#include <cctype>

#include "tandem/base/error.hpp"
#include "tandem/serving/text_proto.hpp"

namespace TANDEM_NS::serving::impl {

class TextProtoReader {
 public:
  TextProtoReader(std::string_view text, const std::string& path) : left_(text), path_(path) {}

  std::vector<TextField> fields(char end, int depth) {
    constexpr int most_depth = 32;
    if (depth > most_depth) fail("messages are nested more than " + std::to_string(most_depth) + " deep");
    std::vector<TextField> r;
    for (skip(); left_.empty() ? end != '\0' : end == '\0' || left_[0] != end; skip()) {
      if (left_.empty()) fail(std::string("a '") + end + "' is missing");
      field(r, depth);
    }
    if (end) left_.remove_prefix(1);
    return r;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    errors::raise<errors::InvalidArgumentError>("serving", path_ + ":" + std::to_string(line_) + ": " + what);
  }
  void skip() {
    for (; !left_.empty(); left_.remove_prefix(1)) {
      if (left_[0] == '#') left_.remove_prefix(std::min(left_.find('\n'), left_.size()));
      if (left_.empty()) return;
      if (left_[0] == '\n') ++line_;
      else if (left_[0] != ' ' && left_[0] != '\t' && left_[0] != '\r' && left_[0] != ',' && left_[0] != ';') return;
    }
  }
  bool is_quote() {
    skip();
    return !left_.empty() && (left_[0] == '"' || left_[0] == '\'');
  }
  bool take(char c) {
    skip();
    if (left_.empty() || left_[0] != c) return false;
    left_.remove_prefix(1);
    return true;
  }
  // A name, a number or a word.
  std::string word() {
    skip();
    std::size_t n = 0;
    while (n < left_.size() && (std::isalnum(static_cast<unsigned char>(left_[n])) ||
                                std::string_view("_.+-").find(left_[n]) != std::string_view::npos))
      ++n;
    if (n == 0) fail(left_.empty() ? "it ends too early" : std::string("'") + left_[0] + "' is not expected here");
    const std::string r(left_.substr(0, n));
    left_.remove_prefix(n);
    return r;
  }
  // What follows a backslash: n, t, r, a character for itself, three octal digits, or x and two hexadecimal ones.
  char escape() {
    const auto digits = [&](std::size_t most, int base) {
      int x = 0;
      std::size_t n = 0;
      for (; n < most && n < left_.size(); ++n) {
        const char c = left_[n];
        const int digit = c >= '0' && c <= '9'                 ? c - '0'
                          : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                               : 99;
        if (digit >= base) break;
        x = x * base + digit;
      }
      if (n == 0 || x > 255) fail("an escape in a text is not valid");
      left_.remove_prefix(n);
      return static_cast<char>(x);
    };
    if (left_.empty()) fail("a text does not end");
    const char c = left_[0];
    if (c >= '0' && c <= '7') return digits(3, 8);
    left_.remove_prefix(1);
    switch (c) {
      case 'x': return digits(2, 16);
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case '\\':
      case '\'':
      case '"':
      case '?': return c;
      default: fail(std::string("there is no escape \\") + c);
    }
  }
  std::string quoted(char quote) {
    std::string r;
    while (true) {
      if (left_.empty() || left_[0] == '\n') fail("a text does not end in its line");
      char c = left_[0];
      left_.remove_prefix(1);
      if (c == quote) return r;
      r += c == '\\' ? escape() : c;
    }
  }
  TextField value(const std::string& name, int depth) {
    TextField f{name, {}, false, {}, line_};
    if (take('{') || take('<')) {
      f.is_message = true;
      f.fields = fields(last_open(), depth + 1);
    } else if (is_quote()) {
      while (is_quote()) {  // adjacent texts are one
        const char quote = left_[0];
        left_.remove_prefix(1);
        f.value += quoted(quote);
      }
    } else {
      f.value = word();
    }
    return f;
  }
  // What closes the message that has just been opened.
  char last_open() const { return *(left_.data() - 1) == '{' ? '}' : '>'; }
  void field(std::vector<TextField>& to, int depth) {
    const std::string name = word();
    const bool colon = take(':');
    if (take('[')) {
      while (!take(']')) to.push_back(value(name, depth));
      return;
    }
    to.push_back(value(name, depth));
    if (!colon && !to.back().is_message) fail("a ':' is missing behind " + name);
  }

  std::string_view left_;
  const std::string& path_;
  int line_ = 1;
};

TANDEM_INLINE std::vector<TextField> parse_text_proto(std::string_view text, const std::string& path) {
  return TextProtoReader(text, path).fields('\0', 0);
}

}  // namespace TANDEM_NS::serving::impl
