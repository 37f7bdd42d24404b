#include "examples/tandem_run/process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace launcher {

namespace {

struct Pipe {
  int read = -1, write = -1;
};
Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  return {ends[0], ends[1]};
}

// Ours without the numbers of other launchers, which a program would take for its own.
std::vector<std::string> environment_of(const Start& start) {
  constexpr std::array others{"OMPI_COMM_WORLD_", "PMI_",           "PMIX_",        "SLURM_PROCID=",
                              "SLURM_NTASKS=",    "SLURM_LOCALID=", "TANDEM_JOIN=", "TANDEM_JOINABLE="};
  std::vector<std::string> r;
  for (char** e = environ; *e; ++e) {
    const std::string_view entry = *e;
    bool is_kept = true;
    for (const char* const other : others) is_kept = is_kept && !entry.starts_with(other);
    for (const auto& own : start.environment)
      is_kept = is_kept && !(entry.starts_with(own.first) && entry.substr(own.first.size()).starts_with('='));
    if (is_kept) r.emplace_back(entry);
  }
  for (const auto& own : start.environment) r.push_back(own.first + "=" + own.second);
  return r;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> r;
  for (std::string& text : texts) r.push_back(text.data());
  r.push_back(nullptr);
  return r;
}

}  // namespace

std::string End::text() const {
  if (by_signal) return fmt::format("was killed by signal {} ({})", status - 128, ::strsignal(status - 128));
  return fmt::format("ended with status {}", status);
}

std::string Process::name() const { return fmt::format("rank {} (process {})", rank_, pid_); }

// The child, between fork() and exec(): only what is safe in a signal handler.
namespace {
void connect_child(const std::vector<int>& outputs) {
  ::setpgid(0, 0);
  if (!outputs.empty()) {
    ::dup2(outputs[0], STDOUT_FILENO);
    ::dup2(outputs[1], STDERR_FILENO);
  }
  if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0) ::dup2(nothing, STDIN_FILENO);
}
}  // namespace

Process::Process(const Start& start) : rank_(start.rank) {
  std::vector<std::string> command = start.command, environment = environment_of(start);
  const std::vector<char*> arguments = pointers(command), variables = pointers(environment);
  const Pipe report = make_pipe();
  std::vector<int> ends;
  if (!start.is_plain) {
    const std::string prefix = fmt::format("[{}] ", rank_);
    for (const int to : {STDOUT_FILENO, STDERR_FILENO}) {
      const Pipe p = make_pipe();
      ::fcntl(p.read, F_SETFL, O_NONBLOCK);
      streams_.push_back({p.read, Lines(to, prefix)});
      ends.push_back(p.write);
    }
  }
  const pid_t launcher = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launcher) ::_exit(1);  // it died before
    connect_child(ends);
    // A shell ignores SIGINT in what it starts in the background, but we pass on what was meant for us.
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &start.signals_before, nullptr);
    ::execvpe(arguments[0], arguments.data(), variables.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t n = ::write(report.write, &error, sizeof error);
    ::_exit(127);
  }
  int error = pid_ < 0 ? errno : 0;
  if (pid_ > 0) ::setpgid(pid_, pid_);  // whoever is first
  ::close(report.write);
  for (const int end : ends) ::close(end);
  if (error == 0 && ::read(report.read, &error, sizeof error) <= 0) error = 0;
  ::close(report.read);
  if (error == 0) return;
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  drop_streams();
  throw std::runtime_error(fmt::format("cannot start {}: {}", start.command[0], std::strerror(error)));
}

Process::~Process() {
  send(SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  drop_streams();
}

void Process::drop_streams() {
  for (const Stream& s : streams_) ::close(s.from);
  streams_.clear();
}

void Process::send(int signal) const { ::kill(-pid_, signal); }

bool Process::has_ended() {
  siginfo_t info{};
  if (end_ || ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != pid_)
    return false;
  end_ = info.si_code == CLD_EXITED ? End{info.si_status, false} : End{128 + info.si_status, true};
  return true;
}

bool Process::pass_output() {
  bool is_written = true;
  char chunk[1 << 16];
  const int most = runs() ? 1 : 17;  // one, so that nobody's output keeps the others waiting; then all of a full pipe
  for (std::size_t i = streams_.size(); i-- > 0;) {
    Stream& s = streams_[i];
    ssize_t n = 0;
    for (int left = most; left > 0 && is_written && (n = ::read(s.from, chunk, sizeof chunk)) > 0; --left)
      is_written = s.to.add({chunk, static_cast<std::size_t>(n)});
    if (!is_written) return false;
    if (runs() && (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))) continue;
    is_written = s.to.finish() && is_written;
    ::close(s.from);
    streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return is_written;
}

std::vector<int> Process::outputs() const {
  std::vector<int> r;
  for (const Stream& s : streams_) r.push_back(s.from);
  return r;
}

}  // namespace launcher
