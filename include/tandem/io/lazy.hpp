// Values that are fetched when they are needed: Lazy for one, paged_fetch for lists that a service hands out in pages.
// Part of the component tandem::io.
#pragma once
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include "tandem/base/dtype.hpp"
#include "tandem/base/error.hpp"

namespace TANDEM_NS {

/// A value that is made at its first use. Threads may use it at the same time: one makes it, the others wait.
///
///   const Lazy<std::vector<std::string>> words([] { return load_words(); });
///   use(words->size());
///
/// If making it raises, the use raises, and the next use tries again.
template <class T>
class Lazy {
 public:
  template <class F>
    requires(std::is_invocable_r_v<T, F&>)
  explicit Lazy(F make) : maker_(std::make_unique<MakerOf<F>>(std::move(make))) {}

  const T& get() const {
    // Not by std::call_once, which an exception can leave locked (GCC bug 66146).
    if (!made_.load(std::memory_order_acquire)) {
      const std::lock_guard lock(mutex_);
      if (!made_.load(std::memory_order_relaxed)) {
        value_ = std::make_unique<T>(maker_->make());
        made_.store(true, std::memory_order_release);
      }
    }
    return *value_;
  }
  const T& operator*() const { return get(); }
  const T* operator->() const { return &get(); }

 private:
  struct Maker {
    virtual ~Maker() = default;
    virtual T make() = 0;
  };
  template <class F>
  struct MakerOf : Maker {
    explicit MakerOf(F f) : fn(std::move(f)) {}
    T make() override { return fn(); }
    F fn;
  };

  std::unique_ptr<Maker> maker_;
  mutable std::mutex mutex_;
  mutable std::atomic<bool> made_ = false;
  mutable std::unique_ptr<T> value_;
};

namespace io {

/// Calls fetch(offset, page_size) for one page after the other, up to one with fewer elements, and returns the elements
/// of all.
///   fetch   returns a container with insert(), such as std::vector
///   throws  errors::InvalidArgumentError if page_size is not positive, or a page has more elements; as fetch
template <class F>
auto paged_fetch(F fetch, i64 page_size) {
  if (page_size <= 0)
    errors::raise<errors::InvalidArgumentError>("paged_fetch",
                                                "page_size must be positive, not " + std::to_string(page_size));
  std::invoke_result_t<F&, i64, i64> all;
  for (i64 count = page_size; count == page_size;) {
    auto page = fetch(static_cast<i64>(all.size()), page_size);
    count = static_cast<i64>(page.size());
    if (count > page_size)
      errors::raise<errors::InvalidArgumentError>(
          "paged_fetch", "a page has " + std::to_string(count) + " elements, more than " + std::to_string(page_size));
    all.insert(all.end(), std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()));
  }
  return all;
}

}  // namespace io
}  // namespace TANDEM_NS
