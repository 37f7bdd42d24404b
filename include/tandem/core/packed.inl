// Definitions of core/packed.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/core/packed.hpp"

namespace TANDEM_NS {

TANDEM_INLINE PackedForms::Form* PackedForms::find(const PackedKey& key, std::size_t bytes) {
  Form* first = first_.load(std::memory_order_acquire);
  int count = 0;
  for (Form* f = first; f; f = f->next, ++count)
    if (f->key == key) return f;
  if (count >= most) return nullptr;
  void* const room = allocate(sizeof(Form));
  if (!room) return nullptr;
  auto* const added = ::new (room) Form{first, key, bytes};
  // Lost against another thread's addition: the next request will add it.
  if (!first_.compare_exchange_strong(first, added, std::memory_order_acq_rel)) release(room, sizeof(Form));
  return nullptr;
}
// Forms only save time: they leave memory to the program, and never fail a call.
TANDEM_INLINE void* PackedForms::allocate(std::size_t bytes) {
  const memory::Info now = memory::info();
  if (now.limit && now.live + static_cast<std::int64_t>(bytes) > now.limit / 2) return nullptr;
  try {
    return memory::Blocks::allocate(bytes);
  } catch (const errors::ResourceExhaustedError&) {
    return nullptr;
  }
}
TANDEM_INLINE void PackedForms::release(void* p, std::size_t bytes) { memory::Blocks::release(p, bytes); }
TANDEM_INLINE void* PackedForms::publish(Form& form, void* made) {
  void* other = nullptr;
  if (form.data.compare_exchange_strong(other, made, std::memory_order_acq_rel)) return made;
  release(made, form.bytes);
  return other;
}
TANDEM_INLINE void PackedForms::clear() {
  Form* f = first_.exchange(nullptr, std::memory_order_acquire);
  while (f) {
    Form* const next = f->next;
    if (void* data = f->data.load(std::memory_order_relaxed)) release(data, f->bytes);
    release(f, sizeof(Form));
    f = next;
  }
}

}  // namespace TANDEM_NS
