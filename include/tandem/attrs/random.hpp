// The attributes of the random ops, shared by the ops and their kernels.
#pragma once
#include <string>

#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS::rules {

struct RandomAttrs {
  Shape shape;  ///< of the result, unless there is a `like` input
  DType dtype;
  Device device;  ///< of the result, unless there is a `like` input
  double a, b;    ///< normal: mean, stddev; floating uniform: the interval
  i64 low, high;  ///< integer uniform: the interval
  TANDEM_ATTRS(RandomAttrs, shape, dtype, device, a, b, low, high);
};
struct DropoutAttrs {
  double rate;
  TANDEM_ATTRS(DropoutAttrs, rate);
};
struct CategoricalAttrs {
  i64 num_samples;
  double temperature;  ///< 0: always the most likely class
  DType dtype;
  bool squeeze;  ///< one sample per row; the sample axis is removed
  TANDEM_ATTRS(CategoricalAttrs, num_samples, temperature, dtype, squeeze);
};
/// Of the distributions with parameters. A parameter that is a scalar serves all numbers.
struct DistributionAttrs {
  DType dtype;                ///< of the result
  Shape shape;                ///< of the result, if the parameters are scalars; otherwise it has their shape
  std::string op, parameter;  ///< the names in error texts: of the function, and of the first parameter
  bool log;                   ///< the logarithms of the numbers (gamma)
  TANDEM_ATTRS(DistributionAttrs, dtype, shape, op, parameter, log);
};
struct CandidateAttrs {
  i64 num_sampled, range_max;
  bool unique;
  TANDEM_ATTRS(CandidateAttrs, num_sampled, range_max, unique);
};
struct ShuffleAttrs {
  bool inverse;
  TANDEM_ATTRS(ShuffleAttrs, inverse);
};

}  // namespace TANDEM_NS::rules
