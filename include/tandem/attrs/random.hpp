// The attributes of the random ops, shared by the ops and their kernels.
#pragma once
#include <string>

#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS {

struct RandomAttrs {
  Shape shape;  ///< of the result, unless there is a `like` input
  DType dtype;
  Device device;  ///< of the result, unless there is a `like` input
  double a, b;    ///< normal: mean, stddev; floating uniform: the interval
  i64 low, high;  ///< integer uniform: the interval
  static constexpr auto fields =
      field_list(field("shape", &RandomAttrs::shape), field("dtype", &RandomAttrs::dtype),
                 field("device", &RandomAttrs::device), field("a", &RandomAttrs::a), field("b", &RandomAttrs::b),
                 field("low", &RandomAttrs::low), field("high", &RandomAttrs::high));
};
struct DropoutAttrs {
  double rate;
  static constexpr auto fields = field_list(field("rate", &DropoutAttrs::rate));
};
struct CategoricalAttrs {
  i64 num_samples;
  double temperature;  ///< 0: always the most likely class
  DType dtype;
  bool squeeze;  ///< one sample per row; the sample axis is removed
  static constexpr auto fields = field_list(
      field("num_samples", &CategoricalAttrs::num_samples), field("temperature", &CategoricalAttrs::temperature),
      field("dtype", &CategoricalAttrs::dtype), field("squeeze", &CategoricalAttrs::squeeze));
};
/// Of the distributions with parameters. A parameter that is a scalar serves all numbers.
struct DistributionAttrs {
  DType dtype;                ///< of the result
  Shape shape;                ///< of the result, if the parameters are scalars; otherwise it has their shape
  std::string op, parameter;  ///< the names in error texts: of the function, and of the first parameter
  bool log;                   ///< the logarithms of the numbers (gamma)
  static constexpr auto fields =
      field_list(field("dtype", &DistributionAttrs::dtype), field("shape", &DistributionAttrs::shape),
                 field("op", &DistributionAttrs::op), field("parameter", &DistributionAttrs::parameter),
                 field("log", &DistributionAttrs::log));
};
struct CandidateAttrs {
  i64 num_sampled, range_max;
  bool unique;
  static constexpr auto fields =
      field_list(field("num_sampled", &CandidateAttrs::num_sampled), field("range_max", &CandidateAttrs::range_max),
                 field("unique", &CandidateAttrs::unique));
};
struct ShuffleAttrs {
  bool inverse;
  static constexpr auto fields = field_list(field("inverse", &ShuffleAttrs::inverse));
};

}  // namespace TANDEM_NS
