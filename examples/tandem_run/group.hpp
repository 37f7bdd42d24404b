// Group: the processes of this machine, from their start until none of them is left.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "examples/tandem_run/nodes.hpp"
#include "examples/tandem_run/options.hpp"
#include "examples/tandem_run/process.hpp"
#include "examples/tandem_run/signals.hpp"

namespace launcher {

/// How an attempt ended.
struct Outcome {
  int status = 0;                ///< of the process that failed first; 0: all have ended well
  bool was_interrupted = false;  ///< by a signal to tandem_run: there is no restart
};

class Group {
 public:
  /// Starts all processes.
  ///   throws  std::runtime_error if one cannot be started
  Group(const Options& options, Nodes& nodes, Signals& signals, int attempt, int port);
  /// Watches them until all have ended. When one fails, here or on another machine, the others get SIGTERM, and SIGKILL
  /// when the time of grace has passed. With --min-processes so do those that the others have gone on without, when the
  /// others have ended well.
  Outcome run();

 private:
  Start start_of(int local, int rank) const;
  Start newcomer(int local) const;
  void start(const Start& s, int local);
  void replace(int local);
  void wait_for_events();
  void take_signals();
  void pass_on(int signal);
  void tell(const std::function<void()>& report);
  void reap();
  void fail(const Failure& failure, bool is_ours);
  void stop();
  void kill_late_ones();
  void pass_output();
  void look_at_nodes();
  void stop_those_left_out();
  bool is_over();
  int running() const;
  bool can_go_on();
  Nodes::Counts counts();

  const Options& options_;
  Nodes& nodes_;
  Signals& signals_;
  const int attempt_, port_;
  std::vector<std::unique_ptr<Process>> processes_ = {};
  std::vector<int> places_ = {};  // of the processes: their numbers on this machine, which replacements take over
  int replacements_ = 0;
  std::optional<double> kill_at_ = {};  // seconds of the monotonic clock
  double next_look_ = 0, next_question_ = 0;
  bool has_failed_ = false, has_succeeded_ = false, can_write_ = true;
  bool rest_is_stopped_ = false;  // those that have gone on have ended well, and the others get SIGTERM
  Outcome outcome_ = {};
};

}  // namespace launcher
