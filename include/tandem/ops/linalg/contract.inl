// Definitions of ops/linalg/contract.hpp.
#pragma once
#include "tandem/ops/linalg/contract.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::detail {

TANDEM_INLINE bool has_label(const Labels& labels, int label) {
  for (const int l : labels)
    if (l == label) return true;
  return false;
}
TANDEM_INLINE int place_of(const Labels& labels, int label) {
  int i = 0;
  while (labels[static_cast<std::size_t>(i)] != label) ++i;
  return i;
}

TANDEM_INLINE Labelled sum_labels(const Labelled& x, const Labels& keep) {
  Axes axes = Axes::none();
  Labelled r;
  for (std::size_t i = 0; i < x.labels.size(); ++i)
    if (has_label(keep, x.labels[i])) r.labels.push_back(x.labels[i]);
    else axes.push_back(static_cast<i64>(i));
  r.tensor = axes.size() == 0 ? x.tensor : reduce_sum(x.tensor, {.axis = axes});
  return r;
}

TANDEM_INLINE Tensor in_order(const Labelled& x, const Labels& order) {
  Axes perm = Axes::none();
  bool same = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    perm.push_back(place_of(x.labels, order[i]));
    same = same && x.labels[i] == order[i];
  }
  return same ? x.tensor : transpose(x.tensor, {.perm = perm});
}

// The roles of the labels of two operands. `inner` is in the order of a, or of b where that saves a transposition.
struct Roles {
  Labels batch, rows, columns, inner;
};
TANDEM_INLINE Roles roles_of(const Labels& a, const Labels& b, const Labels& keep) {
  Roles r;
  for (const int l : a) {
    if (!has_label(b, l)) r.rows.push_back(l);
    else if (has_label(keep, l) || l >= first_broadcast_label) r.batch.push_back(l);
    else r.inner.push_back(l);
  }
  for (const int l : b)
    if (!has_label(a, l)) r.columns.push_back(l);
  return r;
}
TANDEM_INLINE Labels joined(std::initializer_list<const Labels*> lists) {
  Labels r;
  for (const Labels* list : lists)
    for (const int l : *list) r.push_back(l);
  return r;
}
TANDEM_INLINE bool equal_labels(const Labels& a, const Labels& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

// One operand of a matrix product: its two groups of axes, as one matrix axis each behind the batch axes.
struct MatrixOperand {
  Tensor tensor;
  bool transposed = false;
};
TANDEM_INLINE bool lies_so(const Labels& have, const Roles& r, const Labels& outer, const Labels& inner) {
  return equal_labels(have, joined({&r.batch, &outer, &inner})) ||
         equal_labels(have, joined({&r.batch, &inner, &outer}));
}
// The product of some sizes: a number, or a tensor where one is unknown.
TANDEM_INLINE DimValue size_product(const std::vector<DimValue>& sizes, std::size_t first, std::size_t count) {
  DimValue r{.number = 1};
  for (std::size_t i = first; i < first + count; ++i)
    if (r.is_known() && sizes[i].is_known()) r.number *= sizes[i].number;
    else r.tensor = r.value() * sizes[i].value();
  return r;
}
TANDEM_INLINE MatrixOperand matrix_of(const Labelled& x, const Roles& r, const Labels& outer, const Labels& inner,
                                      bool inner_first) {
  const Labels *first = inner_first ? &inner : &outer, *second = inner_first ? &outer : &inner;
  MatrixOperand m;
  if (!equal_labels(x.labels, joined({&r.batch, first, second})) &&
      equal_labels(x.labels, joined({&r.batch, second, first}))) {
    std::swap(first, second);
    m.transposed = true;
  }
  m.tensor = in_order(x, joined({&r.batch, first, second}));
  if (first->size() == 1 && second->size() == 1) return m;
  const std::vector<DimValue> sizes = get_shape(m.tensor);
  Dims dims;
  for (std::size_t i = 0; i < r.batch.size(); ++i) dims.push_back(sizes[i]);
  dims.push_back(size_product(sizes, r.batch.size(), first->size()));
  dims.push_back(size_product(sizes, r.batch.size() + first->size(), second->size()));
  m.tensor = reshape(m.tensor, dims);
  return m;
}

// Nothing is summed: both with the axes of the result, of size 1 where one lacks it.
TANDEM_INLINE Labelled multiply_labelled(const Labelled& a, const Labelled& b, const Roles& r) {
  const Labels all = joined({&a.labels, &r.columns});
  Labels order;
  for (const int l : all)
    if (has_label(b.labels, l)) order.push_back(l);
  Tensor x = a.tensor, y = in_order(b, order);
  for (std::size_t i = 0; i < r.columns.size(); ++i) x = expand_dims(x, -1);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!has_label(b.labels, all[i])) y = expand_dims(y, static_cast<i64>(i));
  return {x * y, all};
}

// The sizes of the result's axes behind the batch: those of a's rows, then b's columns.
TANDEM_INLINE void push_sizes(Dims& dims, const Labelled& x, const Labels& labels) {
  const std::vector<DimValue> sizes = get_shape(x.tensor);
  for (const int l : labels) dims.push_back(sizes[static_cast<std::size_t>(place_of(x.labels, l))]);
}

inline constexpr i64 short_dot = 16;  // elements
// Whether elements are multiplied, then summed: batches of dot products that are too short for matrix products, or that
// would have too many axes as matrices. reduce_sum has no half precision.
TANDEM_INLINE bool better_multiplied(const Labelled& a, const Roles& r) {
  if (r.rows.size() || r.columns.size() || dtypes::half_floating.has(a.tensor.dtype())) return false;
  i64 length = 1;
  for (const int l : r.inner) {
    const i64 n = a.tensor.spec().shape.dim(place_of(a.labels, l));
    length = n == none || length > short_dot ? short_dot + 1 : length * n;
  }
  return r.batch.size() + 2 > max_rank || (r.batch.size() && length <= short_dot);
}

TANDEM_INLINE Labelled contract(const Labelled& a, const Labelled& b, const Labels& keep) {
  Roles r = roles_of(a.labels, b.labels, keep);
  if (r.inner.size() == 0) return multiply_labelled(a, b, r);
  if (better_multiplied(a, r)) return sum_labels(multiply_labelled(a, b, r), keep);
  Labels of_b;
  for (const int l : b.labels)
    if (has_label(r.inner, l)) of_b.push_back(l);
  // One of them may have to be transposed: rather the one that is smaller, or unknown.
  const bool a_fits = lies_so(a.labels, r, r.rows, r.inner), b_fits = lies_so(b.labels, r, r.columns, of_b);
  const Shape &sa = a.tensor.spec().shape, &sb = b.tensor.spec().shape;
  const bool smaller_a = sa.is_fully_defined() && sb.is_fully_defined() && sa.size() < sb.size();
  if (b_fits && (!a_fits || smaller_a)) r.inner = of_b;
  const MatrixOperand x = matrix_of(a, r, r.rows, r.inner, false), y = matrix_of(b, r, r.columns, r.inner, true);
  Labelled out{matmul(x.tensor, y.tensor, {.transpose_a = x.transposed, .transpose_b = y.transposed}),
               joined({&r.batch, &r.rows, &r.columns})};
  if (r.rows.size() == 1 && r.columns.size() == 1) return out;
  const std::vector<DimValue> sizes = get_shape(out.tensor);
  Dims dims;
  for (std::size_t i = 0; i < r.batch.size(); ++i) dims.push_back(sizes[i]);
  push_sizes(dims, a, r.rows);
  push_sizes(dims, b, r.columns);
  out.tensor = reshape(out.tensor, dims);
  return out;
}

}  // namespace TANDEM_NS::detail
