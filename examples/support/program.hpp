// What the example programs of one file share: the options --data, --steps and --seed, and how a program ends.
#pragma once
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "examples/support/arguments.hpp"
#include "examples/support/interrupt.hpp"

namespace program {

struct Options {
  std::string data = {};  // empty: generated data
  std::int64_t steps = 1000;
  std::int64_t seed = 1;
};

/// The three options; `data` says what the file has.
inline void add_options(CLI::App& app, Options& o, const std::string& data) {
  app.add_option("--data", o.data, data);
  app.add_option("--steps", o.steps, "how many steps to train")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--seed", o.seed, "of everything random")->check(arguments::whole_number(0))->capture_default_str();
}

/// Returns the loss that a program reports. throws std::runtime_error if it is not finite: the weights are of no use
inline double checked_loss(double loss) {
  if (std::isfinite(loss)) return loss;
  throw std::runtime_error("training diverged: the loss is not a finite number");
}

/// Reads the arguments and runs the program. Errors take one line.
///   run      returns the exit status: 0, or 130 after Ctrl-C
///   returns  what run does; 2 for wrong arguments, 1 if run throws
template <class Run>
int run(const char* name, CLI::App& app, int argc, char** argv, const Run& run) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help
    std::fprintf(stderr, "%s: %s (--help lists the options)\n", name, e.what());
    return 2;
  }
  interrupt::watch();
  try {
    return run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", name, e.what());
    return 1;
  }
}

}  // namespace program
