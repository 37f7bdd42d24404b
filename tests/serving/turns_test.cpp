// Who runs next: turns among models, the spare slot, batches that use all cores, and who looks for those that wait.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "tandem/serving/batch_queue.hpp"
#include "tandem/serving/metrics.hpp"
#include "tandem/serving/run_slots.hpp"
#include "tests/serving/models.hpp"

namespace turns_test {

using namespace tandem;
using serving::Engine;
using serving::impl::RunSlots;
using testing::ask;
using testing::error_of;
using testing::metric;
using testing::request_for;
using Floats = std::vector<float>;
using Slot = std::unique_ptr<RunSlots::Slot>;

Slot take(RunSlots& slots, const std::string& model) {
  const CallScope scope({});
  return std::make_unique<RunSlots::Slot>(slots, model, scope);
}
// Threads that each wait for a slot, one after the other, and note when they have it. Each holds its slot until
// let_go().
class Waiters {
 public:
  explicit Waiters(RunSlots& slots) : slots_(slots) {}
  ~Waiters() {
    let_go();
    for (std::thread& t : threads_) t.join();
  }
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;
  // Begins to wait, and returns when the thread waits or has its slot.
  void add(const std::string& model) {
    const std::size_t waiting = slots_.waiting(), had = count();
    threads_.emplace_back([this, model] {
      const Slot slot = take(slots_, model);
      std::unique_lock lock(mutex_);
      order_.push_back(model);
      changed_.notify_all();
      changed_.wait(lock, [this] { return go_; });
    });
    while (slots_.waiting() == waiting && count() == had) std::this_thread::yield();
  }
  // Waits until so many have had a slot.
  std::vector<std::string> first(std::size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return order_.size() >= n; });
    return order_;
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    go_ = true;
    changed_.notify_all();
  }

 private:
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return order_.size();
  }
  RunSlots& slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool go_ = false;
  std::vector<std::string> order_;
  std::vector<std::thread> threads_;
};
using Order = std::vector<std::string>;

TEST_CASE("turns: slots are given in turns by model") {
  RunSlots slots(1);
  Slot running = take(slots, "a");
  Waiters waiters(slots);
  for (const char* model : {"a", "a", "a", "b", "c"}) waiters.add(model);
  CHECK(slots.waiting() == 5);
  waiters.let_go();
  running.reset();
  CHECK(waiters.first(5) == Order{"b", "c", "a", "a", "a"});
}

TEST_CASE("turns: a model of which nothing runs gets the spare slot, the others wait") {
  RunSlots slots(2, 1);
  Slot first = take(slots, "a"), second = take(slots, "a");
  Waiters waiters(slots);
  for (const char* model : {"a", "a", "b"}) waiters.add(model);
  CHECK(waiters.first(1) == Order{"b"});
  waiters.add("c");
  CHECK(slots.waiting() == 3);  // a, a, and c, as the spare slot is taken
  second.reset();               // a still runs: its turn is not before that of c
  CHECK(waiters.first(2) == Order{"b", "c"});
  CHECK(slots.waiting() == 2);
  first.reset();  // nothing of a runs any more, so that the spare slot is its
  CHECK(waiters.first(3) == Order{"b", "c", "a"});
  CHECK(slots.waiting() == 1);
  waiters.let_go();
  CHECK(waiters.first(4) == Order{"b", "c", "a", "a"});
}

TEST_CASE("turns: without a spare slot a model waits for the calls of another") {
  RunSlots slots(1);
  const Slot running = take(slots, "a");
  const CallScope scope({.deadline = Deadline::after(0.02)});
  CHECK_THROWS_AS(RunSlots::Slot(slots, "b", scope), errors::DeadlineExceededError);
  CHECK(slots.waiting() == 0);
}

TEST_CASE("turns: each of many that wait is told that its call ends, whoever looks for it") {
  RunSlots slots(1);
  Slot running = take(slots, "a");
  std::vector<CancelToken> tokens(6);
  std::vector<std::thread> threads;
  std::atomic<int> cancelled{0}, served{0};
  for (const CancelToken& token : tokens) {
    const std::size_t waiting = slots.waiting();
    threads.emplace_back([&] {
      try {
        const CallScope scope({.cancel = token});
        const RunSlots::Slot slot(slots, "a", scope);
        ++served;
      } catch (const errors::CancelledError&) {
        ++cancelled;
      }
    });
    while (slots.waiting() == waiting) std::this_thread::yield();
  }
  const int order[] = {0, 3, 5, 1};  // the first one looks for all, then another does
  for (int i = 0; i < 4; ++i) {
    tokens[static_cast<std::size_t>(order[i])].cancel();
    while (cancelled <= i) std::this_thread::yield();
    CHECK(slots.waiting() == static_cast<std::size_t>(5 - i));
  }
  running.reset();
  for (std::thread& t : threads) t.join();
  CHECK(served == 2);
}

// A request for a long call of the model "slow", in a thread, until it is cancelled.
class Flood {
 public:
  Flood(Engine& engine, int calls) {
    for (int i = 0; i < calls; ++i)
      threads_.emplace_back([&engine, this] {
        serving::Request r = request_for("slow", {1e9f});
        r.call.cancel = token_;
        ended_ += error_of<errors::CancelledError>([&] { engine.predict(r); }) != "no error";
      });
  }
  ~Flood() { end(); }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  int end() {
    token_.cancel();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
    return ended_;
  }

 private:
  const CancelToken token_;
  std::atomic<int> ended_{0};
  std::vector<std::thread> threads_;
};

TEST_CASE("turns: calls of one model, alone or in batches, that never end do not keep others from running") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  testing::save_half(folder / "half/1");
  for (const bool is_batched : {false, true}) {
    Engine engine(
        {.models = {{.name = "slow", .base_path = folder / "slow"}, {.name = "half", .base_path = folder / "half"}},
         .batching = {.enabled = is_batched, .max_batch_size = 2},
         .threads = 2});
    engine.settle();
    Flood flood(engine, 8);
    while (metric(engine, "tandem_queue_rows{model=\"slow\"}") < 8 ||
           metric(engine, "tandem_queue_seconds_count{model=\"slow\"}") < 1)
      std::this_thread::yield();
    for (int i = 0; i < 3; ++i) {
      serving::Request r = request_for("half", {2});
      r.call.deadline = Deadline::after(120);  // so that the test ends
      CHECK(engine.predict(r).outputs.at("y").to_vector<float>() == Floats{3});
    }
    CHECK(flood.end() == 8);
  }
}

TEST_CASE("turns: while a batch uses all cores no second one of its queue runs") {
  const testing::TemporaryFolder folder;
  testing::save_slow(folder / "slow/1");
  const serving::impl::Servable servable{"slow", 1, 1, saved_model::load(folder / "slow/1"), {}};
  const serving::Batching how{.max_batch_size = 4};
  for (const i64 fills_from : {1, 2}) {
    const serving::impl::BatchFacts facts{{}, {}, fills_from};
    const CancelToken never;
    RunSlots slots(2);
    serving::impl::Metrics metrics;
    serving::impl::BatchQueue queue("serving_default");
    const serving::impl::BatchRun run{servable, how, facts, nullptr, never, slots, metrics, nullptr};
    const auto ask_queue = [&](float turns, const CallOptions& call) {
      serving::impl::RequestTimes times;
      return queue.run({{"x", constant({turns})}}, call, run, times).at("y").to_vector<float>();
    };
    const CancelToken end;
    std::atomic<bool> is_cancelled{false};
    std::thread first([&] {
      is_cancelled = error_of<errors::CancelledError>([&] { ask_queue(1e9f, {.cancel = end}); }) != "no error";
    });
    while (metrics.text().find("tandem_queue_seconds_count{model=\"slow\"} 1") == std::string::npos)
      std::this_thread::yield();
    if (fills_from == 1) {
      CHECK_THROWS_AS(ask_queue(3, {.deadline = Deadline::after(0.05)}), errors::DeadlineExceededError);
    } else {
      CHECK(ask_queue(3, {.deadline = Deadline::after(120)}) == Floats{3});  // one row leaves cores
    }
    end.cancel();
    first.join();
    CHECK(is_cancelled);
    CHECK(ask_queue(5, {}) == Floats{5});
  }
}

}  // namespace turns_test
