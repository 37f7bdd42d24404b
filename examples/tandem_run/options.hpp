// Options: the command line of tandem_run.
#pragma once
#include <string>
#include <vector>

namespace launcher {

struct Options {
  int processes = 1;  ///< on this machine
  int max_restarts = 0;
  int min_processes = 0;  ///< with how many the others go on when one has failed; 0: they do not
  int nodes = 1, node = 0;
  std::string rendezvous = {};  ///< host:port, or a folder that all machines see
  double timeout = 300;         ///< seconds that machines wait for each other
  double grace = 10;            ///< seconds from SIGTERM to SIGKILL
  bool rank_0_plain = false;    ///< rank 0 writes straight to the output of tandem_run
  std::vector<std::string> command = {};

  int world_size() const { return nodes * processes; }
  int rank_of(int local) const { return node * processes + local; }
};

}  // namespace launcher
