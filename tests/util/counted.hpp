// Counted: an element that counts how many of its kind are alive. Failing: one whose constructors raise. For tests of
// containers.
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

/// An element whose constructors raise when `left` others have been made.
struct Failing : Counted {
  static inline int left = -1;  // -1: never
  Failing() : Counted(checked(0)) {}
  Failing(int v) : Counted(checked(v)) {}
  Failing(const Failing& o) : Counted(checked(o.value)) {}
  Failing(Failing&&) noexcept = default;
  Failing& operator=(const Failing&) = default;

 private:
  static int checked(int v) {
    if (left == 0) throw v;
    if (left > 0) --left;
    return v;
  }
};
/// The same without a move that cannot fail, as a Module.
struct Copied : Failing {
  using Failing::Failing;
  Copied(const Copied& o) : Failing(o) {}
};
/// Runs f while the constructors fail after n others, for n from 0 until f succeeds; returns whether each time nothing
/// was left behind.
template <class F>
bool leaves_nothing(const F& f) {
  for (int n = 0;; ++n) {
    const int alive = Counted::alive;
    bool done = true;
    Failing::left = n;
    try {
      f();
    } catch (int) {
      done = false;
    }
    Failing::left = -1;
    if (Counted::alive != alive) return false;
    if (done) return n > 0;
  }
}

}  // namespace testing
