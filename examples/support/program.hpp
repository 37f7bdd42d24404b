// What the example programs share: the options --device, --data, --steps and --seed, and how a program ends.
#pragma once
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>

#include "examples/support/arguments.hpp"

namespace program {

struct Options {
  std::string data = {};  // empty: generated data
  std::int64_t steps = 1000;
  std::int64_t seed = 1;
  std::string device = "CPU:0";
};

/// Adds --device, where the program's tensors are made (on_device.hpp).
inline void add_device(CLI::App& app, std::string& device) {
  app.add_option("--device", device, "where to compute: CPU:0 or GPU:0")->capture_default_str();
}

/// The four options; `data` says what the file has.
inline void add_options(CLI::App& app, Options& o, const std::string& data) {
  CLI::Option* const option = app.add_option("--data", o.data, data);
  if (!o.data.empty()) option->capture_default_str();
  arguments::add(app, "--steps", o.steps, 1, "how many steps to train");
  arguments::add(app, "--seed", o.seed, 0, "of everything random");
  add_device(app, o.device);
}

/// Returns the loss that a program reports. throws std::runtime_error if it is not finite: the weights are of no use
inline double checked_loss(double loss) {
  if (std::isfinite(loss)) return loss;
  throw std::runtime_error("training diverged: the loss is not a finite number");
}

namespace detail {
// Breaks the lines of CLI11's help at 80 characters. What follows begins below the option's description.
inline std::string wrapped(const std::string& help) {
  constexpr std::size_t most = 80, column = 30;  // CLI11 begins descriptions at this column
  std::string result;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.starts_with("  ") ? column : 0;
    while (line.size() > most) {
      std::size_t at = line.rfind(' ', most);
      if (at == line.npos || at <= indent) at = line.find(' ', most);  // a word that is longer
      if (at == line.npos) break;
      result += line.substr(0, at) + "\n";
      line = std::string(indent, ' ') + line.substr(at + 1);
    }
    result += line + "\n";
  }
  return result;
}
// Not by fmt::print, which throws if stderr cannot be written.
inline int fail(int status, const char* name, const std::string& what) {
  std::fputs(fmt::format("{}: {}\n", name, what).c_str(), stderr);
  return status;
}
inline int wrong_arguments(const char* name, const std::string& what) {
  return fail(2, name, what + " (--help lists the options)");
}
}  // namespace detail

/// Reads the arguments and runs the program. Errors take one line, after what was printed before them. Every line of
/// the output is written as soon as it is complete, to a file or a pipe too.
///   run      returns the exit status: 0, or 130 after Ctrl-C
///   returns  what run does; 2 for wrong arguments, 1 if run throws or its output could not be written
template <class Run>
int run(const char* name, CLI::App& app, int argc, char** argv, const Run& run) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(detail::wrapped(app.help()).c_str(), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const CLI::ExtrasError& e) {  // its own message has several in reverse order
    const auto extras = app.remaining(true);
    return detail::wrong_arguments(
        name, extras.size() > 1 ? fmt::format("The following arguments were not expected: {}", fmt::join(extras, " "))
                                : e.what());
  } catch (const CLI::ParseError& e) {
    return detail::wrong_arguments(name, e.what());
  }
  try {
    const int status = run();
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return status;
  } catch (const std::exception& e) {
    std::fflush(stdout);
    if (!std::ferror(stdout)) return detail::fail(1, name, e.what());
  }
  return detail::fail(1, name, "the output could not be written");
}

}  // namespace program
