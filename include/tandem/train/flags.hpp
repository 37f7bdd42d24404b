// Flags: the arguments of a program's command line, named values with types and defaults.
#pragma once
#include <concepts>
#include <optional>

#include "tandem/train/hparams.hpp"

namespace TANDEM_NS::app {

/// The flags of a program: what the hyper-parameters of a training are, whose arguments they are read from, too. Each
/// has a type and a default, so a flag that is not given is never an error.
using Flags = train::HParams;

namespace detail {
/// Sets flags. Returns the status with which the program ends now, having printed why; none if it is to run.
TANDEM_API std::optional<int> parse(Flags& flags, int argc, const char* const* argv);
}  // namespace detail

/// Sets flags to main()'s arguments, as Flags::parse_arguments, and runs the program.
///
///   int main(int argc, char** argv) {
///     app::Flags flags{{"lr", 0.01, "learning rate"}, {"units", 32, "of the hidden layer"}};
///     return app::run(flags, argc, argv, [&] { return train(flags.get<double>("lr")); });
///   }
///
///   program  returns the exit status
///   returns  this status; 0 for --help, which prints all flags with their defaults; 2 for arguments that are not flags
///            or have values of another type, having printed the error, which names the flags, to stderr
///   throws   what the program throws
template <std::invocable F>
int run(Flags& flags, int argc, const char* const* argv, const F& program) {
  const std::optional<int> ends = detail::parse(flags, argc, argv);
  return ends ? *ends : static_cast<int>(program());
}

}  // namespace TANDEM_NS::app
