// Data sets: what stages keep: cache, memory_limit, the report.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_dataset_buffer_test {
using namespace tandem;
using testing::error_of;
using Longs = std::vector<i64>;

void sleep_ms(int n) { std::this_thread::sleep_for(std::chrono::milliseconds(n)); }

TEST_CASE("cache: elements are computed once") {
  for (const bool indexed : {true, false}) {
    std::atomic<int> calls = 0;
    auto source = data::range(20);
    if (!indexed) source = source.filter([](i64) { return true; });
    const auto ds = source.map([&](i64 i) { return ++calls, i; }, {.num_parallel_calls = 2}).cache();
    CHECK(ds.to_vector().size() == 20);
    CHECK(calls == 20);
    for (int epoch = 0; epoch < 3; ++epoch) {
      Longs seen;
      for (const i64 i : ds.epoch(epoch)) seen.push_back(i);
      CHECK(seen == data::range(20).to_vector());
    }
    CHECK(calls == 20);
    Longs rest;
    for (const i64 i : ds.epoch(1, 15)) rest.push_back(i);
    CHECK(rest == Longs{15, 16, 17, 18, 19});
    // Behind a cache elements are shuffled anew, and batched.
    CHECK(ds.shuffle(100).batch(6).to_vector().size() == 4);
  }
  // A stream that was left before its end is not kept.
  std::atomic<int> calls = 0;
  const auto ds = data::range(20).filter([&](i64) { return ++calls, true; }).cache();
  for (const i64 i : ds)
    if (i == 5) break;
  CHECK(ds.to_vector().size() == 20);
  CHECK(calls == 26);
  CHECK(ds.to_vector().size() == 20);
  CHECK(calls == 26);
  CHECK_THROWS_AS(data::range(3).repeat().filter([](i64) { return true; }).repeat().cache(), errors::OpError);
}

TEST_CASE("memory_limit: a buffer that would keep too much raises; threads wait for room") {
  const auto rows = data::range(200).map([](i64 i) { return fill({1000}, static_cast<float>(i)); });
  const auto stream = rows.filter([](const Tensor&) { return true; });
  const auto message =
      error_of<errors::ResourceExhaustedError>([&] { stream.shuffle(100).memory_limit(100'000).to_vector(); });
  CHECK_THAT(message, ContainsSubstring("shuffle: the stages of this data set would keep"));
  CHECK_THAT(message, ContainsSubstring("memory_limit of 100000"));
  CHECK_THROWS_AS(stream.shuffle(100).ignore_errors().memory_limit(100'000).to_vector(),
                  errors::ResourceExhaustedError);
  CHECK(stream.shuffle(20).memory_limit(100'000).to_vector().size() == 200);
  // Prefetch and map keep what fits.
  CHECK(rows.prefetch(50).memory_limit(20'000).to_vector().size() == 200);
  for (const bool ordered : {true, false}) {
    const auto threads =
        rows.map([](const Tensor& x) { return x + 1; }, {.num_parallel_calls = 3, .deterministic = ordered})
            .memory_limit(10'000);
    CHECK(threads.to_vector().size() == 200);
    CHECK(stream.map([](const Tensor& x) { return x + 1; }, {.num_parallel_calls = 3, .deterministic = ordered})
              .memory_limit(10'000)
              .to_vector()
              .size() == 200);
  }
  CHECK_THROWS_AS(rows.prefetch(2).memory_limit(1000).to_vector(), errors::ResourceExhaustedError);  // one is larger
  // What an iteration that ends early has kept is given back.
  CHECK(rows.prefetch(4).take(1).repeat(100).memory_limit(30'000).to_vector().size() == 100);
  // Texts within elements are counted; limits of parts hold for the whole.
  const auto texts = data::range(100).map([](i64 i) { return std::pair(std::string(10'000, 'x'), i); });
  CHECK_THROWS_AS(texts.filter([](const auto&...) { return true; }).shuffle(50).memory_limit(100'000).to_vector(),
                  errors::ResourceExhaustedError);
  CHECK_THROWS_AS(data::zip(stream.shuffle(100).memory_limit(100'000), rows).to_vector(),
                  errors::ResourceExhaustedError);
}

TEST_CASE("report: a line for each stage") {
  const auto ds =
      data::range(64).map([](i64 i) { return sleep_ms(1), i; }, {.num_parallel_calls = 4}).batch(8).prefetch(1);
  ds.to_vector();
  const std::string report = ds.report();
  INFO(report);
  CHECK_THAT(report, ContainsSubstring("map: 64 elements, 64 calls of "));
  CHECK_THAT(report, ContainsSubstring(" of 4 threads busy, consumer waits "));
  CHECK_THAT(report, !ContainsSubstring(" 0.0 of 4 threads busy"));  // all that they do is sleep in the function
  CHECK_THAT(report, ContainsSubstring("batch: 8 calls of"));
  CHECK_THAT(report, ContainsSubstring("prefetch: 8 elements"));
  CHECK(std::count(report.begin(), report.end(), '\n') == 4);
  for (int i = 0; i < 20; ++i)
    for (const Tensor& batch : ds)
      if (batch.size() > 0) break;
  const std::string later = ds.report();
  CHECK(later.find("MB") == std::string::npos);  // buffers of loops that were left are gone
}

}  // namespace data_dataset_buffer_test
