// fork() while other threads allocate, assign Variables, draw and profile: the child finds no lock held.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tandem/core/profile.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

// Not under the sanitizers: ThreadSanitizer does not follow a fork of several threads, and the allocator of
// AddressSanitizer, before LLVM 17, leaves the child a lock that another thread held.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TANDEM_TEST_SANITIZED 1
#endif
#endif
#if !defined(TANDEM_TEST_SANITIZED) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)

namespace {

// Threads that do something again and again.
class Busy {
 public:
  template <class F>
  Busy(int threads, const F& f) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, f] {
        while (!stop_) f();
      });
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& t : threads_) t.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

// How many of so many children did not get through f within a generous time.
template <class F>
int lost_children(int children, const F& f) {
  int lost = 0;
  for (int i = 0; i < children && lost < 2; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::signal(SIGALRM, SIG_DFL);  // ends a child that hangs
      alarm(20);
      f();
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    lost += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  }
  return lost;
}
void allocate_much() {
  std::vector<Tensor> all;
  for (int i = 0; i < 6; ++i) all.push_back(Tensor::allocate({{100000 + 1000 * i}, float32, {}}));
}

}  // namespace

TEST_CASE("fork: a child allocates while the parent's threads do") {
  const Busy busy(3, allocate_much);
  CHECK(lost_children(150, [] {
          for (int i = 0; i < 4; ++i) allocate_much();
        }) == 0);
}

TEST_CASE("fork: a child assigns Variables that the parent's threads assign, whose values are whole") {
  const Variable v(zeros({1000})), w(zeros({1000}));
  const Tensor one = ones({1000});
  const Busy busy(2, [&] {
    v.assign_add(one);
    w.assign(v.read_value());
  });
  CHECK(lost_children(150, [&] {
          for (const Variable* x : {&v, &w}) {
            const std::vector<float> values = x->to_vector<float>();
            for (float value : values)
              if (value != values[0]) _exit(1);
            x->assign_add(one);
            x->assign(one);
          }
        }) == 0);
}

TEST_CASE("fork: a child draws random numbers and makes Variables while the parent's threads do") {
  const Busy busy(2, [] {
    const Variable made(random::normal({4}));
    random::uniform({4}, {.seed = 3});
  });
  CHECK(lost_children(100, [] {
          const Variable made(random::normal({4}));
          random::uniform({4}, {.seed = 3});
        }) == 0);
}

TEST_CASE("fork: a child goes on while the parent's threads are profiled") {
  Profiler profiler;
  const Tensor x = ones({16});
  const Busy busy(2, [&] { sin(x); });
  CHECK(lost_children(100, [&] { sin(x); }) == 0);
  profiler.stop();
}

#endif
