// start_thread(): a thread, or the library's error. For definitions only.
#pragma once
#include <pthread.h>

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "tandem/base/error.hpp"

namespace TANDEM_NS::distribute::detail {

/// Starts a thread that runs f(), with all signals blocked.
///   throws  errors::ResourceExhaustedError in the name of `op` if the system has no thread left
template <class F>
std::thread start_thread(const char* op, F f) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's handlers belong on its own threads
  struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } restore{before};
  try {
    return std::thread(std::move(f));
  } catch (const std::system_error& e) {
    errors::raise<errors::ResourceExhaustedError>(op, std::string("cannot start a thread: ") + e.what());
  }
}

}  // namespace TANDEM_NS::distribute::detail
