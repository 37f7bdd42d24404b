#include "examples/tandem_run/nodes.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <tandem/distribute.hpp>

namespace launcher {

namespace {

using tandem::distribute::Endpoint;
using tandem::distribute::TcpStore;
using tandem::distribute::TcpStoreServer;
using Clock = std::chrono::steady_clock;

constexpr double patience = 10;  // seconds, with the table and with those that read it at the end

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] ? name : "localhost";
}
bool is_folder(const std::string& rendezvous) {
  return rendezvous.find('/') != std::string::npos || std::filesystem::is_directory(rendezvous);
}
// A port that nobody listens at. Another program may take it before rank 0 does; rank 0 then fails, and is restarted.
int free_port() { return TcpStoreServer().port(); }

double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

}  // namespace

Nodes::Nodes(const Options& options, std::function<void()> check) : options_(options), check_(std::move(check)) {
  find_place();
  if (options_.is_alone()) return;
  const Clock::time_point begin = Clock::now();
  for (;;) {
    try {
      store_.emplace(place_, 1);
      break;
    } catch (const tandem::errors::UnavailableError&) {
      if (seconds_since(begin) > options_.timeout)
        throw tandem::errors::UnavailableError(
            "--rendezvous", fmt::format("node 0 cannot be reached at {} within {} s", place_.text(), options_.timeout));
      wait(0.1);
      if (is_folder(options_.rendezvous) && !keeps_table()) find_place();  // the file may have been an old one
    }
  }
  store_->set_timeout(patience);
  if (options_.joins) number_ = static_cast<int>(store_->add("launch/joined", 1));
}

Nodes::~Nodes() {
  if (file_.empty()) return;
  std::error_code ignored;  // a file that is left is overwritten by the next run
  std::filesystem::remove(file_, ignored);
}

// Where the table is. Node 0 opens it there.
void Nodes::find_place() {
  if (options_.is_alone()) {
    server_ = std::make_unique<TcpStoreServer>("127.0.0.1");
    place_.port = server_->port();
    return;
  }
  const bool by_file = is_folder(options_.rendezvous);
  if (!by_file) place_ = Endpoint::parse("--rendezvous", options_.rendezvous);
  if (keeps_table()) {
    if (by_file && !std::filesystem::is_directory(options_.rendezvous))
      throw tandem::errors::UnavailableError("--rendezvous", options_.rendezvous + " is not a folder");
    server_ = std::make_unique<TcpStoreServer>("", place_.port);
    if (!by_file) return;
    place_ = {host_name(), server_->port()};
    const std::string path = options_.rendezvous + "/tandem_run.store";
    std::error_code error;
    if (!(std::ofstream(path + ".new") << place_.text() << std::endl)) error.assign(errno, std::generic_category());
    else std::filesystem::rename(path + ".new", path, error);
    if (error)
      throw tandem::errors::UnavailableError("--rendezvous", fmt::format("cannot write {}: {}", path, error.message()));
    file_ = path;
    return;
  }
  if (!by_file) return;
  const Clock::time_point begin = Clock::now();
  for (std::string text;; wait(0.1)) {
    if (std::ifstream(options_.rendezvous + "/tandem_run.store") >> text) {
      place_ = Endpoint::parse("--rendezvous", text);
      return;
    }
    if (seconds_since(begin) > options_.timeout)
      throw tandem::errors::UnavailableError("--rendezvous", fmt::format("node 0 has written no file in {} within {} s",
                                                                         options_.rendezvous, options_.timeout));
  }
}

void Nodes::wait(double seconds) {
  check_();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::string Nodes::key(int attempt, const char* what) const { return fmt::format("launch/{}/{}", attempt, what); }

// Of this machine in the table.
std::string Nodes::own_name() const {
  return options_.joins ? fmt::format("joined{}", number_) : std::to_string(options_.node);
}

// One that has joined does so for the attempt that it belongs to.
void Nodes::say_alive() {
  store_->set((options_.joins ? key(joined_at_, "alive/") : "launch/alive/") + own_name(), host_name());
}

int Nodes::next_number(int attempt) const {
  TcpStore store(place_, patience);
  int size = options_.world_size();
  if (options_.joins) {
    const std::string text = store.find("launch/world_size").value_or("1");
    std::from_chars(text.data(), text.data() + text.size(), size);
  }
  return size - 1 + static_cast<int>(store.add(key(attempt, "later"), 1));
}

// The attempt that the others are at: later than ours if this machine was started again.
int Nodes::newest_attempt(int attempt) {
  if (keeps_table()) {
    store_->set("launch/attempt", std::to_string(attempt));
    return attempt;
  }
  const std::string text = store_->find("launch/attempt").value_or("0");
  int newest = 0;
  std::from_chars(text.data(), text.data() + text.size(), newest);
  return std::max(attempt, newest);
}

Nodes::Meeting Nodes::meet(int attempt) {
  if (!store_) return {attempt, free_port()};
  if (keeps_table()) {
    store_->set(key(attempt, "port"), std::to_string(free_port()));
    store_->set("launch/world_size", std::to_string(options_.world_size()));
  }
  if (options_.joins) return join();
  const Clock::time_point begin = Clock::now();
  int came_to = -1;  // the attempt at whose meeting we are
  std::size_t arrived = 0;
  for (;; wait(0.05)) {
    say_alive();
    if (const std::optional<Failure> f = signal_elsewhere()) {
      fmt::print(stderr, "tandem_run: {}; stopping\n", f->text);
      leave();
      throw Interrupted{f->signal, true};
    }
    attempt = newest_attempt(attempt);
    const std::string folder = key(attempt, "arrived/"), own = folder + std::to_string(options_.node);
    if (came_to != attempt) {
      // One that came before us under our number is no more. If the others run with it, they have to start again.
      if (store_->find(own) && store_->list(folder).size() == static_cast<std::size_t>(options_.nodes)) {
        report(attempt, {1, fmt::format("node {} ({}) was started again", options_.node, host_name())});
      } else {
        of_all(attempt, {options_.processes, 0});
        store_->set(own, host_name());
        came_to = attempt;
      }
    }
    arrived = store_->list(folder).size();
    if (came_to == attempt && arrived == static_cast<std::size_t>(options_.nodes)) break;
    if (seconds_since(begin) > options_.timeout)
      throw tandem::errors::UnavailableError(
          "--nnodes", fmt::format("{} of {} nodes have come within {} s", arrived, options_.nodes, options_.timeout));
  }
  met_ = Clock::now();
  const std::string port = store_->get(key(attempt, "port"), options_.timeout);
  int number = 0;
  std::from_chars(port.data(), port.data() + port.size(), number);
  return {attempt, number};
}

// Waits until the processes of the others have come together.
Nodes::Meeting Nodes::join() {
  const std::string name = store_->get("launch/attempt", options_.timeout);
  int attempt = 0;
  std::from_chars(name.data(), name.data() + name.size(), attempt);
  met_ = Clock::now();
  joined_at_ = attempt;
  say_alive();
  return {attempt, place_.port};
}

void Nodes::report(int attempt, const Failure& f) {
  if (!store_ || options_.joins || store_->add(key(attempt, "failures"), 1) != 1) return;  // the first one counts
  store_->set(key(attempt, "failed"), fmt::format("{} {}", f.status, f.text));
}
void Nodes::report_signal(int signal) {
  if (store_ && !options_.joins) store_->set("launch/signal", fmt::format("{} {}", signal, options_.node));
}
void Nodes::report_success(int attempt) {
  if (store_ && !options_.joins) store_->set(key(attempt, "succeeded/") + own_name(), "1");
}

// Leaves a machine out that is silent. Returns whether the others go on, if enough processes run.
bool Nodes::is_left_out(int attempt, const std::string& name, const Failure& f) {
  store_->set(key(attempt, "gone/") + name, "1");
  left_out_.push_back(name);
  store_->set(key(attempt, "counts/") + name, "0 0");
  if (sum(attempt).well < options_.min_processes) return false;
  fmt::print(stderr, "tandem_run: {}; the others go on\n", f.text);
  return true;
}
// With --min-processes the others go on without it. One whose processes have ended well is not missed.
std::optional<Failure> Nodes::silent_node(int attempt) {
  for (const TcpStore::Entry& e : store_->list("launch/alive/")) {
    const std::string name = e.key.substr(13);
    const double silence = std::min(e.age, seconds_since(met_));
    if (silence <= options_.silence || store_->find(key(attempt, "gone/") + name)) continue;
    if (store_->find(key(attempt, "succeeded/") + name)) continue;
    const Failure f{1, fmt::format("node {} ({}) has not been heard of for {:.0f} s", name, e.value, silence)};
    if (options_.min_processes == 0 || !is_left_out(attempt, name, f)) return f;
  }
  return silent_joined_node(attempt);
}
// The others go on without one that has joined them, with or without --min-processes.
std::optional<Failure> Nodes::silent_joined_node(int attempt) {
  const std::string folder = key(attempt, "alive/");
  for (const TcpStore::Entry& e : store_->list(folder)) {
    const std::string name = e.key.substr(folder.size());
    if (e.value.empty() || e.age <= options_.silence || store_->find(key(attempt, "gone/") + name))
      continue;  // or it left
    const Failure f{1, fmt::format("node {} ({}) has not been heard of for {:.0f} s", name, e.value, e.age)};
    if (!is_left_out(attempt, name, f)) return f;
  }
  return {};
}

Nodes::Counts Nodes::sum(int attempt) {
  Counts all;
  for (const TcpStore::Entry& e : store_->list(key(attempt, "counts/"))) {
    std::istringstream text(e.value);
    int well = 0, ended = 0;
    if (text >> well >> ended) all.well += well, all.ended += ended;
  }
  return all;
}
Nodes::Counts Nodes::of_all(int attempt, const Counts& own) {
  if (!store_) return own;
  const std::string text = fmt::format("{} {} {}", own.well, own.ended, attempt);
  if (text != told_) store_->set(key(attempt, "counts/") + own_name(), text);
  told_ = text;
  return sum(attempt);
}

std::optional<Failure> Nodes::signal_elsewhere() {
  const std::optional<std::string> text = store_->find("launch/signal");
  if (!text) return {};
  Failure f;
  const std::size_t space = text->find(' ');
  std::from_chars(text->data(), text->data() + space, f.signal);
  f.status = 128 + f.signal;
  f.text = fmt::format("node {} has got signal {} ({})", text->substr(space + 1), f.signal, ::strsignal(f.signal));
  return f;
}

std::optional<Failure> Nodes::failure(int attempt) {
  if (!store_) return {};
  try {
    say_alive();
    if (const std::optional<Failure> signal = signal_elsewhere()) return signal;
    if (const std::optional<std::string> text = store_->find(key(attempt, "failed"))) {
      Failure f;
      const std::size_t space = text->find(' ');
      std::from_chars(text->data(), text->data() + space, f.status);
      f.text = text->substr(space + 1);
      return f;
    }
    if (store_->find(key(attempt, "gone/") + own_name()))
      return Failure{1, "the other nodes have gone on without this one, of which nothing was heard"};
    std::optional<Failure> silent;
    if (keeps_table() && (silent = silent_node(attempt))) report(attempt, *silent);
    return silent;
  } catch (const tandem::errors::UnavailableError& e) {
    return Failure{1, fmt::format("node 0 is gone: {}", e.message())};
  }
}

// A command may run several programs, one after the other: the newest one counts.
std::vector<int> Nodes::going_on(int attempt) const {
  TcpStore store(place_, patience);
  std::string text;
  double age = 0;
  for (const TcpStore::Entry& e : store.list(fmt::format("going_on/group{}.", attempt)))
    if (text.empty() || e.age < age) text = e.value, age = e.age;
  std::vector<int> ranks;
  std::istringstream words(text);
  for (int rank = 0; words >> rank;) ranks.push_back(rank);
  return ranks;
}

bool Nodes::all_succeeded(int attempt) {
  if (!store_ || options_.joins) return true;
  std::vector<bool> has_ended(static_cast<std::size_t>(options_.nodes));
  for (const char* const what : {"succeeded/", "gone/"}) {
    const std::string folder = key(attempt, what);
    for (const TcpStore::Entry& e : store_->list(folder)) {
      std::size_t node = has_ended.size();  // others have joined
      std::from_chars(e.key.data() + folder.size(), e.key.data() + e.key.size(), node);
      if (node < has_ended.size()) has_ended[node] = true;
    }
  }
  return std::count(has_ended.begin(), has_ended.end(), false) == 0;
}

// Whether all other machines have left, but for those that are silent or that the others have gone on without.
bool Nodes::have_left() {
  const std::string folder = "launch/left/", joined = store_->find("launch/joined").value_or("0");
  std::vector<std::string> away = left_out_;
  for (const TcpStore::Entry& e : store_->list(folder)) away.push_back(e.key.substr(folder.size()));
  for (const TcpStore::Entry& e : store_->list("launch/alive/"))
    if (e.age > options_.silence) away.push_back(e.key.substr(13));
  const auto is_away = [&](const std::string& name) { return std::find(away.begin(), away.end(), name) != away.end(); };
  int n = 0;
  std::from_chars(joined.data(), joined.data() + joined.size(), n);
  for (int i = 1; i < options_.nodes; ++i)
    if (!is_away(std::to_string(i))) return false;
  for (int i = 1; i <= n; ++i)
    if (!is_away(fmt::format("joined{}", i))) return false;
  return true;
}

void Nodes::leave() {
  if (!store_) return;
  try {
    if (!keeps_table()) {
      if (options_.joins) store_->set(key(joined_at_, "alive/") + own_name(), "");
      store_->set("launch/left/" + own_name(), "1");
      return;
    }
    const Clock::time_point begin = Clock::now();
    while (!have_left() && seconds_since(begin) < patience) wait(0.05);
  } catch (const tandem::errors::UnavailableError&) {
    // Node 0 has gone before: it waits no longer.
  }
}

}  // namespace launcher
