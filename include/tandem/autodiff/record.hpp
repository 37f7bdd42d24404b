// How a tape records: entries in chunks, what each saves (implementation half of autodiff/tape.hpp).
#pragma once
#include "tandem/autodiff/tape.hpp"

namespace TANDEM_NS {

// One applied op. Behind it in its chunk: the saved tensors (inputs, then outputs), the attrs, the inputs' slots.
struct GradientTape::Entry {
  Entry* prev;
  const OpDef* op;
  const Attrs* attrs;
  std::int32_t first_out;
  std::uint16_t n_in, n_out;

  Tensor* saved() { return reinterpret_cast<Tensor*>(this + 1); }
  std::span<Tensor> all_saved() { return {saved(), static_cast<std::size_t>(n_in + n_out)}; }
  const int* in_slots() const {
    return reinterpret_cast<const int*>(reinterpret_cast<const Tensor*>(this + 1) + n_in + n_out);
  }
  int* in_slots() { return reinterpret_cast<int*>(saved() + n_in + n_out); }
};

TANDEM_INLINE GradientTape::GradientTape(TapeOptions options) : options_(options) {
  next = context.observers;
  context.observers = this;
}
TANDEM_INLINE GradientTape::~GradientTape() {
  leave();
  free_entries();
}
TANDEM_INLINE void GradientTape::leave() {
  for (Observer** o = &context.observers; *o; o = &(*o)->next)
    if (*o == this) {
      *o = next;
      return;
    }
}
TANDEM_INLINE void GradientTape::reset() {
  free_entries();
  map_.clear();
  variables_.clear();
  reads_.clear();
  slots_ = 0;
  if (spent_) {
    next = context.observers;
    context.observers = this;
  }
  spent_ = false;
}
TANDEM_INLINE void GradientTape::release_saved(Entry& e) {
  for (Tensor& t : e.all_saved()) t = Tensor();
}
TANDEM_INLINE void GradientTape::free_entries() {
  for (Entry* e = last_; e; e = e->prev) {
    for (Tensor& t : e->all_saved()) t.~Tensor();
    if (e->attrs != &no_attrs) e->attrs->~Attrs();
  }
  last_ = nullptr;
  notes_.clear();
  for (const Chunk& c : chunks_) memory::release(c.data, c.cls);
  chunks_.clear();
  used_ = room_ = 0;
}

TANDEM_INLINE void GradientTape::check_watchable(const Spec& s) {
  if (!is_floating(s.dtype) && !is_complex(s.dtype))
    errors::raise<errors::InvalidArgumentError>("watch", to_string(s) + " has no derivative; watch floating tensors");
}
TANDEM_INLINE void GradientTape::watch(const Tensor& x) {
  check_watchable(x.spec());
  if (map_.find(x.id()) < 0) map_.insert(x.id(), slots_++);
}
TANDEM_INLINE void GradientTape::watch(const Variable& v) {
  check_watchable(v.spec());
  reads_of(v);
}
TANDEM_INLINE GradientTape::Reads& GradientTape::reads_of(const Variable& v) {
  int at = variables_.find(v.id());
  if (at < 0) {
    variables_.insert(v.id(), at = static_cast<int>(reads_.size()));
    reads_.push_back({v, {}});
  }
  return reads_[static_cast<std::size_t>(at)];
}
TANDEM_INLINE void GradientTape::read(const Variable& v, const Tensor& value) {
  if (paused_ || !(is_floating(value.dtype()) || is_complex(value.dtype()))) return;
  if (!(options_.watch_accessed_variables && v.trainable()) && variables_.find(v.id()) < 0) return;
  map_.insert(value.id(), slots_);
  reads_of(v).slots.push(slots_++);
}

// Room for an entry and what lies behind it; taken by adding the bytes to used_.
TANDEM_INLINE char* GradientTape::room_for(std::size_t bytes) {
  if (used_ + bytes > room_) [[unlikely]] {
    const std::size_t want = chunks_.empty() ? 4096 : 65536;
    const int cls = memory::class_of(bytes > want ? bytes : want);
    chunks_.push_back({static_cast<char*>(memory::allocate(cls)), cls});
    used_ = 0;
    room_ = memory::class_size(cls);
  }
  return chunks_.back().data + used_;
}

namespace detail {
// The data where the rule reads it; the shape alone where it reads the shape, or where broadcasting must be undone; in
// a trace that may turn out only when it runs.
inline void save_input(Tensor* at, const OpDef& op, const Tensor& x, const Tensor* y) {
  const Saves s = op.saves;
  if (s == Saves::all || s == Saves::inputs) ::new (at) Tensor(x);
  else if (s == Saves::shape ||
           (op.flags.pointwise && (x.is_symbolic() || !(x.known_spec().shape == y->known_spec().shape))))
    ::new (at) Tensor(x.is_symbolic() ? x : Tensor::symbol(x.spec()));
  else ::new (at) Tensor();
}
[[noreturn, gnu::cold, gnu::noinline]] TANDEM_INLINE void raise_too_many(const OpDef& op) {
  errors::raise<errors::UnimplementedError>(op.name, "a tape takes at most 65535 inputs or outputs an op");
}
}  // namespace detail

TANDEM_INLINE void GradientTape::record(const Applied& a) {
  if (paused_) return;
  const std::size_t n_in = a.in.size(), n_out = a.out.size();
  const std::size_t at_slots = sizeof(Entry) + (n_in + n_out) * sizeof(Tensor);
  const std::size_t at_attrs = (at_slots + n_in * sizeof(int) + 15) & ~std::size_t(15);
  const std::size_t bytes = a.attrs.empty() ? at_attrs : at_attrs + sizeof(Attrs);
  char* const place = room_for(bytes);
  int* const slots = reinterpret_cast<int*>(place + at_slots);  // written where they will lie, if an input is watched
  bool any = false;
  for (std::size_t i = 0; i < n_in; ++i) any |= (slots[i] = map_.find(a.in[i]->id())) >= 0;
  if (!any) return;
  if ((n_in | n_out) > 65535) [[unlikely]]
    detail::raise_too_many(a.op);
  Entry* e = ::new (place)
      Entry{last_, &a.op, &no_attrs, slots_, static_cast<std::uint16_t>(n_in), static_cast<std::uint16_t>(n_out)};
  if (!a.attrs.empty()) e->attrs = ::new (place + at_attrs) Attrs(a.attrs);
  Tensor* saved = e->saved();
  for (const Tensor* x : a.in) {
    if (a.op.flags.blocked) ::new (saved++) Tensor();
    else detail::save_input(saved++, a.op, *x, a.out.data());
  }
  const bool keep = !a.op.flags.blocked && (a.op.saves == Saves::all || a.op.saves == Saves::outputs);
  for (const Tensor& y : a.out) {
    map_.insert(y.id(), slots_++);
    if (keep) ::new (saved++) Tensor(y);
    else ::new (saved++) Tensor();
  }
  last_ = e;
  used_ += bytes;
  if (options_.ledger) [[unlikely]]
    note(a);
}

}  // namespace TANDEM_NS
