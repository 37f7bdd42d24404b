// Options that are numbers, and their validators with readable messages. (Those of CLI11 print the range of a double.)
#pragma once
#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace arguments {

namespace detail {
template <class T>
bool parse(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}
}  // namespace detail

/// An integer >= `least`.
inline CLI::Validator whole_number(std::int64_t least) {
  return CLI::Validator(
      [least](std::string& text) {
        std::int64_t value = 0;
        if (detail::parse(text, value) && value >= least) return std::string();
        return fmt::format("'{}' is not a whole number of at least {}", text, least);
      },
      "");
}

/// Adds an option that takes an integer >= `least`, whose default the help shows.
template <class T>
CLI::Option* add(CLI::App& app, const std::string& name, T& value, std::int64_t least, const std::string& what) {
  return app.add_option(name, value, what)->check(whole_number(least))->capture_default_str();
}

/// A finite number greater than 0.
inline CLI::Validator positive_number() {
  return CLI::Validator(
      [](std::string& text) {
        double value = 0;
        if (detail::parse(text, value) && std::isfinite(value) && value > 0) return std::string();
        return fmt::format("'{}' is not a number greater than 0", text);
      },
      "");
}

/// A number in [least, bound).
inline CLI::Validator number_in(double least, double bound) {
  return CLI::Validator(
      [least, bound](std::string& text) {
        double value = 0;
        if (detail::parse(text, value) && value >= least && value < bound) return std::string();
        return fmt::format("'{}' is not a number in [{:g}, {:g})", text, least, bound);
      },
      "");
}

}  // namespace arguments
