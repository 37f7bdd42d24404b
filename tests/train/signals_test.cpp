// Interrupt: what signals do while there is one, and that everything is as before afterwards.
#include "tandem/train/signals.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

namespace train_signals_test {
using tandem::train::Interrupt;

void (*handler_of(int number))(int) {
  struct sigaction now {};
  ::sigaction(number, nullptr, &now);
  return now.sa_handler;
}
// Runs f in a child process; its exit status, or 1000 + the signal that ended it.
template <class F>
int status_of(const F& f) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(f());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

TEST_CASE("the first signal is a request, and tells the exit status") {
  const auto before = handler_of(SIGINT), before_usr = handler_of(SIGUSR1);
  for (const int number : {SIGINT, SIGTERM}) {
    Interrupt interrupt;
    CHECK_FALSE(interrupt.requested());
    CHECK(interrupt.exit_status() == 0);
    std::raise(number);
    CHECK(interrupt.requested());
    CHECK(interrupt.exit_status() == 128 + number);
    CHECK_FALSE(interrupt.save_requested());
  }
  CHECK(handler_of(SIGINT) == before);
  CHECK(handler_of(SIGUSR1) == before_usr);
}

TEST_CASE("SIGUSR1 asks for one checkpoint") {
  Interrupt interrupt;
  std::raise(SIGUSR1), std::raise(SIGUSR1);
  CHECK(interrupt.save_requested());
  CHECK_FALSE(interrupt.save_requested());
  CHECK_FALSE(interrupt.requested());
}

TEST_CASE("the second signal ends the process at once, and so does one without an Interrupt") {
  for (const auto& [first, second] :
       {std::pair(SIGINT, SIGINT), std::pair(SIGINT, SIGTERM), std::pair(SIGTERM, SIGINT)}) {
    CHECK(status_of([first = first, second = second] {
            std::signal(SIGINT, SIG_DFL), std::signal(SIGTERM, SIG_DFL);
            const Interrupt interrupt;
            std::raise(first);
            if (!interrupt.requested()) return 1;
            std::raise(second);
            return 2;
          }) == 1000 + second);
  }
  CHECK(status_of([] {
          std::signal(SIGINT, SIG_DFL);
          { const Interrupt interrupt; }
          std::raise(SIGINT);
          return 2;
        }) == 1000 + SIGINT);
}

TEST_CASE("what was ignored stays ignored, as under nohup; other handlers come back") {
  CHECK(status_of([] {
          std::signal(SIGINT, SIG_IGN);
          const Interrupt interrupt;
          std::raise(SIGINT);
          return interrupt.requested() ? 1 : 0;
        }) == 0);
  CHECK(status_of([] {
          static volatile std::sig_atomic_t own = 0;
          std::signal(SIGTERM, [](int) { own = 1; });
          {
            const Interrupt interrupt;
            std::raise(SIGTERM);
            if (own || !interrupt.requested()) return 1;
          }
          std::raise(SIGTERM);
          return own ? 0 : 2;
        }) == 0);
}

TEST_CASE("several share what was received, and the last one restores the handlers") {
  const auto before = handler_of(SIGINT);
  std::optional<Interrupt> outer(std::in_place);
  {
    Interrupt inner;
    std::raise(SIGINT);
    CHECK(inner.requested());
  }
  CHECK(outer->requested());
  CHECK(handler_of(SIGINT) != before);
  outer.reset();
  CHECK(handler_of(SIGINT) == before);
  CHECK_FALSE(Interrupt().requested());  // a new one begins anew
}

TEST_CASE("signals from other processes reach loops on several threads") {
  Interrupt interrupt;
  std::atomic<int> ended = 0, saves = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!interrupt.requested()) saves += interrupt.save_requested(), std::this_thread::yield();
      ++ended;
    });
  const pid_t to = ::getpid();
  CHECK(status_of([to] { return ::kill(to, SIGUSR1); }) == 0);
  while (saves == 0) std::this_thread::yield();
  CHECK(status_of([to] { return ::kill(to, SIGTERM); }) == 0);
  for (std::thread& thread : threads) thread.join();
  CHECK(ended == 3);
  CHECK(saves == 1);
}

}  // namespace train_signals_test
