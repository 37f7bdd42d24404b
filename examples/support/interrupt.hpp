// Ctrl-C: while a loop looks for it, the first one ends the loop, so that a program can save; a second one, and one at
// any other time, ends the program at once.
#pragma once
#include <csignal>
#include <cstdint>

namespace interrupt {

inline volatile std::sig_atomic_t received = 0;

/// As long as it lives, Ctrl-C sets `received`. For loops that look at it; steps() has one.
class Watch {
 public:
  Watch()
      : before_(std::signal(SIGINT, [](int) {
          received = 1;
          std::signal(SIGINT, SIG_DFL);
        })) {}
  ~Watch() { std::signal(SIGINT, before_); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  void (*before_)(int);
};

/// The numbers from `first` up to `last` - 1, for a loop that Ctrl-C ends after the step that it is in:
///   for (const i64 i : interrupt::steps(0, 1000)) step();
class Steps {
 public:
  struct End {
    std::int64_t last;
  };
  struct Iterator {
    std::int64_t at;
    std::int64_t operator*() const { return at; }
    Iterator& operator++() { return ++at, *this; }
    bool operator!=(End end) const { return at < end.last && !received; }
  };
  Steps(std::int64_t first, std::int64_t last) : first_(first), last_(last) {}
  Iterator begin() const { return {first_}; }
  End end() const { return {last_}; }

 private:
  Watch watch_;
  std::int64_t first_, last_;
};
inline Steps steps(std::int64_t first, std::int64_t last) { return {first, last}; }

}  // namespace interrupt
