// fork, exec, pipes and signals for process.hpp.
#include "process.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace bench::driver {
namespace {

[[noreturn]] void execute(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

void set_thread_environment(int threads) {
  const std::string count = std::to_string(threads);
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TANDEM_NUM_THREADS"})
    setenv(name, count.c_str(), 1);
}
/// Makes the process end with its parent, in its own session, with a raised scheduling priority where permitted.
/// Without it, any other program can preempt one thread of a pool for a time slice, and the remaining threads wait
/// for it. (Nice values only apply within the group of a session, so the group gets one too.)
void take_precedence() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  setpriority(PRIO_PROCESS, 0, -20);
  std::ofstream("/proc/self/autogroup") << -20;
}

/// The processor time of a thread in clock ticks, from its line in /proc (user and system time are fields 14 and 15,
/// located by counting from the name in parentheses, which may contain blanks).
long ticks_used(const std::filesystem::path& task) {
  std::ifstream in(task / "stat");
  std::string line;
  std::getline(in, line);
  std::istringstream words(line.substr(line.rfind(')') + 1));
  const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
  return all.size() < 13 ? 0 : std::stol(all[11]) + std::stol(all[12]);
}

/// The threads of a process, ordered by processor time used, most first.
std::vector<pid_t> busiest_first(pid_t pid) {
  std::vector<std::pair<long, pid_t>> tasks;
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid))) {
    tasks.emplace_back(-ticks_used(task.path()), std::stoi(task.path().filename().string()));
  }
  std::sort(tasks.begin(), tasks.end());
  std::vector<pid_t> ids;
  for (const auto& [used, id] : tasks) ids.push_back(id);
  return ids;
}
}  // namespace

Worker::Worker(const std::string& path, int threads) : path_(path), threads_(threads) {
  signal(SIGPIPE, SIG_IGN);
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for " + path);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot start " + path);
  if (pid_ == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    set_thread_environment(threads);
    take_precedence();
    execute({path, "--serve", fmt::format("--threads={}", threads)});
  }
  close(to[0]);
  close(from[1]);
  requests_ = fdopen(to[1], "w");
  answers_ = fdopen(from[0], "r");
}

Worker::~Worker() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  std::fclose(requests_);
  std::fclose(answers_);
}

std::string Worker::ask(const std::string& request) {
  kill(pid_, SIGCONT);
  fmt::print(requests_, "{}\n", request);
  std::fflush(requests_);
  char* line = nullptr;
  std::size_t room = 0;
  const ssize_t length = getline(&line, &room, answers_);
  const std::string answer = length > 0 ? std::string(line, static_cast<std::size_t>(length) - 1) : std::string();
  std::free(line);
  alive_ = length > 0;
  kill(pid_, SIGSTOP);
  if (!alive_) throw std::runtime_error(fmt::format("{} died at: {}", path_, request));
  if (answer.rfind("ok", 0) != 0) throw std::runtime_error(answer);
  return answer.size() > 3 ? answer.substr(3) : std::string();
}

void Worker::spread_threads() const {
  if (threads_ == 1) return;
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int cpu = -1;
  const auto tasks = busiest_first(pid_);
  for (int i = 0; i < threads_ && i < static_cast<int>(tasks.size()); ++i) {
    do ++cpu;
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &allowed));
    if (cpu == CPU_SETSIZE) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(tasks[static_cast<std::size_t>(i)], sizeof one, &one);
  }
}

void Worker::keep_to_processors() const {
  cpu_set_t allowed, some;
  sched_getaffinity(0, sizeof allowed, &allowed);
  CPU_ZERO(&some);
  for (int cpu = 0, left = threads_; cpu < CPU_SETSIZE && left > 0; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_SET(cpu, &some);
    --left;
  }
  for (const int task : busiest_first(pid_)) sched_setaffinity(task, sizeof some, &some);
}

Cost run_command(const std::vector<std::string>& words) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("cannot start " + words[0]);
  if (pid == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    execute(words);
  }
  int status = 0;
  rusage usage{};
  wait4(pid, &status, 0, &usage);
  Cost cost;
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  cost.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("failed: " + words[0]);
  return cost;
}
}  // namespace bench::driver
