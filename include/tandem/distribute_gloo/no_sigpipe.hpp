// NoSigpipe: Gloo writes to connections that are closed, and the signal that this gives would end the process. For
// definitions only.
#pragma once
#include <csignal>
#include <ctime>

#include "tandem/config.hpp"

namespace TANDEM_NS::distribute::impl::gloo_backend {

/// Keeps SIGPIPE from this thread, and from those that it starts, until the end of the scope: writes fail by EPIPE
/// then.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigset_t pending;
    sigemptyset(&pipe_), sigaddset(&pipe_, SIGPIPE);
    ::sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;
  ~NoSigpipe() {
    const timespec at_once{};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &at_once);  // ours
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

}  // namespace TANDEM_NS::distribute::impl::gloo_backend
