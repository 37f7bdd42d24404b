// split: rows divided at random, into those for training and those held out. Part of the component tandem::data.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::data {

struct SplitOptions {
  i64 seed = 0;         ///< selects the order
  bool shuffle = true;  ///< otherwise the parts are consecutive rows
};

namespace detail {
/// Where the parts of n rows begin, and the end of the last.
TANDEM_API std::vector<i64> split_bounds(i64 n, Span<const double> fractions);
/// Writes the row numbers of each part, int64, to `parts`.
TANDEM_API void split_rows(i64 n, Span<const double> fractions, SplitOptions options, Span<Tensor> parts);
/// The number of rows of all of these tensors.
TANDEM_API i64 common_rows(const char* op, Span<const Tensor> tensors);
TANDEM_API Tensor rows_of(const Tensor& x, const Tensor& rows);
}  // namespace detail

/// Divides rows at random: auto [train, test] = data::split({x, y}, {0.8, 0.2}); auto [x_train, y_train] = train;
///   n          a number of rows, a tensor, or several with the same number of rows
///   fractions  of the rows for each part, above 0, their sum at most 1. Parts do not overlap; the boundaries are
///              rounded to rows, so that parts of all rows leave none out
///   returns    an array of parts; for a number n each is int64, the numbers of its rows; for a tensor its rows; for
///              several tensors an array of these
///   throws     errors::InvalidArgumentError for other fractions, scalars, and different numbers of rows
template <std::size_t P>
std::array<Tensor, P> split(i64 n, const double (&fractions)[P], SplitOptions options = {}) {
  std::array<Tensor, P> parts;
  detail::split_rows(n, fractions, options, parts);
  return parts;
}
template <std::size_t N, std::size_t P>
std::array<std::array<Tensor, N>, P> split(const Tensor (&tensors)[N], const double (&fractions)[P],
                                           SplitOptions options = {}) {
  const auto rows = split(detail::common_rows("split", tensors), fractions, options);
  std::array<std::array<Tensor, N>, P> parts;
  for (std::size_t p = 0; p < P; ++p)
    for (std::size_t i = 0; i < N; ++i) parts[p][i] = detail::rows_of(tensors[i], rows[p]);
  return parts;
}
template <std::size_t P>
std::array<Tensor, P> split(const Tensor& x, const double (&fractions)[P], SplitOptions options = {}) {
  auto parts = split(detail::common_rows("split", {&x, 1}), fractions, options);
  for (Tensor& part : parts) part = detail::rows_of(x, part);
  return parts;
}

}  // namespace TANDEM_NS::data
