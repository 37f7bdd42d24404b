// The caching allocator: classes, alignment, reuse, counters, limit, trim, blocks that another thread frees.
#include "tandem/core/allocator.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "tandem/core/tensor.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using testing::error_of;

namespace {
// The limit holds for one test.
struct Limit {
  explicit Limit(std::int64_t bytes) { memory::set_limit(bytes); }
  ~Limit() { memory::set_limit(0); }
};
}  // namespace

TEST_CASE("allocator: classes hold what is asked for and waste at most a quarter") {
  int before = 0;
  for (std::size_t n = 1; n < (std::size_t{1} << 40); n += n / 7 + 1) {
    const int c = memory::class_of(n);
    REQUIRE(c >= before);
    REQUIRE(c < memory::classes);
    REQUIRE(memory::class_size(c) >= n);
    if (n > 64) REQUIRE(static_cast<double>(memory::class_size(c)) <= 1.25 * static_cast<double>(n) + 1);
    if (c) REQUIRE(memory::class_size(c - 1) < n);
    before = c;
  }
}

TEST_CASE("allocator: blocks are aligned and do not overlap") {
  std::vector<std::pair<char*, int>> blocks;
  for (const std::size_t n : {1u, 64u, 65u, 1000u, 4096u, 70000u, 300000u, 3000000u})
    for (int i = 0; i < 5; ++i) {
      const int c = memory::class_of(n);
      auto* p = static_cast<char*>(memory::allocate(c));
      CHECK(reinterpret_cast<std::uintptr_t>(p) % 64 == 0);
      std::fill(p, p + memory::class_size(c), static_cast<char>(blocks.size()));
      blocks.emplace_back(p, c);
    }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [p, c] = blocks[i];
    CHECK(p[0] == static_cast<char>(i));
    CHECK(p[memory::class_size(c) - 1] == static_cast<char>(i));
    memory::release(p, c);
  }
}

TEST_CASE("allocator: what was freed is served again without a miss") {
  for (const i64 n : {i64{10}, i64{5000}, i64{400000}}) {
    { const Tensor warm = Tensor::allocate({{n}, float32, {}}); }
    const std::uint64_t misses = memory::info().misses;
    for (int i = 0; i < 100; ++i) const Tensor t = Tensor::allocate({{n}, float32, {}});
    CHECK(memory::info().misses == misses);
  }
}

TEST_CASE("allocator: live and peak follow large tensors exactly") {
  constexpr i64 large = 1 << 22;
  const std::int64_t before = memory::info().live;
  memory::reset_peak();
  {
    const Tensor a = Tensor::allocate({{large}, uint8, {}});
    CHECK(memory::info().live - before >= large);
    CHECK(memory::info().live - before < large + 65536);
    { const Tensor b = Tensor::allocate({{large}, uint8, {}}); }
    CHECK(memory::info().live - before < large + 65536);
    CHECK(memory::info().peak - before >= 2 * large);
    CHECK(memory::info().peak - before < 2 * large + 131072);
  }
  CHECK(std::abs(memory::info().live - before) < 65536);
  memory::reset_peak();
  CHECK(memory::info().peak == memory::info().live);
}

TEST_CASE("allocator: live counts small tensors too") {
  const std::int64_t before = memory::info().live;
  std::vector<Tensor> many;
  for (int i = 0; i < 1000; ++i) many.push_back(Tensor::allocate({{16}, float32, {}}));
  CHECK(memory::info().live - before >= 1000 * 192);
  many.clear();
  CHECK(memory::info().live - before < 1024);
}

TEST_CASE("allocator: a request above the limit raises, says how much, and changes nothing") {
  const std::int64_t before = memory::info().live;
  {
    const Limit limit(before + (1 << 20));
    const Tensor fits = Tensor::allocate({{1 << 17}, float32, {}});
    const std::string text = error_of<errors::ResourceExhaustedError>([] {
      Tensor::allocate({{1000, 500}, float32, {}});
    });
    CHECK_THAT(text, ContainsSubstring("float32[1000,500]") && ContainsSubstring("2000000 bytes") &&
                         ContainsSubstring("limit of " + std::to_string(before + (1 << 20))) &&
                         ContainsSubstring("memory::set_limit"));
    CHECK(memory::info().limit == before + (1 << 20));
    const std::string located = error_of<errors::ResourceExhaustedError>([] { zeros({1 << 20}); });
    CHECK_THAT(located, ContainsSubstring("(at "));
    CHECK(located.find("(at ") == located.rfind("(at "));  // the place is said once
  }
  CHECK(std::abs(memory::info().live - before) < 65536);
  CHECK(zeros({1 << 20}).size() == 1 << 20);
}

TEST_CASE("allocator: the text names the shape for middle-sized tensors too") {
  const Limit limit(memory::info().live + 1000);
  const std::string text = error_of<errors::ResourceExhaustedError>([] {
    Tensor::allocate({{100, 400}, float32, {}});
  });
  CHECK_THAT(text, ContainsSubstring("float32[100,400]") && ContainsSubstring("160000 bytes"));
}

TEST_CASE("allocator: a string tensor above the limit raises") {
  const Limit limit(memory::info().live + 1000);
  CHECK_THROWS_AS(Tensor::allocate({{1 << 20}, string, {}}), errors::ResourceExhaustedError);
}

TEST_CASE("allocator: shapes that no memory can hold raise") {
  CHECK_THROWS_AS(Tensor::allocate({{i64{1} << 62, 4}, float32, {}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(Tensor::allocate({{3, -1}, float32, {}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(Tensor::allocate({{3, none}, float32, {}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(Tensor::allocate({{i64{1} << 46}, float64, {}}), errors::ResourceExhaustedError);
}

TEST_CASE("allocator: trim gives cached blocks back") {
  { const Tensor t = Tensor::allocate({{1 << 24}, uint8, {}}); }
  const std::int64_t cached = memory::info().cached, freed = memory::trim();
  CHECK(freed >= 1 << 24);
  CHECK(memory::info().cached == cached - freed);
  CHECK(memory::trim() == 0);
  const std::uint64_t misses = memory::info().misses;
  { const Tensor t = Tensor::allocate({{1 << 24}, uint8, {}}); }
  CHECK(memory::info().misses == misses + 1 + 1);  // the data and the header
}

namespace {
// One live tensor at a time, of many sizes.
void many_sizes() {
  for (i64 n = 1 << 14; n < i64{1} << 25; n += n / 4) const Tensor t = Tensor::allocate({{n}, uint8, {}});
}
}  // namespace

TEST_CASE("allocator: what is cached is counted, wherever it lies") {
  memory::trim();
  const memory::Info before = memory::info();
  many_sizes();
  const memory::Info after = memory::info();
  CHECK(std::abs(after.live - before.live) < 65536);
  // Each class's block is still there: together about five times the largest.
  CHECK(after.cached - before.cached > 4 << 25);
  const std::int64_t freed = memory::trim();
  CHECK(freed == after.cached - memory::info().cached);
  CHECK(memory::info().cached <= before.cached + 65536);
}

TEST_CASE("allocator: a limit frees what is cached") {
  memory::trim();
  const std::int64_t others = memory::info().cached;  // in other threads' lists
  many_sizes();
  {
    const Limit limit(memory::info().live + others + (32 << 20));
    CHECK(memory::info().cached <= others + (32 << 20) + 65536);
    many_sizes();
    CHECK(memory::info().cached <= others + (32 << 20) + 65536);
    const Tensor t = Tensor::allocate({{24 << 20}, uint8, {}});  // fits beside what is live
    CHECK(memory::info().cached <= others + (8 << 20) + 65536);
  }
}

TEST_CASE("allocator: a thread keeps no more than its share, and nothing when it has ended") {
  memory::trim();
  const std::int64_t others = memory::info().cached;
  std::int64_t kept = -1, all = -1;
  std::thread([&] {
    {
      std::vector<Tensor> live;
      for (const i64 n : {i64{100}, i64{50000}, i64{3000000}})
        for (int i = 0; i < 60; ++i) live.push_back(Tensor::allocate({{n}, uint8, {}}));
    }
    all = memory::info().cached;
    memory::Cache& c = *context.cache;
    kept = 0;
    for (int cls = 0; cls < memory::classes; ++cls)
      kept += (memory::most_kept(cls) - c.room[cls]) * static_cast<std::int64_t>(memory::class_size(cls));
  }).join();
  CHECK(all - others > 60 * 3000000);
  CHECK(kept <= memory::kept_of_large + 3 * memory::kept_of_small);
  // What the thread kept went back to the system, the rest is in the central list.
  CHECK(std::abs(memory::info().cached - (all - kept)) < 2 * 65536);
}

TEST_CASE("allocator: a trim reaches the lists of other threads when they come by") {
  std::atomic<int> stage{0};
  const auto wait_for = [&](int n) {
    while (stage < n) std::this_thread::yield();
  };
  std::int64_t kept = -1;
  std::thread other([&] {
    { const Tensor t = Tensor::allocate({{1 << 20}, uint8, {}}); }
    stage = 1;
    wait_for(2);
    { const Tensor t = Tensor::allocate({{1 << 22}, uint8, {}}); }
    kept = context.cache->large;
  });
  wait_for(1);
  memory::trim();
  stage = 2;
  other.join();
  CHECK(kept <= static_cast<std::int64_t>(memory::class_size(memory::class_of((1 << 22) + 64))));
}

TEST_CASE("allocator: blocks may be freed by another thread") {
  const std::int64_t before = memory::info().live;
  for (int round = 0; round < 20; ++round) {
    std::vector<Tensor> made;
    for (int i = 0; i < 500; ++i) made.push_back(Tensor::allocate({{i % 7 * 1000 + 1}, float32, {}}));
    std::thread([taken = std::move(made)]() mutable { taken.clear(); }).join();
  }
  CHECK(std::abs(memory::info().live - before) < 2 * 65536);
}

TEST_CASE("allocator: small blocks that one thread allocates and another one releases come back") {
  const std::int64_t live = memory::info().live;
  constexpr std::size_t at_once = 2000;  // more than a thread keeps
  const auto pass_on = [&] {
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{1000}, std::size_t{5000}, std::size_t{60'000}}) {
      const int cls = memory::class_of(bytes);
      std::vector<void*> blocks;
      for (std::size_t i = 0; i < at_once; ++i) {
        blocks.push_back(memory::allocate(cls, bytes));
        std::memset(blocks.back(), static_cast<int>(i), bytes);
      }
      CHECK(std::set<void*>(blocks.begin(), blocks.end()).size() == at_once);
      std::thread([&] {
        for (void* p : blocks) memory::release(p, cls);
      }).join();
    }
  };
  pass_on();
  const std::uint64_t misses = memory::info().misses;
  for (int i = 0; i < 3; ++i) pass_on();
  // The consumers' threads end, and free what they have kept: 256 small blocks, or 1 MB of a class.
  CHECK(memory::info().misses - misses <= 3 * (256 + 256 + 204 + 17));
  CHECK(std::abs(memory::info().live - live) < 2 * 65536);
}

TEST_CASE("allocator: a producer and a consumer do not make memory grow") {
  const auto pass_on = [] {
    for (int i = 0; i < 3000; ++i) {
      Tensor t = Tensor::allocate({{1000}, float32, {}});
      if (i % 100 == 0) std::thread([t = std::move(t)]() mutable { t = Tensor(); }).join();
    }
  };
  pass_on();
  const std::uint64_t misses = memory::info().misses;
  pass_on();
  CHECK(memory::info().misses - misses < 100);
}
