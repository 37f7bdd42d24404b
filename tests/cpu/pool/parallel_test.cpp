// The pool: coverage of the range, exceptions, nesting, concurrent callers, resizing, executors, fork.
// Not here: whether it is fast (bench/).
#include "tandem/cpu/parallel.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tandem/base/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/threads.hpp"

using tandem::i64;
using tandem::config::intra_op_parallelism_threads;
using tandem::config::set_intra_op_parallelism_threads;
using tandem::cpu::parallel_for;
using testing::Threads;

namespace {

/// How often each item of [0, n) was visited, at least and at most.
std::pair<int, int> visits(i64 n, i64 grain) {
  std::vector<std::atomic<int>> seen(n);
  parallel_for(n, grain, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) seen[i].fetch_add(1, std::memory_order_relaxed);
  });
  int least = n ? 1 << 30 : 1, most = n ? 0 : 1;
  for (auto& s : seen) least = std::min(least, s.load()), most = std::max(most, s.load());
  return {least, most};
}

int ranges(i64 n, i64 grain) {
  std::atomic<int> calls{0};
  parallel_for(n, grain, [&](i64, i64) { ++calls; });
  return calls;
}

}  // namespace

TEST_CASE("parallel_for visits each item once") {
  for (int threads : {1, 2, 3, 5, 16}) {
    Threads t(threads);
    for (i64 n : {0, 1, 2, 3, 7, 63, 64, 65, 1000, 4097, 100003})
      for (i64 grain : {0, 1, 2, 50, 1000, 1 << 20}) {
        CAPTURE(threads, n, grain);
        CHECK(visits(n, grain) == std::pair(1, 1));
      }
  }
}

TEST_CASE("parallel_for splits only what is longer than its grain") {
  Threads t(4);
  CHECK(ranges(-5, 1) == 0);
  CHECK(ranges(0, 1) == 0);
  CHECK(ranges(100, 100) == 1);
  CHECK(ranges(101, 100) == 2);
  CHECK(ranges(350, 100) == 3);
  CHECK(ranges(100000, 100) == 16);
}

TEST_CASE("nested parallel_for is one serial call") {
  Threads t(4);
  std::atomic<int> inner{0}, wrong{0};
  CHECK_FALSE(tandem::cpu::in_parallel_region());
  parallel_for(64, 1, [&](i64 begin, i64 end) {
    if (!tandem::cpu::in_parallel_region()) ++wrong;
    for (i64 i = begin; i < end; ++i)
      parallel_for(1000, 1, [&](i64 b, i64 e) {
        if (b != 0 || e != 1000) ++wrong;
        ++inner;
      });
  });
  CHECK_FALSE(tandem::cpu::in_parallel_region());
  CHECK(inner == 64);
  CHECK(wrong == 0);
}

TEST_CASE("an exception reaches the caller, and the pool works on") {
  for (int threads : {1, 2, 5}) {
    Threads t(threads);
    for (i64 at = 0; at < 40; ++at) {
      try {
        parallel_for(40, 1, [&](i64 begin, i64 end) {
          if (begin <= at && at < end) throw std::runtime_error("item " + std::to_string(at));
        });
        FAIL("nothing was thrown");
      } catch (const std::runtime_error& e) {
        CHECK(e.what() == "item " + std::to_string(at));
      }
      CHECK_FALSE(tandem::cpu::in_parallel_region());
      CHECK(visits(1000, 1) == std::pair(1, 1));
    }
  }
}

TEST_CASE("several user threads may call at once, while the size changes") {
  Threads t(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (int u = 0; u < 4; ++u)
    users.emplace_back([&, u] {
      for (int round = 0; round < 300; ++round) {
        std::atomic<i64> sum{0};
        const i64 n = 100 + u * 17 + round;
        parallel_for(n, 8, [&](i64 begin, i64 end) {
          for (i64 i = begin; i < end; ++i) sum += i;
        });
        if (sum != n * (n - 1) / 2) ++wrong;
      }
    });
  for (int i = 0; i < 40; ++i) set_intra_op_parallelism_threads(1 + i % 5);
  for (auto& u : users) u.join();
  CHECK(wrong == 0);
}

TEST_CASE("workers that went to sleep come back") {
  Threads t(2);
  for (int i = 0; i < 20; ++i) {
    CHECK(visits(100, 1) == std::pair(1, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_CASE("the size is checked and 0 is the default") {
  Threads t(7);
  CHECK(intra_op_parallelism_threads() == 7);
  CHECK_THROWS_AS(set_intra_op_parallelism_threads(-1), tandem::errors::InvalidArgumentError);
  CHECK_THROWS_AS(set_intra_op_parallelism_threads(100000), tandem::errors::InvalidArgumentError);
  CHECK(intra_op_parallelism_threads() == 7);
  set_intra_op_parallelism_threads(0);
  CHECK(intra_op_parallelism_threads() >= 1);
}

TEST_CASE("a user's executor takes the place of the pool") {
  Threads t(4);
  int used = 0;
  tandem::cpu::Executor backwards;
  backwards.context = &used;
  backwards.run = [](void* context, int pieces, void (*piece)(void*, int), void* argument) {
    ++*static_cast<int*>(context);
    for (int i = pieces; i-- > 0;) piece(argument, i);
  };
  tandem::cpu::set_executor(backwards);
  CHECK(visits(1000, 10) == std::pair(1, 1));
  CHECK(used == 1);
  CHECK_THROWS_AS(parallel_for(100, 1, [](i64, i64) { throw std::logic_error("x"); }), std::logic_error);
  CHECK(used == 2);
  tandem::cpu::set_executor({});
  CHECK(visits(1000, 10) == std::pair(1, 1));
  CHECK(used == 2);
}

#if !defined(__SANITIZE_THREAD__)  // the sanitizer does not follow a fork of several threads
TEST_CASE("a forked child has a pool of its own") {
  Threads t(3);
  CHECK(visits(1000, 1) == std::pair(1, 1));
  const pid_t child = fork();
  if (child == 0) _exit(visits(1000, 1) == std::pair(1, 1) ? 0 : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(visits(1000, 1) == std::pair(1, 1));
}
#endif
