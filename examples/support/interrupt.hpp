// Handling of Ctrl-C: the first one asks a program to save and exit, a second one ends it at once.
#pragma once
#include <csignal>

namespace interrupt {

inline volatile std::sig_atomic_t received = 0;

/// Installs the handler: the first Ctrl-C sets `received`.
inline void watch() {
  std::signal(SIGINT, [](int) {
    received = 1;
    std::signal(SIGINT, SIG_DFL);
  });
}

}  // namespace interrupt
