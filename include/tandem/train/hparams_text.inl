// Definitions of train/hparams_text.hpp, and the texts of values.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/train/hparams_text.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/parse_number.hpp"

namespace TANDEM_NS::train {

namespace impl {
TANDEM_INLINE void refuse_hparam(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("HParams", what);
}
inline bool read_text(std::string_view text, bool& to) {
  to = text == "true" || text == "1";
  return to || text == "false" || text == "0";
}
inline bool read_text(std::string_view text, i64& to) { return tandem::detail::parse_number(text, to); }
inline bool read_text(std::string_view text, double& to) { return tandem::detail::parse_number(text, to); }
inline bool read_text(std::string_view text, std::string& to) {
  to = text;
  return true;
}
template <class T>
bool read_text(std::string_view text, std::vector<T>& to) {
  text = detail::trimmed(text);
  if (text.size() > 1 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  for (const std::string_view part : detail::hparam_list(text))
    if (!read_text(detail::unquoted(part), to.emplace_back())) return false;
  return true;
}

inline std::string text_of(bool x) { return x ? "true" : "false"; }
inline std::string text_of(i64 x) { return std::to_string(x); }
inline std::string text_of(double x) { return tandem::detail::shortest_text(x); }
inline std::string text_of(const std::string& x) {
  const bool plain = !x.empty() && x.find_first_of(",[]\"\\") == x.npos && detail::trimmed(x).size() == x.size();
  if (plain) return x;
  std::string r = "\"";
  for (const char c : x) {
    if (c == '"' || c == '\\') r += '\\';
    r += c;
  }
  return r + '"';
}
template <class T>
std::string text_of(const std::vector<T>& list) {
  std::string r;
  for (const T& x : list) r += (r.empty() ? "[" : ",") + text_of(x);
  return list.empty() ? "[]" : r + "]";
}
}  // namespace impl

namespace detail {

TANDEM_INLINE std::string_view trimmed(std::string_view text) {
  const char* const spaces = " \t\r\n\v\f";
  const std::size_t from = text.find_first_not_of(spaces);
  return from == text.npos ? std::string_view() : text.substr(from, text.find_last_not_of(spaces) + 1 - from);
}
TANDEM_INLINE std::vector<std::string_view> hparam_list(std::string_view text) {
  std::vector<std::string_view> r;
  if (trimmed(text).empty()) return r;
  std::size_t from = 0;
  int open = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    else if (c == '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c == '[') ++open;
    else if (c == ']') --open;
    else if (c == ',' && open == 0) r.push_back(trimmed(text.substr(from, i - from))), from = i + 1;
    if (open < 0) break;
  }
  if (quoted || open != 0)
    train::impl::refuse_hparam("quotes or brackets are not closed in " + tandem::detail::escaped_text(text));
  r.push_back(trimmed(text.substr(from)));
  return r;
}
TANDEM_INLINE std::string unquoted(std::string_view text) {
  if (!text.starts_with('"')) return std::string(text);
  std::string r;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (i + 1 < text.size())
        train::impl::refuse_hparam("something follows the quotes of " + tandem::detail::escaped_text(text));
      return r;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    r += text[i];
  }
  train::impl::refuse_hparam("the quotes are not closed in " + tandem::detail::escaped_text(text));
}
TANDEM_INLINE bool parse_hparam(std::string_view text, HParamValue& to) {
  return std::visit(
      [&]<class T>(const T&) {
        T x{};
        const bool fits = train::impl::read_text(text, x);
        if (fits) to = HParamValue(std::move(x));
        return fits;
      },
      to.value);
}

}  // namespace detail

TANDEM_INLINE std::string to_string(const HParamValue& value) {
  return std::visit([](const auto& x) { return impl::text_of(x); }, value.value);
}
TANDEM_INLINE std::string to_string(const HParams& parameters) {
  std::string r;
  for (const HParam& p : parameters.parameters()) r += (r.empty() ? "" : ",") + p.name + "=" + to_string(p.value);
  return r;
}

}  // namespace TANDEM_NS::train
