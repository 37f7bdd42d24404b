// The fields of comma-separated values (RFC 4180), one after the other. For definitions: decode_csv of strings/csv.hpp
// reads records with it, data/csv.hpp files. Not here: the number of fields, missing ones, their values.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "tandem/config.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace TANDEM_NS::detail {

struct CsvField {
  enum End { field, record, text };      // what comes after it: a field of the same record, a record or nothing
  std::string_view raw;                  // without the quotes around it
  bool quoted = false, doubled = false;  // doubled: each quote in it stands there twice
  End end = text;
  const char* fault = nullptr;  // what is wrong; then the rest is not valid
};

/// Replaces every two quotes of a quoted field by one, in place; returns the new length.
inline std::size_t undouble_quotes(char* s, std::size_t n) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < n; ++from) {
    s[to++] = s[from];
    if (s[from] == '"') ++from;
  }
  return to;
}

class CsvScanner {
 public:
  ///   quotes  fields may be quoted; otherwise a quote is a character like others
  CsvScanner(std::string_view text, char delimiter, bool quotes) : text_(text), delimiter_(delimiter), quotes_(quotes) {
#if defined(__SSE2__)
    ends_[0] = _mm_set1_epi8(delimiter), ends_[1] = _mm_set1_epi8('\n'), ends_[2] = _mm_set1_epi8('\r');
    ends_[3] = _mm_set1_epi8(quotes ? '"' : '\n');
#endif
  }

  /// How much of the text has been read.
  std::size_t position() const { return at_; }
  /// Reads the next field and what separates it from the one after it. An empty text has one field.
  CsvField next() {
    CsvField f;
    if (quotes_ && at_ < text_.size() && text_[at_] == '"') read_quoted(f);
    else read_plain(f);
    if (!f.fault) f.end = separator();
    return f;
  }

 private:
  void read_plain(CsvField& f) {
    const std::size_t begin = at_, n = text_.size();
    const char* const s = text_.data();
    const char quote = quotes_ ? '"' : '\n';
    skip_plain();
    while (at_ < n && s[at_] != delimiter_ && s[at_] != '\n' && s[at_] != '\r' && s[at_] != quote) ++at_;
    if (quotes_ && at_ < n && s[at_] == '"') f.fault = "an unquoted field has a quote";
    f.raw = text_.substr(begin, at_ - begin);
  }
  // Passes over what no field ends with, sixteen bytes a step, up to the last of the text.
  void skip_plain() {
#if defined(__SSE2__)
    for (; text_.size() - at_ >= 16; at_ += 16) {
      const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text_.data() + at_));
      const __m128i a = _mm_or_si128(_mm_cmpeq_epi8(x, ends_[0]), _mm_cmpeq_epi8(x, ends_[1]));
      const __m128i b = _mm_or_si128(_mm_cmpeq_epi8(x, ends_[2]), _mm_cmpeq_epi8(x, ends_[3]));
      const int found = _mm_movemask_epi8(_mm_or_si128(a, b));
      if (found == 0) continue;
      at_ += static_cast<std::size_t>(__builtin_ctz(static_cast<unsigned>(found)));
      return;
    }
#endif
  }
  void read_quoted(CsvField& f) {
    f.quoted = true;
    const std::size_t begin = ++at_;
    for (;; at_ += 2, f.doubled = true) {
      at_ = std::min(text_.find('"', at_), text_.size());
      if (at_ == text_.size()) {
        f.fault = "a quoted field has no end";
        return;
      }
      if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') break;
    }
    f.raw = text_.substr(begin, at_ - begin);
    ++at_;
    if (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n' && text_[at_] != '\r')
      f.fault = "a quote inside of a quoted field must be doubled";
  }
  CsvField::End separator() {
    if (at_ == text_.size()) return CsvField::text;
    const char c = text_[at_++];
    if (c == delimiter_) return CsvField::field;
    if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
    return CsvField::record;
  }

  std::string_view text_;
  char delimiter_;
  bool quotes_;
  std::size_t at_ = 0;
#if defined(__SSE2__)
  __m128i ends_[4];  // what a field that is not quoted ends with, or must not have
#endif
};

}  // namespace TANDEM_NS::detail
