// Definitions of train/history.hpp.
#pragma once
#include <algorithm>
#include <charconv>
#include <limits>

#include "tandem/base/error.hpp"
#include "tandem/train/history.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::train {

namespace impl {
[[noreturn]] TANDEM_INLINE void raise_no_value(std::string_view name, const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& n : names) list += (list.empty() ? "" : ", ") + n;
  errors::raise<errors::NotFoundError>(
      "train", "there is no value '" + std::string(name) + "'; there are: " + (list.empty() ? "none" : list));
}
}  // namespace impl

TANDEM_INLINE const Values::Named* Values::find(std::string_view name) const {
  for (const Named& v : values_)
    if (v.first == name) return &v;
  return nullptr;
}
TANDEM_INLINE double Values::operator[](std::string_view name) const {
  if (const Named* v = find(name)) return v->second;
  std::vector<std::string> names;
  for (const Named& v : values_) names.push_back(v.first);
  impl::raise_no_value(name, names);
}
TANDEM_INLINE void Values::set(const std::string& name, double value) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  if (name.empty() || std::any_of(name.begin(), name.end(), is_control))
    errors::raise<errors::InvalidArgumentError>(
        "train", "the name of a value must have characters, and no control characters: '" + name + "'");
  for (Named& v : values_)
    if (v.first == name) {
      v.second = value;
      return;
    }
  values_.emplace_back(name, value);
}
TANDEM_INLINE std::string Values::text() const {
  std::string r;
  for (const auto& [name, value] : values_) {
    r += (r.empty() ? "" : ", ") + name + " " + tandem::detail::rounded_text(value, 4);
  }
  return r;
}

TANDEM_INLINE std::vector<std::string> History::names() const {
  std::vector<std::string> r;
  for (const Values& values : epochs_)
    for (const auto& [name, value] : values)
      if (std::find(r.begin(), r.end(), name) == r.end()) r.push_back(name);
  return r;
}
TANDEM_INLINE std::vector<double> History::operator[](std::string_view name) const {
  std::vector<double> r;
  bool found = false;
  for (const Values& values : epochs_) {
    const bool here = values.contains(name);
    found |= here;
    r.push_back(here ? values[name] : std::numeric_limits<double>::quiet_NaN());
  }
  if (!found) impl::raise_no_value(name, names());
  return r;
}
TANDEM_INLINE std::string History::to_text() const {
  std::string r;
  for (const Values& values : epochs_) {
    std::string line;
    for (const auto& [name, value] : values)
      line += (line.empty() ? "" : "\t") + name + " " + tandem::detail::shortest_text(value);
    r += line + "\n";
  }
  return r;
}
TANDEM_INLINE History History::parse(const std::string& text) {
  const auto damaged = [&] {
    errors::raise<errors::DataLossError>("History::parse", "this is not a history: " + text);
  };
  History r;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == text.npos) damaged();
    Values values;
    while (at < end) {
      const std::size_t stop = std::min(text.find('\t', at), end);
      const std::size_t space = text.rfind(' ', stop);
      double value = 0;
      if (space == text.npos || space < at) damaged();
      const auto [p, error] = std::from_chars(text.data() + space + 1, text.data() + stop, value);
      if (error != std::errc() || p != text.data() + stop) damaged();
      values.set(text.substr(at, space - at), value);
      at = stop < end ? stop + 1 : end;
    }
    r.add(std::move(values));
    at = end + 1;
  }
  return r;
}

}  // namespace TANDEM_NS::train
