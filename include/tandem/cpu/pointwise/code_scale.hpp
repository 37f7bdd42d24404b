// The numbers that quantized codes stand for, on the CPU and in CUDA device code.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "tandem/attrs/quantize.hpp"
#include "tandem/base/error.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// The value of a code is offset + code * step.
struct CodeScale {
  double step, offset, low, high;

  /// The code of a number; to_even: a half is rounded to the even code, otherwise away from 0.
  TANDEM_HD double code_of(double x, bool to_even) const {
    const double code = step > 0 ? (x - offset) / step : 0;
    const double inside = code >= low ? (code <= high ? code : high) : low;
    return to_even ? ::rint(inside) : ::round(inside);
  }
};
/// That of a call's range, inputs 1 and 2, which are in host memory.
template <class T>
CodeScale code_scale(const KernelCall& c, const rules::QuantizeAttrs& a) {
  const auto low = static_cast<double>(a.low), high = static_cast<double>(a.high);
  const auto first = static_cast<double>(*c.in[1].as<const T>()), last = static_cast<double>(*c.in[2].as<const T>());
  if (!(first <= last))
    errors::raise<errors::InvalidArgumentError>(
        c.op, "min_range " + std::to_string(first) + " is above max_range " + std::to_string(last));
  if (!a.scaled) return {(last - first) / (high - low), first - low * ((last - first) / (high - low)), low, high};
  return {std::max(low < 0 ? first / low : 0.0, last / high), 0, low, high};
}

}  // namespace TANDEM_NS::cpu
