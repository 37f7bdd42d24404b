// Ref<T>: an intrusive pointer. Opaque: the reference-counted base class of attributes that are not printed or saved
// field by field: graphs, closures, fused programs.
#pragma once
#include <atomic>
#include <cstdint>
#include <utility>

#include "tandem/config.hpp"

namespace TANDEM_NS {

class TANDEM_API Opaque {
 public:
  Opaque() = default;
  Opaque(const Opaque&) = delete;
  Opaque& operator=(const Opaque&) = delete;
  virtual ~Opaque() = default;
  /// The kind of object, for error texts: "closure", "graph".
  virtual const char* kind() const = 0;

  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(this);
  }
  /// The current number of references.
  std::uint32_t refs() const { return refs_.load(std::memory_order_acquire); }

 private:
  TANDEM_NO_DEVIRTUALIZE static void destroy(Opaque* o) { delete o; }

  std::atomic<std::uint32_t> refs_{0};
};

/// T must have retain() and release().
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) noexcept : p_(p) {
    if (p_) p_->retain();
  }
  Ref(const Ref& o) noexcept : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) p_->release();
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_; }
  friend bool operator==(const Ref&, const Ref&) = default;

 private:
  T* p_ = nullptr;
};

template <class T, class... A>
Ref<T> make_ref(A&&... a) {
  return Ref<T>(new T(std::forward<A>(a)...));
}

}  // namespace TANDEM_NS
