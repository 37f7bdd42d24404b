// Child processes of the driver: workers that answer over a pipe, and commands whose time and memory are measured.
// Not here: the requests.
#pragma once
#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

namespace bench::driver {

/// A worker process. It is stopped (SIGSTOP) whenever it is not answering, so that it does not take a core from its
/// competitor.
class Worker {
 public:
  /// Starts `path --serve --threads=N`; throws std::runtime_error if it cannot.
  Worker(const std::string& path, int threads);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Sends one line and returns what follows "ok " in the answer; throws std::runtime_error on "error ..." or a dead
  /// worker.
  std::string ask(const std::string& request);
  bool alive() const { return alive_; }

  /// Pins each of its busiest threads, as many as it was told to use, to a separate processor. Threads that wake
  /// together from a stop may share a processor, and they stay there while other work keeps the remaining processors
  /// busy.
  void spread_threads() const;
  /// Restricts the process to as many processors as it has threads, with all threads and processes that it starts from
  /// now on: for work that starts its own.
  void keep_to_processors() const;

 private:
  std::string path_;
  int threads_;
  pid_t pid_ = -1;
  std::FILE* requests_ = nullptr;
  std::FILE* answers_ = nullptr;
  bool alive_ = true;
};

struct Cost {
  double seconds = 0;
  double megabytes = 0;  // largest resident set of the command and its children
};

/// Runs a command without a shell, its output discarded; throws std::runtime_error if it fails.
Cost run_command(const std::vector<std::string>& words);
}  // namespace bench::driver
