// Process: one rank, as a process group of its own that does not outlive tandem_run.
#pragma once
#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/tandem_run/lines.hpp"

namespace launcher {

/// How a process ended.
struct End {
  int status = 0;  ///< what exit() got, or 128 and the signal's number
  bool by_signal = false;

  bool is_failure() const { return status != 0; }
  /// "ended with status 1", "was killed by signal 9 (Killed)".
  std::string text() const;
};

/// What a process is started with.
struct Start {
  int rank = 0;
  std::vector<std::string> command = {};
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to ours
  bool is_plain = false;                                              ///< writes to our output itself
  sigset_t signals_before = {};                                       ///< the signal mask that it gets
};

class Process {
 public:
  /// Starts the command. If tandem_run dies, even of SIGKILL, the kernel kills the process, though not those that it
  /// has started.
  ///   throws  std::runtime_error if it cannot be started
  explicit Process(const Start& start);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Kills what is left of the process group.
  ~Process();

  bool runs() const { return !end_; }
  int rank() const { return rank_; }
  const std::optional<End>& end() const { return end_; }
  /// "rank 2 (process 4711)".
  std::string name() const;
  /// Sends a signal to the process and to those that it has started.
  void send(int signal) const;
  /// Takes note of its end, if it has ended. It stays a zombie until this object is destroyed, so that its number, by
  /// which send() reaches what it has started, is not given to another process.
  ///   returns  whether it has, since the last call
  bool has_ended();
  /// Passes on part of what it has written, without waiting, and what is left when it has ended; false if our output
  /// cannot be written.
  bool pass_output();
  /// The descriptors to wait for.
  std::vector<int> outputs() const;

 private:
  struct Stream {
    int from;
    Lines to;
  };
  void drop_streams();

  int rank_;
  pid_t pid_ = -1;
  std::vector<Stream> streams_ = {};
  std::optional<End> end_ = {};
};

}  // namespace launcher
