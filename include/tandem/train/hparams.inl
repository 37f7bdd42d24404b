// Definitions of train/hparams.hpp. Not here: values as text (hparams_text.inl).
#pragma once
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tandem/base/error.hpp"
#include "tandem/io/file.hpp"
#include "tandem/train/hparams.hpp"
#include "tandem/train/hparams_text.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::train {

namespace impl {

TANDEM_INLINE const char* kind_of(const HParamValue& v) {
  return std::visit([]<class T>(const T&) { return detail::hparam_kind<T>; }, v.value);
}
TANDEM_INLINE std::vector<HParam> checked_parameters(std::vector<HParam> parameters) {
  constexpr const char* allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string& name = parameters[i].name;
    if (name.empty() || name.find_first_not_of(allowed) != name.npos)
      refuse_hparam(tandem::detail::escaped_text(name) + " is not a name: use letters, digits, '_', '-', '.' and '/'");
    if (name == "help" || name == "hparams")
      refuse_hparam("a parameter cannot be called '" + name + "', which is an argument of its own");
    for (std::size_t k = 0; k < i; ++k)
      if (parameters[k].name == name) refuse_hparam("'" + name + "' is there twice");
  }
  return parameters;
}
TANDEM_INLINE std::string names_of(const std::vector<HParam>& parameters) {
  std::string list;
  for (const HParam& p : parameters) list += (list.empty() ? "" : ", ") + p.name;
  return list.empty() ? "there are none" : "there are: " + list;
}

// A value of JSON, if it is of the type of `like`.
template <class T>
bool read_json(const nlohmann::json& json, T& to) {
  if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) return false;
  } else if constexpr (std::same_as<T, i64>) {
    const bool too_large = json.is_number_unsigned() && json.get<u64>() > u64(std::numeric_limits<i64>::max());
    if (!json.is_number_integer() || too_large) return false;
  } else if constexpr (std::same_as<T, double>) {
    if (!json.is_number()) return false;
  } else if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) return false;
  } else {
    if (!json.is_array()) return false;
    to.clear();
    for (const nlohmann::json& element : json)
      if (!read_json(element, to.emplace_back())) return false;
    return true;
  }
  to = json.get<T>();
  return true;
}
TANDEM_INLINE bool is_finite(const HParamValue& v) {
  if (const double* const x = std::get_if<double>(&v.value)) return std::isfinite(*x);
  const auto* const list = std::get_if<std::vector<double>>(&v.value);
  return !list || std::all_of(list->begin(), list->end(), [](double x) { return std::isfinite(x); });
}
// A value of a JSON file for errors; of what is deep, only what it is, since writing it could take all of the stack.
TANDEM_INLINE std::string shown(const nlohmann::json& j) {
  const auto is_flat = [](const nlohmann::json& x) { return x.is_primitive(); };
  if (!is_flat(j) && !(j.is_array() && std::all_of(j.begin(), j.end(), is_flat)))
    return std::string("an ") + j.type_name();
  return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace impl

TANDEM_INLINE HParams::HParams(std::initializer_list<HParam> parameters) : HParams(std::vector<HParam>(parameters)) {}
TANDEM_INLINE HParams::HParams(std::vector<HParam> parameters)
    : parameters_(impl::checked_parameters(std::move(parameters))) {}

TANDEM_INLINE const HParamValue& HParams::value_of(std::string_view name) const {
  for (const HParam& p : parameters_)
    if (p.name == name) return p.value;
  errors::raise<errors::NotFoundError>(
      "HParams", "there is no parameter " + tandem::detail::escaped_text(name) + "; " + impl::names_of(parameters_));
}
TANDEM_INLINE void HParams::raise_type(std::string_view name, const char* wanted) const {
  impl::refuse_hparam(std::string(name) + " is " + impl::kind_of(value_of(name)) + ", and cannot be read as " + wanted);
}
TANDEM_INLINE double HParams::number(std::string_view name) const {
  const HParamValue& v = value_of(name);
  if (const double* const x = std::get_if<double>(&v.value)) return *x;
  if (const i64* const x = std::get_if<i64>(&v.value)) return static_cast<double>(*x);
  raise_type(name, detail::hparam_kind<double>);
}
TANDEM_INLINE i64 HParams::whole_number(std::string_view name, i64 least, i64 most) const {
  const i64* const x = std::get_if<i64>(&value_of(name).value);
  if (!x) raise_type(name, detail::hparam_kind<i64>);
  if (*x < least || *x > most)
    impl::refuse_hparam(std::string(name) + " is " + std::to_string(*x) + ", which must be from " +
                        std::to_string(least) + " to " + std::to_string(most) + " here");
  return *x;
}
TANDEM_INLINE HParam& HParams::find(std::string_view name) {
  for (HParam& p : parameters_)
    if (p.name == name) return p;
  impl::refuse_hparam("there is no parameter " + tandem::detail::escaped_text(name) + "; " +
                      impl::names_of(parameters_));
}

TANDEM_INLINE HParams& HParams::set(std::string_view name, HParamValue value) {
  HParam& p = find(name);
  if (const i64* const whole = std::get_if<i64>(&value.value); whole && std::holds_alternative<double>(p.value.value))
    value = static_cast<double>(*whole);
  if (value.value.index() != p.value.value.index())
    impl::refuse_hparam(p.name + " is " + impl::kind_of(p.value) + ", and cannot be " + to_string(value));
  p.value = std::move(value);
  return *this;
}
TANDEM_INLINE HParams& HParams::set_text(std::string_view name, std::string_view text) {
  HParam& p = find(name);
  if (!detail::parse_hparam(text, p.value))
    impl::refuse_hparam(p.name + " is " + impl::kind_of(p.value) + ", not " + tandem::detail::escaped_text(text));
  return *this;
}
TANDEM_INLINE HParams& HParams::parse(std::string_view text) {
  HParams next = *this;
  std::vector<std::string_view> names;
  for (const std::string_view part : detail::hparam_list(text)) {
    const std::size_t at = part.find('=');
    if (at == part.npos) impl::refuse_hparam(tandem::detail::escaped_text(part) + " is not of the form name=value");
    const std::string_view name = detail::trimmed(part.substr(0, at)), value = detail::trimmed(part.substr(at + 1));
    for (const std::string_view other : names)
      if (other == name) impl::refuse_hparam(std::string(name) + " is set twice");
    names.push_back(name);
    next.set_text(name, detail::unquoted(value));
  }
  return *this = std::move(next);
}
TANDEM_INLINE HParams& HParams::load(const std::string& path) {
  nlohmann::json all = nlohmann::json::parse(io::read_file(path), nullptr, false);
  if (!all.is_object())
    errors::raise<errors::DataLossError>("HParams", path + " is not a JSON file of one object, names with values");
  HParams next = *this;
  for (const auto& [name, json] : all.items()) {
    HParam& p = next.find(name);
    const bool fits = std::visit([&j = json](auto& to) { return impl::read_json(j, to); }, p.value.value);
    if (!fits)
      impl::refuse_hparam(p.name + " is " + impl::kind_of(p.value) + ", not " + impl::shown(json) + " (in " + path +
                          ")");
  }
  return *this = std::move(next);
}
TANDEM_INLINE void HParams::save(const std::string& path) const {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const HParam& p : parameters_) {
    if (!tandem::detail::is_utf8(to_string(p.value)))
      impl::refuse_hparam(p.name + " is " + tandem::detail::escaped_text(to_string(p.value)) +
                          ", which is not UTF-8, as JSON requires");
    if (!impl::is_finite(p.value))
      impl::refuse_hparam(p.name + " is " + to_string(p.value) + ", which JSON does not have");
    std::visit([&](const auto& x) { all[p.name] = x; }, p.value.value);
  }
  io::write_file(path, all.dump(2) + "\n");
}
TANDEM_INLINE bool HParams::parse_arguments(int argc, const char* const* argv) {
  const std::vector<std::string_view> arguments(argv + (argc > 0), argv + argc);
  for (const std::string_view a : arguments)
    if (a == "--help" || a == "-h") return false;
  HParams next = *this;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view a = arguments[i];
    if (!a.starts_with("--"))
      impl::refuse_hparam(tandem::detail::escaped_text(a) + " is not an argument of the form --name=value");
    const std::size_t at = a.find('=');
    const std::string name(a.substr(2, at == a.npos ? at : at - 2));
    const bool is_file = name == "hparams";
    std::string value;
    if (at != a.npos) {
      value = a.substr(at + 1);
    } else if (!is_file && std::holds_alternative<bool>(next.find(name).value.value)) {
      value = "true";
    } else if (++i < arguments.size()) {
      value = arguments[i];
    } else {
      impl::refuse_hparam("a value must follow --" + name);
    }
    is_file ? next.load(value) : next.set_text(name, value);
  }
  *this = std::move(next);
  return true;
}
TANDEM_INLINE std::string HParams::help() const {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const HParam& p : parameters_) lines.emplace_back("--" + p.name + "=" + to_string(p.value), p.description);
  lines.emplace_back("--hparams=FILE", "read values from a JSON file");
  lines.emplace_back("--help", "print this list");
  std::size_t width = 0;
  for (const auto& [argument, description] : lines) width = std::max(width, argument.size());
  std::string r;
  for (const auto& [argument, description] : lines) {
    r += "  " + argument;
    if (!description.empty()) r += std::string(width - argument.size() + 2, ' ') + description;
    r += "\n";
  }
  return r;
}
TANDEM_INLINE Metadata HParams::configuration() const {
  Metadata r;
  for (const HParam& p : parameters_) {
    const std::string* const text = std::get_if<std::string>(&p.value.value);
    r[p.name] = text ? *text : to_string(p.value);
  }
  return r;
}

}  // namespace TANDEM_NS::train
