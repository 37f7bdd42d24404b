// A process that runs this program with other arguments, for servers: so that the memory and the start are those of a
// server alone.
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct Ports {
  int grpc = 0, http = 0;
};

/// Ends with this object, or with this process.
class Process {
 public:
  /// Returns when the program has said where it listens (report_ports).
  explicit Process(const std::vector<std::string>& arguments) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const pid_t parent = ::getpid();
    std::vector<char*> argv{program().data()};
    std::vector<std::string> texts = arguments;
    for (std::string& t : texts) argv.push_back(t.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {  // only calls that a child of threads may make
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent || ::dup2(ends[1], report_to) < 0) ::_exit(1);
      ::execv("/proc/self/exe", argv.data());
      ::_exit(1);
    }
    ::close(ends[1]);
    const bool is_there = ::read(ends[0], &ports_, sizeof ports_) == sizeof ports_;
    ::close(ends[0]);
    if (!is_there) throw std::runtime_error("a server has not started");
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  /// In the other process: says where it listens, and stays.
  static void report_ports(const Ports& ports) {
    if (::write(report_to, &ports, sizeof ports) != sizeof ports) return;
    ::close(report_to);
    for (;;) ::pause();
  }
  const Ports& ports() const { return ports_; }
  double resident_mb() const { return status_kb("VmRSS:") / 1024; }
  /// What no file backs: heap, stacks, data that were written.
  double anonymous_mb() const { return status_kb("RssAnon:") / 1024; }
  /// Processor time so far.
  double cpu_seconds() const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/stat");
    const std::string text(std::istreambuf_iterator<char>(in), {});
    std::size_t at = text.rfind(')');
    constexpr int user = 12;  // fields behind the name
    for (int i = 0; i < user && at != text.npos; ++i) at = text.find(' ', at + 1);
    if (at == text.npos) return 0;
    char* end = nullptr;
    const double ticks = std::strtod(text.c_str() + at, &end);
    return (ticks + std::strtod(end, nullptr)) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }

 private:
  static constexpr int report_to = 3;
  static std::string& program() {
    static std::string name = "bench_serving";
    return name;
  }
  double status_kb(const std::string& field) const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with(field)) return std::atof(line.c_str() + field.size());
    return 0;
  }

  pid_t pid_ = 0;
  Ports ports_;
};

}  // namespace bench
