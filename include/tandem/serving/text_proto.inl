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

  std::vector<TextField> all() {
    is_json_ = take('{');
    std::vector<TextField> r = fields(is_json_ ? '}' : '\0', 0);
    skip();
    if (!left_.empty()) fail("something follows behind the last '}'");
    return r;
  }
  bool is_json() const { return is_json_; }

 private:
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
  // Takes a null.
  bool is_null() {
    skip();
    if (!left_.starts_with("null")) return false;
    if (const std::string value = word(); value != "null") fail("there is no value " + value);
    return true;
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
  // The number of some digits of an escape.
  int digits(std::size_t least, std::size_t most, int base) {
    int x = 0;
    std::size_t n = 0;
    for (; n < most && n < left_.size(); ++n) {
      const char c = left_[n];
      const int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 99;
      if (digit >= base) break;
      x = x * base + digit;
    }
    if (n < least || (least == 1 && x > 255)) fail("an escape in a text is not valid");
    left_.remove_prefix(n);
    return x;
  }
  // u and four hexadecimal digits, twice beyond 16 bits, as UTF-8.
  std::string unicode() {
    char32_t c = static_cast<char32_t>(digits(4, 4, 16));
    if (c >= 0xd800 && c < 0xdc00 && left_.starts_with("\\u")) {
      left_.remove_prefix(2);
      const char32_t low = static_cast<char32_t>(digits(4, 4, 16));
      if (low < 0xdc00 || low >= 0xe000) fail("an escape in a text is not valid");
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c >= 0xd800 && c < 0xe000) fail("an escape in a text is not valid");
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x80) return {static_cast<char>(c)};
    if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), tail(0)};
    if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
  }
  // What follows a backslash: n, t, r, b, f, a character for itself, three octal digits, x and two hexadecimal ones, or
  // u and four.
  std::string escape() {
    if (left_.empty()) fail("a text does not end");
    const char c = left_[0];
    if (c >= '0' && c <= '7') return {static_cast<char>(digits(1, 3, 8))};
    left_.remove_prefix(1);
    switch (c) {
      case 'x': return {static_cast<char>(digits(1, 2, 16))};
      case 'u': return unicode();
      case 'n': return "\n";
      case 't': return "\t";
      case 'r': return "\r";
      case 'b': return "\b";
      case 'f': return "\f";
      case '\\':
      case '\'':
      case '"':
      case '/':
      case '?': return {c};
      default: fail(std::string("there is no escape \\") + c);
    }
  }
  std::string quoted() {
    const char quote = left_[0];
    left_.remove_prefix(1);
    std::string r;
    while (true) {
      if (left_.empty() || left_[0] == '\n') fail("a text does not end in its line");
      char c = left_[0];
      left_.remove_prefix(1);
      if (c == quote) return r;
      if (c == '\\') r += escape();
      else r += c;
    }
  }
  TextField value(const std::string& name, int depth) {
    TextField f{name, {}, false, {}, line_};
    if (take('{') || take('<')) {
      f.is_message = true;
      f.fields = fields(last_open(), depth + 1);
    } else if (is_quote()) {
      do f.value += quoted();
      while (!is_json_ && is_quote());  // adjacent texts are one
    } else {
      f.value = word();
    }
    return f;
  }
  // What closes the message that has just been opened.
  char last_open() const { return *(left_.data() - 1) == '{' ? '}' : '>'; }
  void field(std::vector<TextField>& to, int depth) {
    const std::string name = is_json_ && is_quote() ? quoted() : word();
    const bool colon = take(':');
    if (is_json_ && colon && is_null()) return;
    if (take('[')) {
      while (!take(']')) to.push_back(value(name, depth));
      return;
    }
    to.push_back(value(name, depth));
    if (!colon && (is_json_ || !to.back().is_message)) fail("a ':' is missing behind " + name);
  }

  std::string_view left_;
  const std::string& path_;
  int line_ = 1;
  bool is_json_ = false;
};

// modelConfigList: model_config_list.
TANDEM_INLINE std::string snake_case(const std::string& name) {
  std::string r;
  for (const char c : name)
    if (c >= 'A' && c <= 'Z') (r += '_') += static_cast<char>(c | 32);
    else r += c;
  return r;
}
// The fields of JSON as those of a text.
TANDEM_INLINE std::vector<TextField> as_text_fields(std::vector<TextField> fields,
                                                    const std::vector<std::string_view>& maps) {
  std::vector<TextField> r;
  for (TextField& f : fields) {
    f.name = snake_case(f.name);
    if (!f.is_message || std::find(maps.begin(), maps.end(), f.name) == maps.end()) {
      f.fields = as_text_fields(std::move(f.fields), maps);
      r.push_back(std::move(f));
      continue;
    }
    for (TextField& entry : f.fields) {
      TextField key{"key", entry.name, false, {}, entry.line};
      const int line = entry.line;
      entry.name = "value";
      r.push_back({f.name, {}, true, {std::move(key), std::move(entry)}, line});
    }
  }
  return r;
}

TANDEM_INLINE std::vector<TextField> parse_text_proto(std::string_view text, const std::string& path,
                                                      const std::vector<std::string_view>& maps) {
  TextProtoReader reader(text, path);
  std::vector<TextField> r = reader.all();
  return reader.is_json() ? as_text_fields(std::move(r), maps) : r;
}

}  // namespace TANDEM_NS::serving::impl
