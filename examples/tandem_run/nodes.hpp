// Nodes: the instances of tandem_run on several machines, which start, restart and end their processes together.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tandem/distribute.hpp>

#include "examples/tandem_run/options.hpp"

namespace launcher {

/// A process that failed, on this machine or another one.
struct Failure {
  int status = 1;
  std::string text = {};
  int signal = 0;  ///< that the tandem_run of another machine has got, which ends all of them; 0: none
};
/// Ends a wait for others: a signal that has come, here or on another machine.
struct Interrupted {
  int signal;
  bool is_elsewhere = false;
};

/// The table by which they agree. Node 0 keeps it; the processes meet there, too, if they use Gloo.
class Nodes {
 public:
  /// Opens the table, or connects to it.
  ///   check   is called while others are waited for, and may throw to stop that
  ///   throws  errors::UnavailableError if node 0 cannot be reached within the timeout, or the port is in use
  Nodes(const Options& options, std::function<void()> check);
  ~Nodes();

  struct Meeting {
    int attempt = 0;
    int port = 0;  ///< of rank 0: the MASTER_PORT of the processes
  };
  /// Waits until all machines have come to this attempt, or to a later one, which a tandem_run that was started again
  /// finds the others at. If they run already, it makes them start again.
  ///   throws  errors::UnavailableError if one does not come within the timeout; Interrupted if a signal has ended the
  ///           processes of another machine
  Meeting meet(int attempt);
  const tandem::distribute::Endpoint& store() const { return place_; }
  /// A number for a process that is started later than the others; no other one has it.
  int next_number(int attempt) const;

  /// Tells the others. What happens to processes that join those of others is not told: the others go on without them.
  void report(int attempt, const Failure& failure);
  void report_signal(int signal);
  void report_success(int attempt);
  /// What has failed on another machine, or which signal it has got; one that has said nothing for --silence
  /// seconds has failed. A store that is gone is a failure of node 0.
  std::optional<Failure> failure(int attempt);
  /// The ranks that have gone on without others, by Communicator::rebuild(); empty if none have.
  std::vector<int> going_on(int attempt) const;
  /// Whether the processes of all machines have ended well, but for machines that the others have gone on without.
  bool all_succeeded(int attempt);
  /// Processes that run or have ended well, and of these, those that have ended.
  struct Counts {
    int well = 0, ended = 0;
  };
  /// Tells the others this machine's, and returns those of all machines.
  Counts of_all(int attempt, const Counts& own);
  /// At the end: node 0 keeps the table until the others have read how it ended, ten seconds at most.
  void leave();

 private:
  std::string key(int attempt, const char* what) const;
  std::string own_name() const;
  bool keeps_table() const { return options_.node == 0 && !options_.joins; }
  void find_place();
  Meeting join();
  void wait(double seconds);
  void say_alive();
  int newest_attempt(int attempt);
  std::optional<Failure> silent_node(int attempt);
  std::optional<Failure> silent_joined_node(int attempt);
  bool is_left_out(int attempt, const std::string& name, const Failure& f);
  Counts sum(int attempt);
  bool have_left();
  std::optional<Failure> signal_elsewhere();

  const Options& options_;
  std::function<void()> check_;
  std::unique_ptr<tandem::distribute::TcpStoreServer> server_ = {};
  std::optional<tandem::distribute::TcpStore> store_ = {};
  tandem::distribute::Endpoint place_ = {};
  std::chrono::steady_clock::time_point met_ = {};
  int number_ = 0;                          // among those that have joined
  int joined_at_ = 0;                       // the attempt, if it has
  std::string told_ = {};                   // the counts that the others have
  std::vector<std::string> left_out_ = {};  // machines that the others have gone on without, as node 0 knows
  std::string file_ = {};                   // in the folder of the rendezvous, on node 0
};

}  // namespace launcher
