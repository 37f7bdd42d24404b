// Hyperparameters of a run, for TensorBoard's table of runs. Part of the component tandem::summary.
#pragma once
#include <concepts>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tandem/base/dtype.hpp"
#include "tandem/train/hparams.hpp"

namespace TANDEM_NS::summary {

/// A number, a text, or true or false.
struct HParamValue {
  std::variant<double, std::string, bool> value;

  HParamValue(bool x) : value(x) {}
  HParamValue(std::string x) : value(std::move(x)) {}
  HParamValue(const char* x) : value(std::string(x)) {}
  template <class T>
    requires((std::integral<T> && !std::same_as<T, bool>) || std::floating_point<T>)
  HParamValue(T x) : value(static_cast<double>(x)) {}
  bool operator==(const HParamValue&) const = default;
};
/// The hyperparameters of a run, by name.
using HParams = std::map<std::string, HParamValue>;

/// Those of a program; lists as texts: "[64,32]".
TANDEM_API HParams to_hparams(const train::HParams& parameters);

/// A hyperparameter of an experiment, and what it may be. All values are of one kind.
struct HParam {
  std::string name;
  std::vector<HParamValue> values = {};  ///< those that it may have; none: any
  std::string description = "";
};
/// A metric that the table has a column for.
struct HParamMetric {
  std::string tag;                ///< of the scalars
  std::string display_name = "";  ///< default: the tag
  std::string group = "";         ///< the folder of these scalars below that of the run: "validation"
};

struct HParamsOptions {
  std::string trial = "";    ///< runs of one trial, which share their hyperparameters, are one row; default: the run's
  double start_seconds = 0;  ///< since 1970; 0: now
};
/// How a run has ended.
enum class Status : std::uint8_t { success = 1, failure = 2 };

}  // namespace TANDEM_NS::summary
