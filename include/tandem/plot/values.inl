// Definitions of plot/values.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/transfer.hpp"
#include "tandem/plot/values.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::plot {

TANDEM_INLINE Values::Values(std::vector<double> numbers)
    : numbers_(std::move(numbers)), shape_{static_cast<i64>(numbers_.size())} {}
TANDEM_INLINE Values::Values(std::initializer_list<double> numbers) : Values(std::vector<double>(numbers)) {}
TANDEM_INLINE Values::Values(const Tensor& t) : shape_(t.shape()) {
  const tandem::detail::OutsideTrace outside;
  tandem::detail::check_value("plot", t);
  constexpr DTypes drawn = dtypes::real | dtypes::half_floating | dtypes::boolean;
  if (!drawn.has(t.dtype()))
    errors::raise<errors::InvalidArgumentError>(
        "plot", "cannot draw " + to_string(t.spec()) +
                    (is_complex(t.dtype()) ? ": draw real(x), imag(x) or abs(x)" : ": it has no real numbers"));
  numbers_ = cast(t.cpu(), DType::float64).to_vector<double>();
}

TANDEM_INLINE std::vector<double> smoothed(const Values& y, double weight) {
  if (!(weight >= 0 && weight < 1))
    errors::raise<errors::InvalidArgumentError>(
        "plot::smoothed", "the weight is " + tandem::detail::shortest_text(weight) + ", not in [0, 1)");
  const std::vector<double>& from = y.numbers();
  if (std::all_of(from.begin(), from.end(), [&](double v) { return v == from[0]; })) return from;
  std::vector<double> r;
  r.reserve(from.size());
  double sum = 0, rest = 1;  // rest: w^i
  for (const double v : from) {
    if (!std::isfinite(v)) {
      r.push_back(v);
      continue;
    }
    sum = weight * sum + (1 - weight) * v;
    rest *= weight;
    r.push_back(sum / (1 - rest));
  }
  return r;
}

}  // namespace TANDEM_NS::plot
