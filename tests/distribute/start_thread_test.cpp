// start_thread(): signals of the program do not reach the library's threads.
#include "tandem/distribute/start_thread.hpp"

#include <csignal>

#include "tests/support/catch.hpp"

namespace start_thread_test {

using namespace tandem;

TEST_CASE("start_thread: the thread blocks all signals, and who starts it keeps its own") {
  sigset_t before, within, after;
  REQUIRE(::pthread_sigmask(SIG_SETMASK, nullptr, &before) == 0);
  sigemptyset(&within);
  distribute::detail::start_thread("test", [&within] { ::pthread_sigmask(SIG_SETMASK, nullptr, &within); }).join();
  REQUIRE(::pthread_sigmask(SIG_SETMASK, nullptr, &after) == 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGALRM, SIGPIPE}) {
    CAPTURE(signal);
    CHECK(sigismember(&within, signal) == 1);
    CHECK(sigismember(&after, signal) == sigismember(&before, signal));
  }
}

}  // namespace start_thread_test
