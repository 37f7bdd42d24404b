#include "examples/tandem_run/group.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace launcher {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

void say(const std::string& text) { write_all(2, "tandem_run: " + text + "\n"); }

}  // namespace

Start Group::start_of(int local, int rank) const {
  Start s{.rank = rank, .command = options_.command, .is_plain = rank == 0 && options_.rank_0_plain};
  s.signals_before = signals_.before();
  s.environment = {{"RANK", std::to_string(rank)},
                   {"WORLD_SIZE", std::to_string(options_.world_size())},
                   {"LOCAL_RANK", std::to_string(local)},
                   {"LOCAL_WORLD_SIZE", std::to_string(options_.processes)},
                   {"GROUP_RANK", std::to_string(options_.node)},
                   {"MASTER_ADDR", nodes_.store().host},
                   {"MASTER_PORT", std::to_string(port_)},
                   {"TANDEM_STORE", nodes_.store().text()},
                   {"TANDEM_RESTART_COUNT", std::to_string(attempt_)}};
  if (!options_.is_alone()) s.environment.emplace_back("TANDEM_JOINABLE", "1");
  if (!std::getenv("TANDEM_NUM_THREADS"))
    s.environment.emplace_back("TANDEM_NUM_THREADS", std::to_string(std::max(1, cores() / options_.processes)));
  return s;
}
// Its number is behind those of all others.
Start Group::newcomer(int local) const {
  const int number = nodes_.next_number(attempt_);
  Start s = start_of(local, number);
  for (auto& [name, value] : s.environment)
    if (name == "WORLD_SIZE") value = std::to_string(number + 1);
  s.environment.emplace_back("TANDEM_JOIN", "1");
  return s;
}

Group::Group(const Options& options, Nodes& nodes, Signals& signals, int attempt, int port)
    : options_(options), nodes_(nodes), signals_(signals), attempt_(attempt), port_(port) {
  for (int i = 0; i < options_.processes; ++i)
    start(options_.joins ? newcomer(i) : start_of(i, options_.rank_of(i)), i);
  if (options_.joins) counts();
}
void Group::start(const Start& s, int local) {
  processes_.push_back(std::make_unique<Process>(s));
  places_.push_back(local);
}

Outcome Group::run() {
  while (!is_over()) {
    wait_for_events();
    take_signals();
    reap();
    pass_output();
    look_at_nodes();
    stop_those_left_out();
    kill_late_ones();
  }
  if (options_.joins) counts();  // the last ones
  return outcome_;
}

bool Group::is_over() {
  for (const auto& p : processes_)
    if (p->runs()) return false;
  if (has_failed_ || outcome_.was_interrupted) return true;
  if (!has_succeeded_) nodes_.report_success(attempt_), has_succeeded_ = true;
  return nodes_.all_succeeded(attempt_);
}

void Group::wait_for_events() {
  std::vector<pollfd> polled{{signals_.descriptor(), POLLIN, 0}};
  for (const auto& p : processes_)
    for (const int fd : p->outputs()) polled.push_back({fd, POLLIN, 0});
  ::poll(polled.data(), static_cast<nfds_t>(polled.size()), 100);
}

void Group::take_signals() {
  for (int signal = 0; (signal = signals_.take()) != 0;) {
    if (signal == SIGCHLD) continue;
    if (signal != SIGUSR1 && !outcome_.was_interrupted) tell([&] { nodes_.report_signal(signal); });
    pass_on(signal);
  }
}

void Group::pass_on(int signal) {
  for (const auto& p : processes_)
    if (p->runs()) p->send(signal);
  if (signal == SIGUSR1) return;
  if (outcome_.was_interrupted) kill_at_ = now();  // the second one
  outcome_.was_interrupted = true;
  if (!kill_at_) kill_at_ = now() + options_.grace;
}

void Group::tell(const std::function<void()>& report) {
  try {
    report();
  } catch (const tandem::errors::UnavailableError& e) {
    say("the other nodes cannot be told: " + e.message());
  }
}

void Group::reap() {
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    const Process& p = *processes_[i];
    if (!processes_[i]->has_ended() || !p.end()->is_failure() || has_failed_ || rest_is_stopped_) continue;
    const std::string text = p.name() + " " + p.end()->text();
    if (options_.joins) {
      say(text);
      outcome_.status = p.end()->status;
      counts();
    } else if (can_go_on()) {
      const Nodes::Counts all = counts();
      if (all.well == all.ended) say(text + "; the others have ended");
      else say(fmt::format("{}; {} processes go on", text, all.well - all.ended));
      if (all.ended == 0) replace(places_[i]);
    } else {
      fail({p.end()->status, text}, true);
    }
  }
}
// Starts another process in the place of one that has failed; it joins the others.
void Group::replace(int local) {
  if (replacements_ >= options_.max_replacements) return;
  ++replacements_;
  start(newcomer(local), local);
  say(fmt::format("{} is to join them ({} of {})", processes_.back()->name(), replacements_,
                  options_.max_replacements));
}

int Group::running() const {
  return static_cast<int>(std::count_if(processes_.begin(), processes_.end(), [](const auto& p) { return p->runs(); }));
}

// Those that have ended well are not lost. Those that joined others, and end by a signal, leave them.
bool Group::can_go_on() {
  return options_.min_processes > 0 && !outcome_.was_interrupted && counts().well >= options_.min_processes;
}
Nodes::Counts Group::counts() {
  Nodes::Counts own;
  const bool leaves = options_.joins && outcome_.was_interrupted;
  for (const auto& p : processes_) {
    const bool has_ended_well = !p->runs() && !p->end()->is_failure() && !leaves;
    own.well += p->runs() || has_ended_well, own.ended += has_ended_well;
  }
  try {
    return nodes_.of_all(attempt_, own);
  } catch (const tandem::errors::UnavailableError&) {  // node 0 is gone, which is a failure
    return {};
  }
}

void Group::stop_those_left_out() {
  if (options_.min_processes == 0 || has_failed_ || outcome_.was_interrupted || rest_is_stopped_) return;
  if (now() < next_question_) return;
  next_question_ = now() + 0.2;
  const int ended = counts().ended;
  if (running() == 0 || ended < options_.min_processes) return;
  const std::vector<int> left = nodes_.going_on(attempt_);
  const auto belongs = [&](int rank) {  // those that were there first do so until others have gone on without them
    return left.empty() ? rank < options_.world_size() : std::count(left.begin(), left.end(), rank) > 0;
  };
  for (const auto& p : processes_)
    if (p->runs() && belongs(p->rank())) return;
  rest_is_stopped_ = true;
  for (const auto& p : processes_)
    if (p->runs()) say(p->name() + " was left out, and the others have ended; stopping it");
  stop();
}

void Group::fail(const Failure& failure, bool is_ours) {
  has_failed_ = true;
  outcome_.status = failure.status;
  say(failure.text + (outcome_.was_interrupted ? "" : "; stopping the others"));
  if (is_ours)
    tell([&] {
      nodes_.report(attempt_, {failure.status, failure.text + " on node " + std::to_string(options_.node)});
    });
  if (!outcome_.was_interrupted) stop();  // otherwise all have got the signal, and save what they have
}

void Group::stop() {
  for (const auto& p : processes_) p->send(SIGTERM);
  if (!kill_at_) kill_at_ = now() + options_.grace;
}

void Group::kill_late_ones() {
  if (!kill_at_ || now() < *kill_at_) return;
  for (const auto& p : processes_) {
    if (!p->runs()) continue;
    say(p->name() + " has not ended in time; killing it");
    p->send(SIGKILL);
  }
  kill_at_ = now() + 1e9;
}

void Group::pass_output() {
  for (const auto& p : processes_) can_write_ = p->pass_output() && can_write_;
  if (!can_write_ && !has_failed_) fail({1, "the output could not be written"}, true);
}

void Group::look_at_nodes() {
  if (has_failed_ || outcome_.was_interrupted || now() < next_look_) return;
  next_look_ = now() + 0.2;
  if (options_.joins) counts();  // who has ended well
  const std::optional<Failure> f = nodes_.failure(attempt_);
  if (!f) return;
  if (!f->signal) return fail(*f, false);
  say(f->text + "; passing it on");
  outcome_.status = f->status;
  pass_on(f->signal);
}

}  // namespace launcher
