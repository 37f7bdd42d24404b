// A small parser of SVG and HTML for tests, which refuses what XML 1.0 forbids: tags that do not match, attributes
// without quotes or given twice, unknown entities, characters that a document may not have. In HTML also a doctype and
// elements without an end.
#pragma once
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace testing {

struct Element {
  std::string name, text;  // text: directly inside, entities replaced
  std::map<std::string, std::string> attributes;
  std::vector<Element> children;

  std::string get(const std::string& attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? "" : found->second;
  }
  double number(const std::string& attribute) const { return std::strtod(get(attribute).c_str(), nullptr); }
  /// All elements below with this name, and this class if one is given.
  std::vector<const Element*> all(const std::string& with_name, const std::string& with_class = {}) const {
    std::vector<const Element*> found;
    collect(with_name, with_class, found);
    return found;
  }
  const Element& first(const std::string& with_name, const std::string& with_class = {}) const {
    const auto found = all(with_name, with_class);
    if (found.empty()) throw std::runtime_error("no element " + with_name + " " + with_class);
    return *found[0];
  }
  /// The text elements' words.
  std::vector<std::string> words(const std::string& with_name = "text") const {
    std::vector<std::string> r;
    for (const Element* e : all(with_name)) r.push_back(e->text);
    return r;
  }

 private:
  void collect(const std::string& n, const std::string& c, std::vector<const Element*>& found) const {
    for (const Element& e : children) {
      const std::string classes = " " + e.get("class") + " ";
      if (e.name == n && (c.empty() || classes.find(" " + c + " ") != classes.npos)) found.push_back(&e);
      e.collect(n, c, found);
    }
  }
};

class MarkupParser {
 public:
  MarkupParser(std::string_view text, bool html) : text_(text), html_(html) {
    for (const char c : text)
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') fail("a control character");
  }
  Element parse() {
    if (html_ && !take("<!DOCTYPE html>")) fail("no doctype");
    skip_blanks();
    Element root = element();
    skip_blanks();
    if (at_ != text_.size()) fail("text behind the root");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("at byte " + std::to_string(at_) + ": " + what);
  }
  bool take(std::string_view s) {
    if (!text_.substr(at_).starts_with(s)) return false;
    at_ += s.size();
    return true;
  }
  void expect(std::string_view s) {
    if (!take(s)) fail("no " + std::string(s));
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  std::string name() {
    const std::size_t end =
        text_.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", at_);
    if (end == at_ || end == text_.npos) fail("no name");
    const std::string r(text_.substr(at_, end - at_));
    at_ = end;
    return r;
  }
  // Text up to a character that ends it.
  std::string characters(char end) {
    std::string r;
    while (at_ < text_.size() && text_[at_] != end) {
      if (text_[at_] == '<') fail("a < in text");
      if (text_[at_] != '&') {
        r += text_[at_++];
        continue;
      }
      bool known = false;
      for (const auto& [entity, c] : {std::pair("&amp;", '&'), std::pair("&lt;", '<'), std::pair("&gt;", '>'),
                                      std::pair("&quot;", '"'), std::pair("&#39;", '\'')})
        if (!known && take(entity)) r += c, known = true;
      if (!known) fail("an unknown entity");
    }
    return r;
  }
  Element element() {
    Element e;
    expect("<");
    e.name = name();
    for (skip_blanks(); !take(">"); skip_blanks()) {
      if (take("/>")) return e;
      const std::string attribute = name();
      expect("=\"");
      if (!e.attributes.emplace(attribute, characters('"')).second) fail("attribute " + attribute + " twice");
      expect("\"");
    }
    if (html_ && (e.name == "meta" || e.name == "img")) return e;
    if (e.name == "style") {
      const std::size_t end = text_.find('<', at_);
      e.text = text_.substr(at_, end - at_);
      at_ = end;
    }
    for (;;) {
      e.text += characters('<');
      if (take("</")) break;
      e.children.push_back(element());
    }
    if (name() != e.name) fail("</" + e.name + "> is missing");
    expect(">");
    return e;
  }

  std::string_view text_;
  bool html_;
  std::size_t at_ = 0;
};

/// The root element; throws std::runtime_error, with the place, for text that is not well-formed.
inline Element parse_svg(const std::string& text) { return MarkupParser(text, false).parse(); }
inline Element parse_html(const std::string& text) { return MarkupParser(text, true).parse(); }

/// All numbers of an attribute such as a path's: "M1 2.5L3 4" gives 1, 2.5, 3, 4.
inline std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> r;
  for (const char* at = text.c_str(); *at;) {
    char* end = nullptr;
    const double x = std::strtod(at, &end);
    if (end == at) ++at;
    else r.push_back(x), at = end;
  }
  return r;
}

}  // namespace testing
