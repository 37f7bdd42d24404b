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

constexpr double silent_after = 10;  // seconds

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
  if (options_.nodes == 1) return;
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
      if (is_folder(options_.rendezvous) && options_.node > 0) find_place();  // the file may have been an old one
    }
  }
  store_->set_timeout(silent_after);
}

Nodes::~Nodes() {
  if (file_.empty()) return;
  std::error_code ignored;  // a file that is left is overwritten by the next run
  std::filesystem::remove(file_, ignored);
}

// Where the table is. Node 0 opens it there.
void Nodes::find_place() {
  if (options_.nodes == 1) {
    server_ = std::make_unique<TcpStoreServer>("127.0.0.1");
    place_.port = server_->port();
    return;
  }
  const bool by_file = is_folder(options_.rendezvous);
  if (!by_file) place_ = Endpoint::parse("--rendezvous", options_.rendezvous);
  if (options_.node == 0) {
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

void Nodes::say_alive() { store_->set(fmt::format("launch/alive/{}", options_.node), host_name()); }

// The attempt that the others are at: later than ours if this machine was started again.
int Nodes::newest_attempt(int attempt) {
  if (options_.node == 0) {
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
  if (options_.node == 0) store_->set(key(attempt, "port"), std::to_string(free_port()));
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

void Nodes::report(int attempt, const Failure& f) {
  if (!store_ || store_->add(key(attempt, "failures"), 1) != 1) return;  // the first one counts
  store_->set(key(attempt, "failed"), fmt::format("{} {}", f.status, f.text));
}
void Nodes::report_signal(int signal) {
  if (store_) store_->set("launch/signal", fmt::format("{} {}", signal, options_.node));
}
void Nodes::report_success(int attempt) {
  if (store_) store_->add(key(attempt, "succeeded"), 1);
}

std::optional<Failure> Nodes::silent_node() {
  for (const TcpStore::Entry& e : store_->list("launch/alive/"))
    if (const double silence = std::min(e.age, seconds_since(met_)); silence > silent_after)
      return Failure{
          1, fmt::format("node {} ({}) has not been heard of for {:.0f} s", e.key.substr(13), e.value, silence)};
  return {};
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
    std::optional<Failure> silent;
    if (options_.node == 0 && (silent = silent_node())) report(attempt, *silent);
    return silent;
  } catch (const tandem::errors::UnavailableError& e) {
    return Failure{1, fmt::format("node 0 is gone: {}", e.message())};
  }
}

// A command may run several programs, one after the other: the newest one counts.
std::vector<int> Nodes::going_on(int attempt) const {
  TcpStore store(place_, silent_after);
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
  return !store_ || store_->find(key(attempt, "succeeded")) == std::to_string(options_.nodes);
}

void Nodes::leave() {
  if (!store_) return;
  try {
    if (options_.node > 0) {
      store_->add("launch/left", 1);
      return;
    }
    const Clock::time_point begin = Clock::now();
    while (store_->find("launch/left") != std::to_string(options_.nodes - 1) && seconds_since(begin) < silent_after)
      wait(0.05);
  } catch (const tandem::errors::UnavailableError&) {
    // Node 0 has gone before: it waits no longer.
  }
}

}  // namespace launcher
