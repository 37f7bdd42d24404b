// Signals: those that tandem_run gets, as values to read.
#pragma once
#include <csignal>

namespace launcher {

/// Holds back SIGCHLD, SIGINT, SIGTERM, SIGHUP and SIGUSR1, which take() returns, from the thread that makes it and
/// from those that this thread starts; SIGHUP not if it is ignored, as by nohup. SIGPIPE is ignored.
class Signals {
 public:
  ///   throws  std::runtime_error if no descriptor is left
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  /// Readable when a signal has come.
  int descriptor() const { return fd_; }
  /// The next signal that has come, SIGCHLD too; 0: none.
  int take();
  /// The mask before, without these signals: for the processes.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_ = {};
  int fd_ = -1;
};

}  // namespace launcher
