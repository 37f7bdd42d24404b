// The two representations of a TensorArray: a shared list, and the rows of a tensor.
#pragma once
#include "tandem/graph/control/tensor_array.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/rows.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS {

namespace detail {
template <class E = errors::InvalidArgumentError>
[[noreturn]] void raise_array(const std::string& what) {
  errors::raise<E>("TensorArray", what);
}
}  // namespace detail

TANDEM_LAZY_INLINE i64 ArrayIndex::number() const {
  if (!tensor_.is_set()) return number_;
  if (tensor_.dtype() == DType::int64) return tensor_.item<i64>();
  return tensor_.item<std::int32_t>();
}
TANDEM_LAZY_INLINE Tensor ArrayIndex::tensor() const { return tensor_.is_set() ? tensor_ : constant(number_); }

TANDEM_LAZY_INLINE TensorArray::TensorArray(DType dtype, i64 size, TensorArrayOptions o)
    : TensorArray(dtype, constant(size), o) {}
TANDEM_LAZY_INLINE TensorArray::TensorArray(DType dtype, const Tensor& size, TensorArrayOptions o)
    : dtype_(dtype), dynamic_(o.dynamic_size), clear_(o.clear_after_read) {
  const Dims* const sizes = o.element_shape.get();
  if (sizes) element_shape_ = sizes->known("TensorArray");
  const ArrayIndex n(size);
  if (n.is_known() && n.number() < 0)
    detail::raise_array("size must not be negative, got " + std::to_string(n.number()));
  if (!context.stager) {
    store_ = make_ref<detail::ArrayStore>();
    store_->elements.resize(static_cast<std::size_t>(n.number()));
    return;
  }
  if (dynamic_)
    detail::raise_array<errors::UnimplementedError>(
        "cannot grow while a function is traced; give the maximum size instead of .dynamic_size");
  written_ = zeros({size}, DType::bool_);
  if (sizes && element_shape_.get()->is_fully_defined()) settle({*element_shape_.get(), dtype_, {}});
  else if (sizes && !sizes->is_known()) settle(*sizes);
}
TANDEM_LAZY_INLINE void TensorArray::settle(const Dims& element) {
  const DimValue size = get_shape(written_)[0];
  const std::vector<DimValue> dims = element.values("TensorArray");
  Dims rows;
  rows.push_back(size);
  for (const DimValue& d : dims) rows.push_back(d);
  rows_ = zeros(rows, dtype_);
}
TANDEM_LAZY_INLINE void TensorArray::settle(const Spec& element) {
  if (!element.shape.is_fully_defined())
    detail::raise_array(
        "the element shape, " + to_string(element) +
        ", is unknown when the loop begins; give .element_shape, in numbers or tensors: {shape(x)[1], 5}");
  settle(Dims(element.shape));
}
TANDEM_LAZY_INLINE std::optional<Spec> TensorArray::element_spec() const {
  if (!is_traced() || !rows_.is_set()) return {};
  Spec s = rows_.spec();
  s.shape.erase(0);
  return s;
}
TANDEM_LAZY_INLINE Tensor TensorArray::size() const {
  if (is_traced()) return tandem::size(written_);
  return constant(static_cast<int>(store_->elements.size()));
}
TANDEM_LAZY_INLINE void TensorArray::check_element(const Tensor& value) const {
  const Shape* const s = element_shape_.get();
  if (value.dtype() != dtype_ || (s && !s->is_compatible_with(value.shape())))
    detail::raise_array("of " + std::string(name(dtype_)) + (s ? to_string(*s) : std::string(" elements")) +
                        " cannot hold " + to_string(value.spec()));
}

TANDEM_LAZY_INLINE std::vector<Tensor> TensorArray::elements() const {
  const std::lock_guard lock(store_->mutex);
  std::vector<Tensor> r;
  for (const detail::ArrayStore::Element& e : store_->elements)
    r.push_back(e.written && e.written <= version_ ? e.value : Tensor());
  return r;
}
TANDEM_LAZY_INLINE void TensorArray::replace(std::vector<Tensor> list) {
  store_ = make_ref<detail::ArrayStore>();
  for (Tensor& t : list) {
    const u64 written = t.is_set() ? 1 : 0;
    store_->elements.push_back({std::move(t), written, false});
  }
  store_->writes = version_ = 1;
}
TANDEM_LAZY_INLINE TensorArray TensorArray::write(const ArrayIndex& i, const Tensor& value, OpOptions o) const {
  check_element(value);
  if (is_traced()) return write_row(i.tensor(), value, o);
  if (!i.is_known()) return as_rows(o).write_row(i.tensor(), value, o);
  const i64 at = i.number();
  TensorArray r = *this;
  std::unique_lock lock(store_->mutex);
  const auto n = static_cast<i64>(store_->elements.size());
  if (at < 0 || (at >= n && !dynamic_))
    detail::raise_array("index " + std::to_string(at) + " is out of range [0, " + std::to_string(n) + ")");
  if (store_->writes != version_) {  // another handle has written since: this one gets its own list
    lock.unlock();
    r.replace(elements());
    return r.write(at, value, o);
  }
  if (at >= n) store_->elements.resize(static_cast<std::size_t>(at) + 1);
  detail::ArrayStore::Element& e = store_->elements[static_cast<std::size_t>(at)];
  if (e.written)
    detail::raise_array("element " + std::to_string(at) + " has been written before; an element is written once");
  e = {value, r.version_ = ++store_->writes, false};
  return r;
}
TANDEM_LAZY_INLINE TensorArray TensorArray::write_row(const Tensor& i, const Tensor& value, const OpOptions& o) const {
  TensorArray r = *this;
  if (!r.rows_.is_set()) r.settle(value.spec());
  r.written_ = tandem::detail::mark_written(written_, i, {.where = o.where});
  r.rows_ = tandem::detail::update_row(r.rows_, i, value, o);
  return r;
}
// The same elements as rows: for an index that is not known while tracing.
TANDEM_LAZY_INLINE TensorArray TensorArray::as_rows(const OpOptions& o) const {
  TensorArray r = *this;
  r.store_ = {};
  const std::vector<Tensor> list = elements();
  r.written_ = zeros({static_cast<i64>(list.size())}, {.dtype = DType::bool_});
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].is_set()) r = r.write_row(constant(static_cast<i64>(i)), list[i], {.where = o.where});
  return r;
}

TANDEM_LAZY_INLINE Tensor TensorArray::element(i64 i, bool clear) const {
  const std::lock_guard lock(store_->mutex);
  const auto n = static_cast<i64>(store_->elements.size());
  if (i < 0 || i >= n)
    detail::raise_array("index " + std::to_string(i) + " is out of range [0, " + std::to_string(n) + ")");
  detail::ArrayStore::Element& e = store_->elements[static_cast<std::size_t>(i)];
  if (!e.written || e.written > version_) detail::raise_array("element " + std::to_string(i) + " has not been written");
  if (e.cleared)
    detail::raise_array("element " + std::to_string(i) + " was cleared by an earlier read (.clear_after_read is set)");
  if (!clear) return e.value;
  e.cleared = true;
  return std::move(e.value);
}
TANDEM_LAZY_INLINE Tensor TensorArray::read(const ArrayIndex& i, OpOptions o) const {
  if (is_traced()) return gather(i.tensor(), o);
  return i.is_known() ? element(i.number(), clear_) : as_rows(o).gather(i.tensor(), o);
}
TANDEM_LAZY_INLINE Tensor TensorArray::gather(const Tensor& indices, OpOptions o) const {
  if (is_traced()) {
    if (!rows_.is_set()) detail::raise_array("cannot read an element: none has been written");
    return tandem::gather(rows_, tandem::detail::check_written(indices, written_, {.where = o.where}),
                          {o.name, o.where});
  }
  if (indices.is_symbolic()) return as_rows(o).gather(indices, o);
  std::vector<Tensor> list;
  for (const i64 i : cast(indices, DType::int64).to_vector<i64>()) list.push_back(element(i));
  return tandem::stack(list, {o.name, o.where});
}
TANDEM_LAZY_INLINE Tensor TensorArray::stack(OpOptions o) const {
  if (is_traced()) {
    if (!rows_.is_set())
      detail::raise_array("cannot stack elements: none has been written; give .element_shape to get an empty stack");
    return tandem::detail::check_all_written(rows_, written_, o);
  }
  std::vector<Tensor> list;
  for (std::size_t i = 0; i < store_->elements.size(); ++i) list.push_back(element(static_cast<i64>(i)));
  if (!list.empty()) return tandem::stack(list, {o.name, o.where});
  const Shape* s = element_shape_.get();
  if (!s || !s->is_fully_defined())
    detail::raise_array("has no element to stack; give .element_shape to get an empty stack");
  Shape empty = *s;
  empty.insert(0, 0);
  return zeros(empty, {.dtype = dtype_});
}
TANDEM_LAZY_INLINE Tensor TensorArray::concat(OpOptions o) const {
  if (is_traced()) {
    const Tensor all = stack({.where = o.where});
    if (all.rank() < 2) detail::raise_array("scalars cannot be concatenated; stack them");
    return collapse_leading(all, 2, o);
  }
  std::vector<Tensor> list;
  for (std::size_t i = 0; i < store_->elements.size(); ++i) list.push_back(element(static_cast<i64>(i)));
  return tandem::concat(list, 0, o);
}

// The array with exactly these elements.
TANDEM_LAZY_INLINE TensorArray TensorArray::filled(std::vector<Tensor> list) const {
  const std::vector<Tensor> old = elements();
  for (const Tensor& t : old)
    if (t.is_set()) detail::raise_array("already has elements; use an array without elements");
  if (list.size() != old.size() && !(dynamic_ && list.size() > old.size()))
    detail::raise_array("of size " + std::to_string(old.size()) + " cannot take " + std::to_string(list.size()) +
                        " elements");
  for (const Tensor& t : list) check_element(t);
  TensorArray r = *this;
  r.replace(std::move(list));
  return r;
}
TANDEM_LAZY_INLINE TensorArray TensorArray::unstack(const Tensor& x) const {
  if (x.rank() == 0) detail::raise_array("a scalar has no rows");
  if (!is_traced()) return filled(tandem::unstack(x));
  Shape wanted = x.shape();
  wanted.set(0, written_.shape().dim(0));
  if (x.dtype() != dtype_ || !x.shape().is_compatible_with(wanted) ||
      (rows_.is_set() && !rows_.shape().is_compatible_with(x.shape())))
    detail::raise_array("of " + to_string(Spec{wanted, dtype_, {}}) + " cannot take the rows of " +
                        to_string(x.spec()));
  TensorArray r = *this;
  r.rows_ = x;
  r.written_ = ones_like(written_);
  return r;
}
TANDEM_LAZY_INLINE TensorArray TensorArray::scatter(const Tensor& indices, const Tensor& x) const {
  if (indices.rank() != 1 || x.rank() == 0 || indices.shape().dim(0) == none ||
      (x.shape().dim(0) != indices.shape().dim(0) && x.shape().dim(0) != none))
    detail::raise_array("takes one row for each of a known number of indices, not " + to_string(x.spec()) + " for " +
                        to_string(indices.spec()));
  TensorArray r = *this;
  for (i64 k = 0; k < indices.shape().dim(0); ++k) r = r.write(indices[k], x[k]);
  return r;
}
TANDEM_LAZY_INLINE TensorArray TensorArray::split(const Tensor& x, const std::vector<i64>& lengths) const {
  if (!is_traced()) return filled(tandem::split(x, lengths));
  for (i64 n : lengths)
    if (n != lengths[0])
      detail::raise_array<errors::UnimplementedError>("holds elements of one shape while a function is traced");
  if (lengths.empty()) detail::raise_array("split needs at least one length");
  Shape s = x.shape();
  s.set(0, lengths[0]);
  s.insert(0, static_cast<i64>(lengths.size()));
  return unstack(reshape(x, s));
}

}  // namespace TANDEM_NS
