// Options that are numbers, and their validators with readable messages. (Those of CLI11 print the range of a double.)
#pragma once
#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace arguments {

/// A number for which `accepts` is true; others are "not `what`".
template <class T, class F>
CLI::Validator number(std::string what, F accepts) {
  const auto check = [what = std::move(what), accepts](std::string& text) {
    T value{};
    const char* const end = text.data() + text.size();
    const std::from_chars_result result = std::from_chars(text.data(), end, value);
    if (result.ec == std::errc() && result.ptr == end && accepts(value)) return std::string();
    return fmt::format("'{}' is not {}", text, what);
  };
  return CLI::Validator(check, "");
}
/// An integer >= `least`.
inline CLI::Validator whole_number(std::int64_t least) {
  return number<std::int64_t>(fmt::format("a whole number of at least {}", least),
                              [least](std::int64_t x) { return x >= least; });
}
/// A finite number greater than 0.
inline CLI::Validator positive_number() {
  return number<double>("a number greater than 0", [](double x) { return std::isfinite(x) && x > 0; });
}
/// A number in [least, bound).
inline CLI::Validator number_in(double least, double bound) {
  return number<double>(fmt::format("a number in [{:g}, {:g})", least, bound),
                        [=](double x) { return x >= least && x < bound; });
}

/// Adds an option that takes an integer >= `least`, whose default the help shows.
template <class T>
CLI::Option* add(CLI::App& app, const std::string& name, T& value, std::int64_t least, const std::string& what) {
  return app.add_option(name, value, what)->check(whole_number(least))->capture_default_str();
}

}  // namespace arguments
