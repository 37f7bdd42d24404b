// Definitions of data/dataset/element.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tandem/data/dataset/element.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::data::detail {

namespace impl {

[[noreturn]] inline void raise_uneven(const char* op, Span<const Tensor* const> rows, std::size_t i, const char* hint) {
  errors::raise<errors::InvalidArgumentError>(op, "elements 0 and " + std::to_string(i) +
                                                      " of a batch differ: " + to_string(rows[0]->spec()) + " and " +
                                                      to_string(rows[i]->spec()) + hint);
}

inline Shape with_rows(std::size_t n, const Shape& row) {
  Shape r;
  r.push_back(static_cast<i64>(n));
  for (int axis = 0; axis < row.rank(); ++axis) r.push_back(row.dim(axis));
  return r;
}

// Whether a number is one of T's; of a floating type, whether it is so when rounded.
template <class T>
bool has_value(double value) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>)
    return !std::isfinite(value) || std::abs(value) <= static_cast<double>(Limits::max());
  else
    return value >= static_cast<double>(Limits::min()) && value < std::ldexp(1., Limits::digits) &&
           value == std::trunc(value);
}
// A bit pattern of a number in the dtype of a tensor.
template <class T>
void fill(const char* op, const Tensor& t, double value) {
  if (!has_value<T>(value))
    errors::raise<errors::InvalidArgumentError>(op, std::string(name(t.dtype())) + " does not have the padding value " +
                                                        tandem::detail::rounded_text(value, 17));
  T* const to = static_cast<T*>(t.raw());
  std::fill_n(to, t.shape().size(), static_cast<T>(value));
}
inline void fill(const char* op, const Tensor& t, double value) {
  const std::size_t bytes = t.known_spec().bytes();
  switch (t.dtype()) {
    case DType::string:
      if (value != 0)
        errors::raise<errors::InvalidArgumentError>(op, "texts are padded with empty ones: their padding value is 0");
      return;
    case DType::float32: return fill<float>(op, t, value);
    case DType::float64: return fill<double>(op, t, value);
    case DType::int8: return fill<std::int8_t>(op, t, value);
    case DType::int16: return fill<std::int16_t>(op, t, value);
    case DType::int32: return fill<std::int32_t>(op, t, value);
    case DType::int64: return fill<i64>(op, t, value);
    case DType::uint8: return fill<std::uint8_t>(op, t, value);
    case DType::bool_: return fill<bool>(op, t, value);
    default: break;
  }
  if (value != 0)
    errors::raise<errors::UnimplementedError>(op, std::string("padding of ") + name(t.dtype()) + " other than 0");
  std::memset(t.raw(), 0, bytes);
}

// The rows [first, first + n) as a tensor of `shape`.
inline Tensor copied(const Tensor& rows, const Shape& shape, i64 first, i64 n) {
  const Tensor r = Tensor::allocate({shape, rows.dtype(), rows.device()});
  if (const std::size_t bytes = r.spec().bytes(); bytes > 0)
    std::memcpy(
        r.raw(),
        static_cast<const char*>(rows.raw()) + static_cast<std::size_t>(first) * (bytes / static_cast<std::size_t>(n)),
        bytes);
  return r;
}

// Copies `row` to the corner of a block of `sizes` at `to`.
inline void copy_corner(const char* from, char* to, const Shape& row, const Shape& sizes, int axis, std::size_t width) {
  std::size_t from_step = width, to_step = width;
  for (int a = axis + 1; a < row.rank(); ++a) {
    from_step *= static_cast<std::size_t>(row.dim(a));
    to_step *= static_cast<std::size_t>(sizes.dim(a));
  }
  if (from_step == to_step) {  // what lies within is whole rows
    if (axis < row.rank()) from_step *= static_cast<std::size_t>(row.dim(axis));
    if (from_step > 0) std::memcpy(to, from, from_step);
    return;
  }
  for (i64 i = 0; i < row.dim(axis); ++i)
    copy_corner(from + static_cast<std::size_t>(i) * from_step, to + static_cast<std::size_t>(i) * to_step, row, sizes,
                axis + 1, width);
}
// The same for texts, which are objects.
inline void copy_texts(const Tensor& row, Bytes* to, const Shape& sizes) {
  const Bytes* const from = static_cast<const Bytes*>(row.raw());
  const Shape& shape = row.shape();
  for (i64 i = 0; i < shape.size(); ++i) {
    i64 rest = i, at = 0, step = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      at += rest % shape.dim(axis) * step;
      rest /= shape.dim(axis), step *= sizes.dim(axis);
    }
    to[at] = from[i];
  }
}

}  // namespace impl

TANDEM_INLINE Tensor stack_rows(const char* op, Span<const Tensor* const> rows) {
  if (rows.empty()) errors::raise<errors::InvalidArgumentError>(op, "there are no elements to make a batch of");
  for (const Tensor* row : rows) tandem::detail::check_value(op, *row);
  const Spec& first = rows[0]->spec();
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (!(rows[i]->spec() == first))
      impl::raise_uneven(op, rows, i,
                         rows[i]->dtype() == first.dtype && rows[i]->rank() == first.shape.rank()
                             ? "; padded_batch takes different sizes"
                             : "");
  if (first.device.kind != Device::cpu || first.dtype == DType::string) {
    std::vector<Tensor> list;
    for (const Tensor* row : rows) list.push_back(*row);
    return stack(list);
  }
  const Tensor r = Tensor::allocate({impl::with_rows(rows.size(), first.shape), first.dtype, {}});
  const std::size_t bytes = first.bytes();
  if (bytes > 0)
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::memcpy(static_cast<char*>(r.raw()) + i * bytes, rows[i]->raw(), bytes);
  return r;
}

TANDEM_INLINE Tensor stack_padded(const char* op, Span<const Tensor* const> rows, const std::vector<i64>& sizes,
                                  double value) {
  if (rows.empty()) errors::raise<errors::InvalidArgumentError>(op, "there are no elements to make a batch of");
  for (const Tensor* row : rows) tandem::detail::check_value(op, *row);
  const int rank = rows[0]->rank();
  if (!sizes.empty() && static_cast<int>(sizes.size()) != rank)
    errors::raise<errors::InvalidArgumentError>(op, "the shape to pad to has " + std::to_string(sizes.size()) +
                                                        " sizes, but elements are " + to_string(rows[0]->spec()));
  Shape padded;
  for (int axis = 0; axis < rank; ++axis) {
    i64 size = sizes.empty() ? -1 : sizes[static_cast<std::size_t>(axis)];
    const bool fixed = size >= 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i]->rank() != rank || rows[i]->dtype() != rows[0]->dtype() || rows[i]->device().kind != Device::cpu)
        impl::raise_uneven(op, rows, i, "; only sizes may differ, of tensors on the CPU");
      if (fixed && rows[i]->shape().dim(axis) > size)
        errors::raise<errors::InvalidArgumentError>(
            op, "element " + std::to_string(i) + " of a batch is " + to_string(rows[i]->spec()) + ", longer on axis " +
                    std::to_string(axis) + " than the size to pad to, " + std::to_string(size));
      size = std::max(size, rows[i]->shape().dim(axis));
    }
    padded.push_back(size);
  }
  const Tensor r = Tensor::allocate({impl::with_rows(rows.size(), padded), rows[0]->dtype(), {}});
  impl::fill(op, r, value);
  const std::size_t width = size_of(r.dtype()), block = static_cast<std::size_t>(padded.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (r.dtype() == DType::string) {
      impl::copy_texts(*rows[i], static_cast<Bytes*>(r.raw()) + i * block, padded);
    } else if (rows[i]->shape().size() > 0) {
      impl::copy_corner(static_cast<const char*>(rows[i]->raw()), static_cast<char*>(r.raw()) + i * block * width,
                        rows[i]->shape(), padded, 0, width);
    }
  }
  return r;
}

TANDEM_INLINE Tensor stack_texts(i64 n, const std::string& (*at)(const void*, i64), const void* context) {
  const Tensor r = Tensor::allocate({Shape{n}, DType::string, {}});
  for (i64 i = 0; i < n; ++i) static_cast<Bytes*>(r.raw())[i] = Bytes(at(context, i));
  return r;
}

TANDEM_INLINE Tensor own_row(const Tensor& rows, i64 i) {
  if (rows.device().kind != Device::cpu || rows.dtype() == DType::string) return rows[i];
  Shape shape = rows.shape();
  shape.erase(0);
  return impl::copied(rows, shape, i, 1);
}
TANDEM_INLINE Tensor own_rows(const Tensor& rows, i64 first, i64 n) {
  if (n == rows.shape().dim(0)) return rows;
  if (rows.device().kind != Device::cpu || rows.dtype() == DType::string) return rows(Slice(first, first + n));
  Shape shape = rows.shape();
  shape.set(0, n);
  return impl::copied(rows, shape, first, n);
}
TANDEM_INLINE Tensor join_rows(const char* op, const std::vector<Tensor>& pieces) {
  const auto row = [](const Tensor& t) {
    Spec r = t.spec();
    r.shape.erase(0);
    return r;
  };
  for (const Tensor& t : pieces)
    if (!(row(t) == row(pieces[0])))
      errors::raise<errors::InvalidArgumentError>(op, "elements of a batch differ: " + to_string(row(pieces[0])) +
                                                          " and " + to_string(row(t)) +
                                                          "; padded_batch takes different sizes");
  return concat(pieces, 0);
}
TANDEM_INLINE i64 bytes_of_tensor(const Tensor& t) {
  if (!t.has_data()) return 0;
  i64 r = static_cast<i64>(t.known_spec().bytes());
  if (t.dtype() == DType::string)
    for (i64 i = 0; i < t.shape().size(); ++i)
      r += static_cast<i64>(static_cast<const Bytes*>(t.raw())[i].view().size());
  return r;
}

TANDEM_INLINE void raise_keys(const char* op, i64 element) {
  errors::raise<errors::InvalidArgumentError>(
      op, "elements 0 and " + std::to_string(element) + " of a batch are maps with different keys");
}

TANDEM_INLINE void raise_lengths(const char* op, i64 element, std::size_t first, std::size_t other) {
  errors::raise<errors::InvalidArgumentError>(op, "elements 0 and " + std::to_string(element) +
                                                      " of a batch have different numbers of tensors: " +
                                                      std::to_string(first) + " and " + std::to_string(other));
}

}  // namespace TANDEM_NS::data::detail
