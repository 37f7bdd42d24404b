// Streams that wait for their consumer: the next element is there only when the loop has had the one before. Threads
// hand over what they have, and read no further ahead than documented.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "tandem/data/dataset_sources.hpp"
#include "tests/support/catch.hpp"

namespace data_dataset_feedback_test {
using namespace tandem;

// How many elements the loop has had. A wait that would last forever is an error, so that the test ends.
class Loop {
 public:
  void has_had(i64 n) {
    const std::lock_guard lock(mutex_);
    had_ = n;
    changed_.notify_all();
  }
  void wait_until(i64 n) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [&] { return had_ >= n; }))
      throw std::runtime_error("waits for element " + std::to_string(n) + " for a minute");
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  i64 had_ = 0;
};
using LoopRef = std::shared_ptr<Loop>;

// Numbers below n. From number `free` on each waits until the loop has had all before it.
data::Dataset<i64> waiting(const LoopRef& loop, i64 n, i64 free) {
  return data::from_generator([=] {
    return [=, i = i64{0}]() mutable -> std::optional<i64> {
      if (i == n) return std::nullopt;
      if (i >= free) loop->wait_until(i);
      return i++;
    };
  });
}
// A loop that tells it what it has had.
template <class Make>
void check_goes_on(const Make& make) {
  for (const i64 free : {1, 100, 3000}) {
    INFO("the first " << free << " do not wait");
    const auto loop = std::make_shared<Loop>();
    auto it = make(loop, free).iterator();
    i64 sum = 0, count = 0;
    while (const auto x = it.next()) {
      sum += *x;
      loop->has_had(++count);
    }
    const i64 n = free + 20;
    CHECK(count == n);
    CHECK(sum == n * (n - 1) / 2);
  }
}

TEST_CASE("feedback: a map with threads over a stream that waits for its consumer") {
  const auto same = [](i64 x) { return x; };
  for (const i64 threads : {1, 2, 4, static_cast<int>(data::autotune)})
    for (const bool deterministic : {true, false}) {
      INFO(threads << " threads" << (deterministic ? "" : ", in any order"));
      const data::MapOptions options{.num_parallel_calls = threads, .deterministic = deterministic};
      check_goes_on([&](const LoopRef& loop, i64 free) { return waiting(loop, free + 20, free).map(same, options); });
      check_goes_on([&](const LoopRef& loop, i64 free) {
        return waiting(loop, free + 20, free).map(same, options).filter([](i64) { return true; }).prefetch(3);
      });
    }
  check_goes_on([&](const LoopRef& loop, i64 free) { return waiting(loop, free + 20, free).prefetch(8); });
  check_goes_on([&](const LoopRef& loop, i64 free) {
    return waiting(loop, free + 20, free).map(same, {.num_parallel_calls = 2}).memory_limit(10'000);
  });
}

TEST_CASE("feedback: a function of map that waits for its consumer") {
  for (const i64 threads : {1, 3}) {
    const auto make = [&](const LoopRef& loop, i64 free, const data::Dataset<i64>& ds) {
      return ds.map(
          [=](i64 x) {
            if (x >= free) loop->wait_until(x);
            return x;
          },
          {.num_parallel_calls = threads});
    };
    check_goes_on([&](const LoopRef& loop, i64 free) { return make(loop, free, data::range(free + 20)); });
    check_goes_on([&](const LoopRef& loop, i64 free) {
      return make(loop, free, data::range(free + 20).filter([](i64) { return true; }));
    });
  }
}

TEST_CASE("feedback: threads read no further ahead than documented") {
  constexpr i64 threads = 2;
  std::atomic<i64> read = 0;
  const auto source = data::from_generator([&] {
    return [&, i = i64{0}]() mutable -> std::optional<i64> {
      ++read;
      return i++;
    };
  });
  const auto check = [&](const auto& ds, i64 ahead) {
    read = 0;
    auto it = ds.iterator();
    for (i64 taken = 1; taken <= 20'000; ++taken) {
      REQUIRE(it.next());
      if (read - taken > ahead) FAIL("has read " << read << " elements for " << taken);
    }
  };
  const auto same = [](i64 x) { return x; };
  check(source.map(same, {.num_parallel_calls = threads}), 16 * threads + 992);
  check(source.prefetch(5), 5);
  check(source.map_batched([](const Tensor& x) { return x; }, {.batch_size = 32}), 32);
  check(source.map_batched([](const Tensor& x) { return x; }, {.batch_size = 32, .num_parallel_calls = threads}),
        32 * (32 * threads + 2));  // batches that take less than 10 us
}

}  // namespace data_dataset_feedback_test
