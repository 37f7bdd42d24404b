// Counted: an element that counts how many of its kind are alive, for tests of containers.
#pragma once
#include <utility>

namespace testing {

struct Counted {
  static inline int alive = 0;
  int value = -1;
  Counted() { ++alive; }
  Counted(int v) : value(v) { ++alive; }
  Counted(const Counted& o) : value(o.value) { ++alive; }
  Counted(Counted&& o) noexcept : value(std::exchange(o.value, -2)) { ++alive; }
  Counted& operator=(const Counted&) = default;
  ~Counted() { --alive; }
};

}  // namespace testing
