// Reads shape arguments.
#pragma once
#include <algorithm>

#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE void check_dims_tensor(const char* op, const Tensor& t, int rank) {
  if (t.rank() != rank || !dtypes::index.has(t.dtype()))
    errors::raise<errors::InvalidArgumentError>(
        op, std::string(rank ? "a shape must be an int32 or int64 tensor of rank 1, not "
                             : "an entry of a shape must be a number or an int32 or int64 scalar, not ") +
                to_string(t.spec()));
}
TANDEM_INLINE i64 dim_of(const char* op, const Tensor& t) {
  check_dims_tensor(op, t, 0);
  return t.dtype() == DType::int64 ? t.item<i64>() : t.item<int>();
}
// `none` stands for a size that is not known, and is not a number itself.
[[noreturn, gnu::cold]] TANDEM_INLINE void raise_unknown_size(const char* op, const Shape& s) {
  errors::raise<errors::InvalidArgumentError>(
      op, "a size of " + to_string(s) +
              " is not known; give a number, or while a function is traced a tensor: shape(x)[axis]");
}
}  // namespace detail

TANDEM_INLINE Tensor DimValue::value() const { return is_known() ? constant(number) : tensor; }
TANDEM_INLINE bool Dims::is_known() const {
  if (is_whole_) return !whole_.is_symbolic();
  for (int i = 0; i < numbers_.rank(); ++i)
    if (is_tensor(i) && at_[i].is_symbolic()) return false;
  return true;
}
TANDEM_INLINE Shape Dims::numbers(const char* op) const {
  Shape r = numbers_;
  if (is_whole_) {
    detail::check_dims_tensor(op, whole_, 1);
    if (whole_.dtype() == DType::int64)
      for (i64 d : whole_.to_vector<i64>()) r.push_back(d);
    else
      for (int d : whole_.to_vector<int>()) r.push_back(d);
    return r;
  }
  for (int i = 0; i < r.rank(); ++i)
    if (is_tensor(i)) r.set(i, detail::dim_of(op, at_[i]));
  return r;
}
TANDEM_INLINE Shape Dims::known(const char* op) const {
  if (is_known()) return numbers(op);
  Shape r = numbers_;
  if (is_whole_) {
    detail::check_dims_tensor(op, whole_, 1);
    if (whole_.shape().dim(0) == none)
      errors::raise<errors::InvalidArgumentError>(op, "the number of sizes must be known: " + to_string(whole_.spec()));
    for (i64 i = 0; i < whole_.shape().dim(0); ++i) r.push_back(none);
    return r;
  }
  for (int i = 0; i < r.rank(); ++i)
    if (is_tensor(i)) {
      detail::check_dims_tensor(op, at_[i], 0);
      r.set(i, at_[i].is_symbolic() ? none : detail::dim_of(op, at_[i]));
    }
  return r;
}
TANDEM_INLINE std::vector<DimValue> Dims::values(const char* op) const {
  const Shape now = known(op);
  const Tensor all = is_whole_ && !is_known() ? tensor(op) : Tensor();
  std::vector<DimValue> r;
  for (int i = 0; i < now.rank(); ++i) {
    const bool computed = is_whole_ ? all.is_set() : is_tensor(i) && at_[i].is_symbolic();
    if (now.dim(i) != none) r.push_back({now.dim(i)});
    else if (computed) r.push_back({0, is_whole_ ? all[i] : cast(at_[i], DType::int64)});
    else detail::raise_unknown_size(op, now);
  }
  return r;
}
TANDEM_INLINE Tensor Dims::tensor(const char* op) const {
  if (is_known()) {
    const Shape n = numbers(op);
    if (!n.is_fully_defined()) detail::raise_unknown_size(op, n);
    const Tensor r = Tensor::allocate({Shape{n.rank()}, DType::int64, {}});
    std::copy(n.begin(), n.end(), static_cast<i64*>(r.raw()));
    return r;
  }
  return code_->join(*this, op);
}
// Called only if an entry is symbolic.
TANDEM_INLINE Tensor detail::joined_dims(const Dims& d, const char* op) {
  if (d.is_whole_) {
    check_dims_tensor(op, d.whole_, 1);
    return cast(d.whole_, DType::int64);
  }
  std::vector<Tensor> parts;
  for (int i = 0; i < d.numbers_.rank(); ++i) {
    if (d.is_tensor(i)) check_dims_tensor(op, d.at_[i], 0);
    parts.push_back(d.is_tensor(i) ? reshape(cast(d.at_[i], DType::int64), {1})
                                   : constant(std::vector<i64>{d.numbers_.dim(i)}));
  }
  return concat(parts, 0);
}
TANDEM_INLINE constexpr detail::DimsCode detail::dims_code{&joined_dims, &fill_computed};

TANDEM_INLINE Shape detail::with_known(const InferCall& c, const Shape& s) {
  const Shape& known = c.get<rules::KnownDimsAttrs>().known;
  if (known.rank() == 0) return s;
  if (!s.is_compatible_with(known))
    raise_specs(c, "the shape " + to_string(s) + " contradicts the known dimensions, " + to_string(known));
  for (const i64 d : known)
    if (d < 0 && d != none) raise_specs(c, "a known dimension is negative: " + to_string(known));
  return s.merge_with(known);
}
TANDEM_INLINE Shape detail::dims_with_known(const InferCall& c) {
  const Spec& dims = c.spec(1);
  if (dims.dtype != DType::int64 || dims.shape.rank() != 1 || dims.shape.dim(0) == none)
    raise_specs(c, "the dims must be an int64 vector of known length");
  Shape open;
  for (i64 i = 0; i < dims.shape.dim(0); ++i) open.push_back(none);
  return with_known(c, open);
}

}  // namespace TANDEM_NS
