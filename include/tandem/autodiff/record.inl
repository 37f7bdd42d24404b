// Recording of a tape: entries in chunks, and what each saves.
#pragma once
#include "tandem/autodiff/log.hpp"
#include "tandem/autodiff/tape.hpp"

namespace TANDEM_NS {

TANDEM_INLINE void GradientTape::begin(const TapeOptions& options) {
  log_ = make_ref<Log>(options);
  log_->retain();  // held by the list
  detail::observe(*log_);
}
TANDEM_INLINE GradientTape::GradientTape(TapeOptions options) { begin(options); }
TANDEM_INLINE GradientTape::~GradientTape() { log_->leave(); }
TANDEM_INLINE void GradientTape::reset() {
  if (log_->spent_) begin(TapeOptions(log_->options_));
  else log_->clear();
}
TANDEM_INLINE void GradientTape::watch(const Tensor& x) { log_->watch(x); }
TANDEM_INLINE void GradientTape::watch(const Variable& v) { log_->watch(v); }
TANDEM_INLINE std::vector<TapeMemory> GradientTape::memory() const { return log_->memory(); }
TANDEM_INLINE GradientTape::Pause::Pause(GradientTape& t) : log_(t.log_), outer_(log_->paused) { log_->paused = true; }
TANDEM_INLINE GradientTape::Pause::~Pause() { log_->paused = outer_; }

TANDEM_INLINE void GradientTape::Log::leave() {
  if (!detail::unobserve(*this)) ended.store(true, std::memory_order_release);
}
TANDEM_INLINE void GradientTape::Log::clear() {
  free_entries();
  map_.clear();
  variables_.clear();
  reads_.clear();
  slots_ = leaves_ = 0;
}
TANDEM_INLINE void GradientTape::Log::release_saved(Entry& e) {
  for (Tensor& t : e.all_saved()) t = Tensor();
}
TANDEM_INLINE void GradientTape::Log::free_entries() {
  for (Entry* e = last_; e; e = e->prev) {
    e->destroy(e->all_saved().end());
  }
  last_ = nullptr;
  notes_.clear();
  for (const Chunk& c : chunks_) memory::release(c.data, c.cls);
  chunks_.clear();
  used_ = room_ = 0;
}

TANDEM_INLINE void GradientTape::Log::check_watchable(const Spec& s) {
  if (!is_differentiable(s.dtype))
    errors::raise<errors::InvalidArgumentError>("watch", to_string(s) + " has no derivative; watch floating tensors");
}
TANDEM_INLINE void GradientTape::Log::watch(const Tensor& x) {
  check_watchable(x.spec());
  if (map_.find(x.id()) >= 0) return;
  map_.insert(x.id(), slots_++);
  ++leaves_;
}
TANDEM_INLINE void GradientTape::Log::watch(const Variable& v) {
  check_watchable(v.spec());
  reads_of(v);
}
TANDEM_INLINE GradientTape::Log::Reads& GradientTape::Log::reads_of(const Variable& v) {
  int at = variables_.find(v.id());
  if (at < 0) {
    at = static_cast<int>(reads_.size());
    variables_.make_room();
    reads_.push_back({v, {}});
    variables_.insert(v.id(), at);
  }
  return reads_[static_cast<std::size_t>(at)];
}
TANDEM_INLINE void GradientTape::Log::read(const Variable& v, const Tensor& value) {
  if (ended.load(std::memory_order_relaxed)) return;
  if (paused || !is_differentiable(value.dtype())) return;
  if (!(options_.watch_accessed_variables && v.trainable()) && variables_.find(v.id()) < 0) return;
  const int slot = slots_++;  // whatever raises here: no other value may get it
  ++leaves_;
  map_.insert(value.id(), slot);
  reads_of(v).slots.push_back(slot);
}

// Returns space for an entry and its trailing data; the caller claims it by adding the bytes to used_.
TANDEM_INLINE char* GradientTape::Log::room_for(std::size_t bytes) {
  if (used_ + bytes > room_) [[unlikely]] {
    const std::size_t want = chunks_.empty() ? 4096 : 65536;
    const int cls = memory::class_of(bytes > want ? bytes : want);
    chunks_.make_room();
    chunks_.push_back({static_cast<char*>(memory::allocate(cls)), cls});
    used_ = 0;
    room_ = memory::class_size(cls);
  }
  return chunks_.back().data + used_;
}

namespace detail {
// Saves the data if the rule reads it; only the shape if the rule reads the shape, or if broadcasting must be
// undone, which in a trace may only be known at run time.
inline void save_input(Tensor* at, const OpDef& op, const Tensor& x, const Tensor* y) {
  const Saves s = op.saves;
  if (s == Saves::all || s == Saves::inputs) ::new (at) Tensor(x);
  else if (s == Saves::shape ||
           (op.flags.pointwise && (x.is_symbolic() || !(x.known_spec().shape == y->known_spec().shape))))
    ::new (at) Tensor(x.is_symbolic() ? x : Tensor::symbol(x.spec()));
  else ::new (at) Tensor();
}
}  // namespace detail

TANDEM_INLINE void GradientTape::Log::record(const Applied& a) {
  if (paused) return;
  if (ended.load(std::memory_order_acquire)) [[unlikely]]
    return free_entries();
  const std::size_t n_in = a.in.size(), n_out = a.out.size();
  const std::size_t at_slots = Entry::slots_at(n_in, n_out), at_attrs = Entry::attrs_at(n_in, n_out);
  const std::size_t bytes = a.attrs.empty() ? at_attrs : at_attrs + sizeof(Attrs);
  char* const place = room_for(bytes);
  int* const slots = reinterpret_cast<int*>(place + at_slots);  // written in place; kept if an input is watched
  bool any = false;
  for (std::size_t i = 0; i < n_in; ++i) any |= (slots[i] = map_.find(a.in[i]->id())) >= 0;
  if (!any) return;
  const auto inputs = static_cast<std::uint32_t>(n_in), outputs = static_cast<std::uint32_t>(n_out);
  const SourceLocation* where = context.call ? tandem::detail::CallSite::users() : nullptr;
  if (!where) where = a.options ? &a.options->where : &no_options.where;
  Entry* e = ::new (place)
      Entry{last_, &a.op, slots_, inputs, outputs & 0x7fffffff, !a.attrs.empty(), where->line, where->file};
  if (e->has_attrs) ::new (place + at_attrs) Attrs(a.attrs);
  Tensor* saved = e->saved();
  const bool keep = !a.op.flags.non_differentiable && (a.op.saves == Saves::all || a.op.saves == Saves::outputs);
  try {
    for (const Tensor* x : a.in) {
      if (a.op.flags.non_differentiable) ::new (saved) Tensor();
      else detail::save_input(saved, a.op, *x, a.out.data());
      ++saved;
    }
    for (const Tensor& y : a.out) {
      map_.insert(y.id(), slots_++);  // if it raises, slots are skipped: no other value may get them
      if (keep) ::new (saved) Tensor(y);
      else ::new (saved) Tensor();
      ++saved;
    }
    if (options_.ledger) [[unlikely]]
      note(a);
  } catch (...) {
    e->destroy(saved);
    throw;
  }
  last_ = e;
  used_ += bytes;
}

}  // namespace TANDEM_NS
