// The attributes of the random ops, shared by the ops and their kernels.
#pragma once
#include "tandem/base/attrs.hpp"

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
struct DistributionAttrs {
  DType dtype;  ///< of the result
  static constexpr auto fields = field_list(field("dtype", &DistributionAttrs::dtype));
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
