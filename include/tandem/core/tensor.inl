// Storage of tensors and reading elements.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

namespace detail {
struct Reason final : Opaque {
  std::string text;
  explicit Reason(std::string t) : text(std::move(t)) {}
  const char* kind() const override { return "reason"; }
};
inline constexpr std::size_t together_bytes = 256 * 1024;  // header and data share one block up to this size

inline std::size_t checked_bytes(const Spec& spec) {
  i64 bytes = static_cast<i64>(size_of(spec.dtype));
  for (i64 d : spec.shape)
    if (d < 0 || __builtin_mul_overflow(bytes, d, &bytes))
      errors::raise<errors::InvalidArgumentError>("allocate", "invalid shape or size: " + to_string(spec));
  return static_cast<std::size_t>(bytes);
}
// Sets everything but data; `inside` bytes follow the header.
[[gnu::always_inline]] inline TensorHeader* make_header(const Spec& spec, TensorHeader::Kind kind, std::size_t inside) {
  const int cls = memory::class_of(sizeof(TensorHeader) + inside);
  auto* h = static_cast<TensorHeader*>(memory::allocate(cls, sizeof(TensorHeader) + inside));
  ::new (&h->refs) std::atomic<std::uint32_t>(1);
  h->header_class = static_cast<std::int8_t>(cls);
  h->data_class = -1;
  h->kind = kind;
  ::new (&h->simple) std::atomic<bool>(false);
  ::new (&h->keeps_packed) std::atomic<bool>(false);
  h->id = new_id(context);
  h->data = nullptr;
  h->owner = nullptr;
  ::new (&h->spec) Spec(spec);
  ::new (&h->packed) PackedForms;
  return h;
}
}  // namespace detail

// Allocates on a device, in a separate block, or for strings.
[[gnu::noinline]] TANDEM_INLINE Tensor Tensor::allocate_apart(const Spec& spec, std::size_t bytes) {
  if (spec.device.kind != Device::cpu) {
    const Backend& backend = backend_of(spec.device);
    Tensor t(detail::make_header(spec, TensorHeader::own, 0));  // first: it cannot leak the data
    t.h_->data = backend.allocate(bytes, spec.device.index);
    return t;
  }
  const bool together = bytes <= detail::together_bytes;
  Tensor t(detail::make_header(spec, TensorHeader::own, together ? bytes : 0));
  TensorHeader* h = t.h_;
  if (together) {
    h->data = h + 1;
  } else {
    const int cls = memory::class_of(bytes);
    h->data = memory::allocate(cls, bytes);
    h->data_class = static_cast<std::int16_t>(cls);
  }
  if (spec.dtype == DType::string)
    for (i64 i = 0, n = spec.shape.size(); i < n; ++i) ::new (static_cast<Bytes*>(h->data) + i) Bytes();
  return t;
}
TANDEM_INLINE Tensor Tensor::allocate(const Spec& spec) {
  const std::size_t bytes = detail::checked_bytes(spec);
  if (spec.device.kind != Device::cpu) [[unlikely]]
    return allocate_apart(spec, bytes);
  try {
    if (bytes > detail::together_bytes || spec.dtype == DType::string) [[unlikely]]
      return allocate_apart(spec, bytes);
    TensorHeader* h = detail::make_header(spec, TensorHeader::own, bytes);
    h->data = h + 1;
    h->simple.store(true, std::memory_order_relaxed);
    return Tensor(h);
  } catch (const errors::ResourceExhaustedError& e) {
    errors::raise<errors::ResourceExhaustedError>(
        "allocate", "cannot allocate " + std::to_string(bytes) + " bytes for " + to_string(spec) + ": " + e.message());
  }
}
TANDEM_INLINE Tensor Tensor::symbol(const Spec& spec) {
  return Tensor(detail::make_header(spec, TensorHeader::symbolic, 0));
}
TANDEM_INLINE Tensor Tensor::view_of(const Tensor& base, const Spec& spec, std::size_t offset) {
  TensorHeader* root = base.h_;
  if (root->kind == TensorHeader::view) root = static_cast<TensorHeader*>(root->owner);
  else if (root->kind == TensorHeader::symbolic) [[unlikely]] return symbol(spec);
  TensorHeader* h = detail::make_header(spec, TensorHeader::view, 0);
  root->refs.fetch_add(1, std::memory_order_relaxed);
  h->owner = root;
  h->data = static_cast<char*>(base.h_->data) + offset;
  return Tensor(h);
}
TANDEM_INLINE Tensor Tensor::borrow(const void* data, const Spec& spec, Ref<Opaque> owner) {
  TensorHeader* h = detail::make_header(spec, TensorHeader::external, 0);
  h->data = const_cast<void*>(data);
  h->owner = owner.get();
  if (owner) owner->retain();
  return Tensor(h);
}
TANDEM_INLINE Tensor Tensor::unset(std::string reason) {
  Tensor t(detail::make_header(Spec{}, TensorHeader::unset, 0));
  auto* r = new detail::Reason(std::move(reason));
  r->retain();
  t.h_->owner = r;
  return t;
}
TANDEM_INLINE std::string Tensor::unset_reason() const {
  return h_ ? static_cast<detail::Reason*>(h_->owner)->text : "the tensor is unset (made by Tensor())";
}
TANDEM_INLINE void Tensor::raise_unset() const {
  errors::raise<errors::FailedPreconditionError>("tensor", unset_reason());
}

// Small values are as fast to pack as to look up.
TANDEM_INLINE void Tensor::keep_packed_forms() const {
  constexpr i64 worth_keeping = 4096;
  const Spec& s = h_->spec;
  if (h_->kind > TensorHeader::view || s.device.kind != Device::cpu || !dtypes::floating.has(s.dtype)) return;
  if (s.shape.rank() < 2 || s.shape.size() < worth_keeping) return;
  h_->simple.store(false, std::memory_order_relaxed);
  h_->keeps_packed.store(true, std::memory_order_relaxed);
}
TANDEM_INLINE void Tensor::drop(TensorHeader* h) {
  if (h->refs.load(std::memory_order_acquire) != 1 && h->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!h->simple.load(std::memory_order_relaxed)) [[unlikely]]
    return destroy(h);
  memory::release(h, h->header_class);
}
[[gnu::noinline]] TANDEM_INLINE void Tensor::destroy(TensorHeader* h) {
  if (!h->packed.is_empty()) h->packed.clear();
  switch (h->kind) {
    case TensorHeader::own:
      if (h->spec.dtype == DType::string && h->data) [[unlikely]]  // no data: its allocation failed
        for (i64 i = 0, n = h->spec.shape.size(); i < n; ++i) static_cast<Bytes*>(h->data)[i].~Bytes();
      if (h->spec.device.kind != Device::cpu && h->data) [[unlikely]]
        backends[h->spec.device.kind]->release(h->data, h->spec.bytes(), h->spec.device.index);
      else if (h->data_class >= 0) memory::release(h->data, h->data_class);
      break;
    case TensorHeader::view: Tensor(static_cast<TensorHeader*>(h->owner)); break;  // releases the root
    case TensorHeader::external:
    case TensorHeader::unset:
      if (h->owner) static_cast<Opaque*>(h->owner)->release();
      break;
    case TensorHeader::symbolic: break;
  }
  memory::release(h, h->header_class);
}

namespace detail {
[[noreturn, gnu::cold]] TANDEM_INLINE void raise_no_value(const char* op, const Tensor& t) {
  errors::raise<errors::TraceError>(
      op, to_string(t.spec()) +
              " has no value: it belongs to a finished trace (it was kept from inside a traced function); return it "
              "from that function, or compute it here");
}
[[noreturn, gnu::cold]] TANDEM_INLINE void raise_symbolic(const Tensor& t, const char* what) {
  const std::string origin = context.stager ? TANDEM_VIRTUAL(*context.stager, Stager::origin)(t) : std::string();
  if (origin.empty()) raise_no_value(what, t);  // not part of the current trace
  errors::raise<errors::TraceError>(
      what, "the value of " + to_string(t.spec()) + origin +
                " is not known while the function is traced; use tandem::cond, while_loop or where instead of host "
                "control flow, or read it outside of the function");
}
TANDEM_INLINE void check_dtype(const Tensor& t, DType as, const char* what) {
  if (t.dtype() != as)
    errors::raise<errors::InvalidArgumentError>(what, std::string("read as ") + name(as) + ", but the tensor is " +
                                                          to_string(t.spec()) + " (see tandem::cast)");
}
TANDEM_INLINE void copy_out(const Tensor& t, i64 first, i64 count, void* to) {
  const std::size_t width = size_of(t.dtype());
  const char* from = static_cast<const char*>(t.raw()) + static_cast<std::size_t>(first) * width;
  if (t.dtype() == DType::string) {
    for (i64 i = 0; i < count; ++i) static_cast<std::string*>(to)[i] = reinterpret_cast<const Bytes*>(from)[i].view();
    return;
  }
  copy_bytes(to, {Device::cpu, 0}, from, t.device(), static_cast<std::size_t>(count) * width);
}
}  // namespace detail

TANDEM_INLINE void Tensor::read_elements(DType as, i64 count, bool one, void* to) const {
  const char* what = one ? "item" : "to_vector";
  if (one && size() != 1 && !is_symbolic())
    errors::raise<errors::InvalidArgumentError>(what, "needs one element, but the tensor is " + to_string(spec()));
  detail::check_dtype(*this, as, what);
  if (is_symbolic()) detail::raise_symbolic(*this, what);
  detail::copy_out(*this, 0, count, to);
}
TANDEM_INLINE void Tensor::read_at(DType as, Span<const i64> index, void* to) const {
  detail::check_dtype(*this, as, "at");
  if (is_symbolic()) detail::raise_symbolic(*this, "at");
  if (static_cast<int>(index.size()) != rank())
    errors::raise<errors::InvalidArgumentError>("at",
                                                std::to_string(index.size()) + " indices for " + to_string(spec()));
  i64 flat = 0;
  for (int i = 0; i < rank(); ++i) {
    const i64 n = shape().dim(i), k = index[static_cast<std::size_t>(i)];
    if (k < -n || k >= n)
      errors::raise<errors::InvalidArgumentError>("at", "index " + std::to_string(k) + " is out of range on axis " +
                                                            std::to_string(i) + " of " + to_string(spec()));
    flat = flat * n + (k < 0 ? k + n : k);
  }
  detail::copy_out(*this, flat, 1, to);
}
TANDEM_INLINE void Tensor::check_host(DType as) const {
  detail::check_dtype(*this, as, "data");
  if (is_symbolic()) detail::raise_symbolic(*this, "data");
  if (device().kind != Device::cpu)
    errors::raise<errors::InvalidArgumentError>("data",
                                                "the tensor is on " + to_string(device()) + "; call t.cpu() first");
}

}  // namespace TANDEM_NS
