// Definitions of data/split.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/data/permutation.hpp"
#include "tandem/data/split.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::data::detail {

TANDEM_INLINE std::vector<i64> split_bounds(i64 n, Span<const double> fractions) {
  constexpr double rounding = 1e-9;
  std::vector<i64> bounds{0};
  double sum = 0;
  for (const double f : fractions) {
    sum += f;
    if (!(f > 0) || sum > 1 + rounding)
      errors::raise<errors::InvalidArgumentError>(
          "split", "fractions must be above 0 and have a sum of at most 1; " + tandem::detail::shortest_text(f) +
                       " is " + (f > 0 ? "too much: the sum is " + tandem::detail::shortest_text(sum) : "not"));
    bounds.push_back(std::min(n, static_cast<i64>(std::llround(sum * static_cast<double>(n)))));
  }
  return bounds;
}
TANDEM_INLINE void split_rows(i64 n, Span<const double> fractions, SplitOptions options, Span<Tensor> parts) {
  const tandem::detail::OutsideTrace outside;
  constexpr i64 own_stream = -1;  // not the order of an epoch
  const Permutation order(n, options.seed, own_stream);
  const std::vector<i64> bounds = split_bounds(n, fractions);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const i64 begin = bounds[p], end = bounds[p + 1];
    parts[p] = Tensor::allocate({Shape{end - begin}, DType::int64, {}});
    i64* const rows = static_cast<i64*>(parts[p].raw());
    for (i64 i = begin; i < end; ++i) rows[i - begin] = options.shuffle ? order(i) : i;
  }
}
TANDEM_INLINE Tensor rows_of(const Tensor& x, const Tensor& rows) { return gather(x, rows); }

}  // namespace TANDEM_NS::data::detail
