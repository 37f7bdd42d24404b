// Definitions of data/ragged.hpp.
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/data/ragged.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/repeat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS::data {

namespace impl {

[[noreturn]] inline void raise_ragged(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("Ragged", what);
}
inline Tensor checked_list(const char* what, const Tensor& x) {
  if ((x.dtype() != DType::int32 && x.dtype() != DType::int64) || x.rank() != 1)
    raise_ragged(std::string(what) + " must be a list of int32 or int64, not " + to_string(x.spec()));
  return cast(x, DType::int64);
}
inline Tensor splits_of(const Tensor& lengths) { return concat({zeros({1}, DType::int64), cumsum(lengths)}, 0); }
inline void check_splits(const Tensor& values, const Tensor& splits) {
  if (values.rank() == 0) raise_ragged("values must have rows, not " + to_string(values.spec()));
  if (values.is_symbolic() || splits.is_symbolic()) return;
  const std::vector<i64> s = splits.to_vector<i64>();
  if (s.empty() || s.front() != 0) raise_ragged("row_splits must begin with 0");
  for (std::size_t i = 1; i < s.size(); ++i)
    if (s[i] < s[i - 1])
      raise_ragged("row_splits descend from " + std::to_string(s[i - 1]) + " to " + std::to_string(s[i]) + " at " +
                   std::to_string(i));
  if (s.back() != values.shape().dim(0))
    raise_ragged("row_splits end at " + std::to_string(s.back()) + ", the values are " + to_string(values.spec()));
}
inline void check_lengths(const Tensor& lengths, i64 most) {
  if (lengths.is_symbolic()) return;
  const std::vector<i64> all = lengths.to_vector<i64>();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] < 0 || all[i] > most)
      raise_ragged("length " + std::to_string(all[i]) + " of row " + std::to_string(i) + " is not in [0, " +
                   std::to_string(most) + "]");
}
// bool_ [rows, columns]: true where a row has a value.
inline Tensor is_there(const Tensor& lengths, const Tensor& columns) {
  return expand_dims(columns, 0) < expand_dims(lengths, 1);
}

}  // namespace impl

TANDEM_INLINE Ragged Ragged::from_row_splits(const Tensor& values, const Tensor& splits) {
  Ragged r{values, impl::checked_list("row_splits", splits)};
  impl::check_splits(values, r.row_splits);
  return r;
}
TANDEM_INLINE Ragged Ragged::from_row_lengths(const Tensor& values, const Tensor& lengths) {
  return from_row_splits(values, impl::splits_of(impl::checked_list("row_lengths", lengths)));
}
TANDEM_INLINE Ragged Ragged::from_tensor(const Tensor& padded, const Tensor& row_lengths) {
  const Tensor lengths = impl::checked_list("lengths", row_lengths);
  if (padded.rank() < 2 || !lengths.shape().is_compatible_with(Shape{padded.shape().dim(0)}))
    impl::raise_ragged("lengths " + to_string(lengths.spec()) + " are not those of the rows of " +
                       to_string(padded.spec()));
  const i64 width = padded.shape().dim(1);
  if (width != none) impl::check_lengths(lengths, width);
  const Tensor columns =
      width != none ? tandem::range(i64{0}, width) : tandem::range(shape(padded, {.out_type = DType::int64})[1]);
  return {boolean_mask(padded, impl::is_there(lengths, columns)), impl::splits_of(lengths)};
}

TANDEM_INLINE Tensor Ragged::row_lengths() const { return row_splits(Slice(1, none)) - row_splits(Slice(0, -1)); }
TANDEM_INLINE Tensor Ragged::value_rowids() const {
  const Tensor lengths = row_lengths();
  return repeat(tandem::range(size(lengths, {.out_type = DType::int64})), lengths);
}
TANDEM_INLINE Tensor Ragged::to_tensor(const RaggedToTensorOptions& options) const {
  const Tensor lengths = row_lengths();
  const Tensor columns = options.maxlen ? tandem::range(i64{0}, *options.maxlen)
                                        : tandem::range(reduce_max(concat({zeros({1}, DType::int64), lengths}, 0)));
  // One row more, behind the others: what padding is read from.
  Shape inner = values.shape();
  inner.set(0, 1);
  const Tensor padding =
      options.default_value.is_set() ? fill(inner, options.default_value) : zeros(inner, values.dtype());
  const Tensor at = expand_dims(row_splits(Slice(0, -1)), 1) + expand_dims(columns, 0);
  return gather(concat({values, padding}, 0), where(impl::is_there(lengths, columns), at, row_splits[-1]));
}
TANDEM_INLINE Tensor Ragged::operator[](i64 i) const {
  const i64 n = nrows(), row = i < 0 ? i + n : i;
  if (row < 0 || row >= n)
    impl::raise_ragged("row " + std::to_string(i) + " is out of range for " + std::to_string(n) + " rows");
  return values(Slice(row_splits.at<i64>({row}), row_splits.at<i64>({row + 1})));
}

TANDEM_INLINE Ragged detail::ragged_rows(const char* op, Span<const Tensor* const> rows) {
  if (rows.empty()) errors::raise<errors::InvalidArgumentError>(op, "there are no elements to make a batch of");
  Shape inner;  // with axis 0, or without it of scalars
  const Tensor splits = Tensor::allocate({Shape{static_cast<i64>(rows.size()) + 1}, DType::int64, {}});
  i64* const ends = static_cast<i64*>(splits.raw());
  ends[0] = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Tensor& row = *rows[i];
    tandem::detail::check_value(op, row);
    Shape shape = row.shape();
    ends[i + 1] = ends[i] + (shape.rank() > 0 ? shape.dim(0) : 1);
    if (shape.rank() > 0) shape.set(0, 0);
    if (i == 0) inner = shape;
    if (!(shape == inner) || row.dtype() != rows[0]->dtype() || row.device().kind != Device::cpu)
      errors::raise<errors::InvalidArgumentError>(
          op, "elements 0 and " + std::to_string(i) + " of a batch differ: " + to_string(rows[0]->spec()) + " and " +
                  to_string(row.spec()) + "; only axis 0 may, of tensors on the CPU");
  }
  if (inner.rank() == 0) inner.push_back(0);
  inner.set(0, ends[rows.size()]);
  const Tensor values = Tensor::allocate({inner, rows[0]->dtype(), {}});
  char* to = static_cast<char*>(values.raw());
  for (const Tensor* row : rows) {
    const std::size_t bytes = row->known_spec().bytes();
    if (values.dtype() == DType::string)
      std::copy_n(static_cast<const Bytes*>(row->raw()), row->shape().size(), reinterpret_cast<Bytes*>(to));
    else if (bytes > 0) std::memcpy(to, row->raw(), bytes);
    to += bytes;
  }
  return {values, splits};
}

}  // namespace TANDEM_NS::data
