// Ctrl-C asks a program to save and end; a second one ends it at once.
#pragma once
#include <csignal>

namespace interrupt {

inline volatile std::sig_atomic_t received = 0;

/// From now on the first Ctrl-C sets `received`.
inline void watch() {
  std::signal(SIGINT, [](int) {
    received = 1;
    std::signal(SIGINT, SIG_DFL);
  });
}

}  // namespace interrupt
