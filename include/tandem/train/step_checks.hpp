// What the steps of a model and steps of the user's own check alike. For their definitions.
#pragma once
#include <optional>
#include <string>

#include "tandem/base/error.hpp"
#include "tandem/graph/trace/function_cache.hpp"
#include "tandem/optim/average.hpp"

namespace TANDEM_NS::train::detail::impl {

/// "1 tensor", "2 tensors".
inline std::string count_text(std::size_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}
[[noreturn]] inline void raise_options(const std::string& message) {
  errors::raise<errors::InvalidArgumentError>("Trainer", message);
}
/// The moving averages of the option .ema, if it is not 0.
std::optional<ExponentialMovingAverage> averages_of(double ema);
/// The options of a traced step, with its name.
inline FunctionOptions named(FunctionOptions o, const char* name) {
  if (!o.input_signature.empty())
    raise_options(".function has an input signature, which batches of several sizes could not have");
  o.name = name;
  return o;
}

}  // namespace TANDEM_NS::train::detail::impl
