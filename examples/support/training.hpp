// What the programs that train by train::Trainer share: their options, the folder of their run, and how it ends.
#pragma once
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include <tandem/train.hpp>

#include "examples/support/arguments.hpp"
#include "examples/support/on_device.hpp"

namespace training {

struct Options {
  std::string data = {};  // empty: generated data
  std::string run;        // the folder
  std::int64_t epochs, batch;
  std::int64_t steps_per_epoch = 0;  // 0: all data
  std::int64_t seed = 1;
  std::string device = "CPU:0";
};

/// Adds --data, --run, --epochs, --steps-per-epoch, --batch, --seed and --device.
///   data   what --data takes; empty for a program without it
///   items  what a batch has: "digits"
inline void add_options(CLI::App& app, Options& o, const std::string& data, const std::string& items) {
  if (!data.empty()) {
    CLI::Option* const source = app.add_option("--data", o.data, data);
    if (!o.data.empty()) source->capture_default_str();
  }
  app.add_option("--run", o.run, "the folder of the run, from which the same command goes on")->capture_default_str();
  arguments::add(app, "--epochs", o.epochs, 1, "how often to go through the data");
  CLI::Option* const steps = app.add_option("--steps-per-epoch", o.steps_per_epoch,
                                            "how long an epoch is, wherever it ends in the data; default: all of them");
  steps->check(arguments::whole_number(1));
  if (o.steps_per_epoch) steps->capture_default_str();
  arguments::add(app, "--batch", o.batch, 1, items + " a step");
  arguments::add(app, "--seed", o.seed, 0, "of everything random");
  program::add_device(app, o.device);
}

/// A number as a setting: the shortest digits that stand for it.
inline std::string setting(double x) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, x).ptr};
}

/// Progress on stdout: a line that is rewritten if that is a terminal.
inline tandem::train::ProgressOptions progress() {
  using tandem::train::ProgressMode;
  const bool terminal = ::isatty(1) && !std::getenv("CI");
  return {.mode = terminal ? ProgressMode::terminal : ProgressMode::lines, .output = &std::cout};
}

/// What fit() gets: `fit` and what the options say. A loss that is not finite ends the training.
///   settings  what must agree for a run to go on, besides batch, seed and steps per epoch; of data as data_setting()
///             has them, the hash alone
inline tandem::train::FitOptions fit_options(const Options& o, tandem::train::Metadata settings,
                                             tandem::train::FitOptions fit = {}) {
  std::string& data = settings["data"];
  data = data.substr(data.rfind('#') + 1);
  settings["batch"] = std::to_string(o.batch), settings["seed"] = std::to_string(o.seed);
  settings["steps_per_epoch"] = o.steps_per_epoch ? std::to_string(o.steps_per_epoch) : "all";
  fit.epochs = o.epochs, fit.steps_per_epoch = o.steps_per_epoch;
  fit.directory = o.run, fit.configuration = std::move(settings);
  fit.callbacks.push_back(tandem::train::TerminateOnNaN());
  fit.progress = progress();
  return fit;
}

/// Says that a run was interrupted; returns the exit status for it.
inline int interrupted(const tandem::train::History& history, const std::string& run) {
  fmt::print("interrupted; the same command goes on from {}\n", run);
  return history.exit_status;
}

}  // namespace training
