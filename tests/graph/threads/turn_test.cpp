// Functions that several threads trace at once, and that call each other.
#include <atomic>
#include <cstdio>
#include <functional>
#include <thread>

#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;

namespace {

using Step = std::function<Tensor(const Tensor&, int)>;

// Waits until so many threads have come here, once; later visitors go on.
class Meeting {
 public:
  explicit Meeting(int threads) : missing_(threads) {}
  void arrive() {
    if (missing_.fetch_sub(1) <= 0) return;
    while (missing_ > 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> missing_;
};

struct Quiet {
  Quiet() { set_warning_handler(nullptr); }
  ~Quiet() { set_warning_handler(handler); }
  void (*handler)(const char*) = [](const char* text) { std::fprintf(stderr, "tandem: %s\n", text); };
};

}  // namespace

TEST_CASE("turn: two functions that call each other, first called by two threads") {
  const Quiet quiet;
  Meeting both(2);  // each thread is inside its function's trace before it calls the other
  Step call_f, call_g;
  const auto f = function([&](const Tensor& a, int n) {
    both.arrive();
    return n <= 0 ? a : call_g(a * 2, n - 1);
  });
  const auto g = function([&](const Tensor& a, int n) {
    both.arrive();
    return n <= 0 ? a : call_f(a + 1, n - 1);
  });
  call_f = [&](const Tensor& a, int n) { return f(a, n); };
  call_g = [&](const Tensor& a, int n) { return g(a, n); };
  Tensor from_f, from_g;
  std::thread first([&] { from_f = f(constant(1.f), 6); }), second([&] { from_g = g(constant(1.f), 6); });
  first.join(), second.join();
  CHECK(from_f.item<float>() == 15);  // * 2 + 1, three times
  CHECK(from_g.item<float>() == 22);  // + 1, * 2, three times
  CHECK(f.trace_count() == 7);        // one for each n: of those traced twice one is kept
  CHECK(g.trace_count() == 7);
  f(constant(1.f), 6), g(constant(1.f), 6);
  CHECK(f.trace_count() == 7);
}

TEST_CASE("turn: a ring of three functions, three threads, all want the same signatures") {
  const Quiet quiet;
  for (int round = 0; round < 5; ++round) {
    Meeting all(3);
    std::vector<Step> calls(3);
    const auto body = [&](std::size_t i) {
      return [&, i](const Tensor& a, int n) {
        all.arrive();
        return n <= 0 ? a + static_cast<float>(i) : calls[(i + 1) % 3](a * 2, n - 1);
      };
    };
    const auto f = function(body(0)), g = function(body(1)), h = function(body(2));
    calls = {[&](const Tensor& a, int n) { return f(a, n); }, [&](const Tensor& a, int n) { return g(a, n); },
             [&](const Tensor& a, int n) { return h(a, n); }};
    std::vector<Tensor> r(3);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 3; ++i) threads.emplace_back([&, i] { r[i] = calls[i](constant(1.f), 6); });
    for (std::thread& t : threads) t.join();
    for (std::size_t i = 0; i < 3; ++i) CHECK(r[i].item<float>() == 64.f + static_cast<float>(i));
    CHECK(f.trace_count() == 7);
  }
}

TEST_CASE("turn: many threads that call one function trace it once") {
  std::atomic<int> runs{0};
  const auto f = function([&](const Tensor& a) {
    ++runs;
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    return a * 2;
  });
  Meeting all(6);
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      all.arrive();
      f(constant(1.f));
    });
  for (std::thread& t : threads) t.join();
  CHECK(runs == 1);
}

TEST_CASE("turn: a trace may wait for a thread that traces something else") {
  const auto inner = function([](const Tensor& a) { return a + 1; });
  const auto outer = function([&](const Tensor& a) {
    float k = 0;
    std::thread([&] { k = inner(constant(2.f)).item<float>(); }).join();
    return a * k;
  });
  CHECK(outer(constant(5.f)).item<float>() == 15);
}

TEST_CASE("turn: a custom gradient that calls a traced function, on two threads") {
  const auto helper = function([](const Tensor& g) { return g * 10; });
  const auto f = function([&](const Tensor& x) {
    return custom_gradient(
        [&](const Tensor& a) { return std::pair(a * 2, [&](const Tensor& g) { return helper(g); }); }, x);
  });
  const Tensor x = constant(3.f);
  const auto slope = [&] {
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(f(x), x).item<float>();
  };
  float other = 0;
  std::thread thread([&] { other = slope(); });
  CHECK(slope() == 10);
  thread.join();
  CHECK(other == 10);
}

TEST_CASE("turn: functions that call themselves say so in the log and in the warning") {
  static std::string warning;
  const Quiet quiet;
  warning.clear();
  set_warning_handler([](const char* text) { warning = text; });
  Step again;
  const auto f = function([&](const Tensor& a, int n) { return n <= 0 ? a : again(a * 2, n - 1); }, {.name = "ladder"});
  again = [&](const Tensor& a, int n) { return f(a, n); };
  CHECK(f(constant(1.f), 8).item<float>() == 256);
  const std::vector<TraceRecord> log = f.trace_log();
  REQUIRE(log.size() == 9);
  CHECK_THAT(log[0].reason, ContainsSubstring("its own trace for (float32[], 1) calls it"));
  CHECK_THAT(log[0].advice, ContainsSubstring("while_loop"));
  CHECK(log[8].reason == "the first call");
  CHECK_THAT(warning, ContainsSubstring("'ladder'") && ContainsSubstring("Remedy: a graph has no recursion"));
}

TEST_CASE("function: the log keeps the latest traces, the count all") {
  const Quiet quiet;
  const auto f = function([](const Tensor& a, int n) { return a * n; }, {.max_traces = 4});
  for (int n = 0; n < 300; ++n) f(constant(1), n);
  CHECK(f.trace_count() == 300);
  const std::vector<TraceRecord> log = f.trace_log();
  REQUIRE(log.size() == 256);
  CHECK(log.front().signature == "int32[], 44");
  CHECK(log.back().signature == "int32[], 299");
}
