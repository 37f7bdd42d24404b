// Options: the command line of tandem_run.
#pragma once
#include <string>
#include <vector>

namespace launcher {

struct Options {
  int processes = 1;  ///< on this machine
  int max_restarts = 0;
  int min_processes = 0;     ///< with how many, of all machines, the others go on when one has failed; 0: they do not
  int max_replacements = 0;  ///< how many that failed have another one started in their place, in each start
  int nodes = 1, node = 0;
  bool joins = false;           ///< the processes join those that run already, started by others
  std::string rendezvous = {};  ///< host:port, or a folder that all machines see
  double timeout = 300;         ///< seconds that machines wait for each other
  double silence = 10;          ///< seconds after which a machine that says nothing counts as lost
  double grace = 10;            ///< seconds from SIGTERM to SIGKILL
  bool rank_0_plain = false;    ///< rank 0 writes straight to the output of tandem_run
  std::vector<std::string> command = {};

  /// Whether there are others to agree with.
  bool is_alone() const { return nodes == 1 && rendezvous.empty(); }
  int world_size() const { return nodes * processes; }
  int rank_of(int local) const { return node * processes + local; }
};

}  // namespace launcher
