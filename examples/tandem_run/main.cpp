// Starts the processes of a distributed training, watches them, and starts them again when one dies.
//   tandem_run -n 4 --max-restarts 3 -- ./train --data corpus.txt
//   tandem_run -n 8 --nnodes 2 --node-rank 0 --rendezvous node0:29500 -- ./train    and --node-rank 1 on the other
//   tandem_run -n 4 --min-processes 2 --max-replacements 10 -- ./train
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cstring>

#include "examples/support/arguments.hpp"
#include "examples/support/program.hpp"
#include "examples/tandem_run/group.hpp"
#include "examples/tandem_run/nodes.hpp"
#include "examples/tandem_run/options.hpp"
#include "examples/tandem_run/signals.hpp"

namespace {

using launcher::Options;

void add_options(CLI::App& app, Options& o) {
  app.add_option("-n,--processes", o.processes, "processes on this machine")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  arguments::add(app, "--max-restarts", o.max_restarts, 0, "how often all are started again after one has failed");
  arguments::add(app, "--min-processes", o.min_processes, 0,
                 "let the others go on while so many run; 0: stop all with the first that fails");
  arguments::add(
      app, "--max-replacements", o.max_replacements, 0,
      "with --min-processes: how often a process of this machine is started in the place of one that failed");
  app.add_flag("--join", o.joins, "the processes join those that the tandem_run at --rendezvous has started");
  arguments::add(app, "--nnodes", o.nodes, 1, "machines, with a tandem_run each");
  arguments::add(app, "--node-rank", o.node, 0, "the number of this one, from 0");
  app.add_option("--rendezvous", o.rendezvous,
                 "where they meet: HOST:PORT of node 0, or a folder that all can write to");
  app.add_option("--timeout", o.timeout, "seconds that machines wait for each other at a start")
      ->check(arguments::positive_number())
      ->capture_default_str();
  app.add_option("--silence", o.silence, "seconds after which a machine that says nothing counts as lost, on node 0")
      ->check(arguments::number_in(1, 1e9))  // machines speak every 0.2 s
      ->capture_default_str();
  app.add_option("--grace", o.grace, "seconds from SIGTERM to SIGKILL")
      ->check(arguments::positive_number())
      ->capture_default_str();
  app.add_flag("--rank-0-plain", o.rank_0_plain, "no rank before the lines of rank 0");
  app.prefix_command();
  app.footer(
      "The command and its arguments come last, behind --. Each process gets RANK, WORLD_SIZE, LOCAL_RANK, "
      "LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR, MASTER_PORT, TANDEM_STORE, TANDEM_RESTART_COUNT, "
      "TANDEM_NUM_THREADS, with --rendezvous TANDEM_JOINABLE and, if it is to join others, TANDEM_JOIN. "
      "SIGINT, SIGTERM, SIGHUP and SIGUSR1 are passed on.");
}

// The command behind the options, and what is wrong with both together.
void complete(CLI::App& app, Options& o) {
  o.command = app.remaining();
  if (!o.command.empty() && o.command[0] == "--") o.command.erase(o.command.begin());
  else if (!o.command.empty() && o.command[0].starts_with('-')) throw CLI::ExtrasError({o.command[0]});
  if (o.command.empty()) throw CLI::RequiredError("a command behind --");
  if (o.node >= o.nodes)
    throw CLI::ValidationError("--node-rank", fmt::format("{} is not less than --nnodes {}", o.node, o.nodes));
  if (o.min_processes > o.world_size())
    throw CLI::ValidationError("--min-processes",
                               fmt::format("{} is more than the {} processes", o.min_processes, o.world_size()));
  if (o.max_replacements > 0 && o.min_processes == 0)
    throw CLI::ValidationError("--max-replacements", "it needs --min-processes: otherwise all are stopped");
  if (o.joins && (o.nodes > 1 || o.min_processes > 0 || o.max_restarts > 0))
    throw CLI::ValidationError("--join", "--nnodes, --min-processes and --max-restarts are those of the others");
  if (o.nodes > 1 && o.rendezvous.empty()) throw CLI::RequiredError("--rendezvous, with --nnodes,");
  if (o.joins && o.rendezvous.empty()) throw CLI::RequiredError("--rendezvous, with --join,");
}

// Waits for the other nodes. A signal that comes meanwhile ends them, too.
launcher::Nodes::Meeting meet(const Options& o, launcher::Nodes& nodes, int attempt) {
  try {
    return nodes.meet(attempt);
  } catch (const launcher::Interrupted& e) {
    if (e.is_elsewhere) throw;
    fmt::print(stderr, "tandem_run: signal {} ({}){}\n", e.signal, ::strsignal(e.signal),
               o.joins ? "" : "; telling the other nodes");
    try {
      nodes.report_signal(e.signal);
      nodes.leave();
    } catch (const tandem::errors::UnavailableError& error) {
      fmt::print(stderr, "tandem_run: the other nodes cannot be told: {}\n", error.message());
    }
    throw;
  }
}

int launch(const Options& o) {
  launcher::Signals signals;
  launcher::Nodes nodes(o, [&] {
    const int signal = signals.take();
    if (signal && signal != SIGCHLD && signal != SIGUSR1) throw launcher::Interrupted{signal};
  });
  for (int attempt = 0;; ++attempt) {
    const auto [met, port] = meet(o, nodes, attempt);
    attempt = met;
    const launcher::Outcome outcome = launcher::Group(o, nodes, signals, attempt, port).run();
    if (outcome.status == 0 || outcome.was_interrupted || attempt >= o.max_restarts) {
      nodes.leave();
      return outcome.status;
    }
    fmt::print(stderr, "tandem_run: restart {} of {}\n", attempt + 1, o.max_restarts);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("tandem_run: starts, watches and restarts the processes of a distributed training");
  add_options(app, options);
  app.callback([&] { complete(app, options); });
  return program::run("tandem_run", app, argc, argv, [&] {
    try {
      return launch(options);
    } catch (const launcher::Interrupted& e) {
      return 128 + e.signal;
    }
  });
}
