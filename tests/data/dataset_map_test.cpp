// Data sets: map on threads, its errors and random numbers, prefetch, the end of threads.
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_dataset_map_test {
using namespace tandem;
using testing::error_of;
using Longs = std::vector<i64>;

void sleep_ms(int n) { std::this_thread::sleep_for(std::chrono::milliseconds(n)); }

TEST_CASE("map: results are in order with any number of threads, of indexed data sets and streams") {
  Longs squares;
  for (i64 i = 0; i < 1000; ++i) squares.push_back(i * i);
  for (const i64 threads : {i64{0}, i64{1}, i64{2}, i64{8}, data::autotune}) {
    const auto square = [](i64 i) {
      if (i % 97 == 0) std::this_thread::yield();
      return i * i;
    };
    const data::MapOptions options{.num_parallel_calls = threads};
    CHECK(data::range(1000).map(square, options).to_vector() == squares);
    CHECK(data::range(1000).filter([](i64) { return true; }).map(square, options).to_vector() == squares);
    CHECK(data::range(2000).map(square, options).take(1000).to_vector() == squares);
  }
}

TEST_CASE("map: with deterministic = false every element comes once") {
  for (const bool indexed : {true, false}) {
    auto source = data::range(500);
    if (!indexed) source = source.filter([](i64) { return true; });
    const auto ds = source.map(
        [](i64 i) {
          if (i % 5 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
          return i;
        },
        {.num_parallel_calls = 4, .deterministic = false});
    std::set<i64> seen;
    i64 n = 0;
    for (const i64 i : ds) seen.insert(i), ++n;
    CHECK(n == 500);
    CHECK(seen.size() == 500);
  }
}

// Waits for what other threads do; false after ten seconds.
template <class F>
bool comes_true(const F& f) {
  for (int i = 0; i < 10'000 && !f(); ++i) sleep_ms(1);
  return f();
}

TEST_CASE("map: threads call the function at the same time, also of what lies behind") {
  std::atomic<int> now = 0, most = 0;
  const auto several = [&](i64 i) {  // goes on when all threads are here, or were
    const int n = ++now;
    for (int m = most; n > m && !most.compare_exchange_weak(m, n);) {
    }
    comes_true([&] { return most == 8; });
    --now;
    return i;
  };
  const auto ds = data::range(64).map(several, {.num_parallel_calls = 8}).shuffle().batch(16);
  i64 rows = 0;
  for (const Tensor& batch : ds) rows += batch.size();
  CHECK(rows == 64);
  CHECK(most == 8);
}

TEST_CASE("map: an error reaches the loop at its element, which can go on") {
  for (const i64 threads : {0, 1, 4}) {
    auto it = data::range(10)
                  .map(
                      [](i64 i) {
                        if (i == 3) errors::raise<errors::InvalidArgumentError>("decode", "no such picture");
                        if (i == 6) throw std::string("of the user's own kind");
                        return i;
                      },
                      {.num_parallel_calls = threads})
                  .iterator({2, 0});
    Longs seen;
    std::string text;
    int strings = 0;
    for (bool more = true; more;) {
      try {
        const auto i = it.next();
        more = i.has_value();
        if (more) seen.push_back(*i);
      } catch (const errors::InvalidArgumentError& e) {
        text = e.what();
      } catch (const std::string&) {
        ++strings;
      }
    }
    CHECK(seen == Longs{0, 1, 2, 4, 5, 7, 8, 9});
    CHECK_THAT(text, ContainsSubstring("decode: no such picture (element 3 of epoch 2, in map)"));
    CHECK(strings == 1);
    CHECK(it.position() == data::Position{2, 10});
  }
}

// Element 2 raises.
i64 two_raises(i64 i) {
  if (i == 2) errors::raise<errors::DataLossError>("read", "damaged");
  return i;
}
// What an iteration from `first` on gives: numbers, -1 for an error.
Longs outcome(const data::Dataset<i64>& ds, i64 first = 0, i64 most = 100) {
  Longs r;
  auto it = ds.iterator({0, first});
  for (i64 n = 0; n < most; ++n) try {
      const auto i = it.next();
      if (!i) break;
      r.push_back(*i);
    } catch (const errors::OpError&) {
      r.push_back(-1);
    }
  return r;
}

TEST_CASE("Dataset: an error is an element: iterations begin behind it, with any number of threads") {
  using D = data::Dataset<i64>;
  const auto sum = [](const Tensor& x) { return reduce_sum(x).item<i64>(); };
  const std::vector<std::pair<const char*, std::function<D(D)>>> stages = {
      {"alone", [](const D& d) { return d; }},
      {"batch", [&](const D& d) { return d.batch(3).map(sum); }},
      {"stream", [](const D& d) { return d.filter([](i64) { return true; }); }},
      {"stream batch", [&](const D& d) { return d.filter([](i64) { return true; }).batch(3).map(sum); }},
      {"shard", [](const D& d) { return d.filter([](i64) { return true; }).shard(2, 1); }},
      {"shuffle", [](const D& d) { return d.filter([](i64) { return true; }).shuffle(4); }},
      {"zip", [](const D& d) { return data::zip(d, data::range(7)).map([](i64 a, i64 b) { return 10 * a + b; }); }},
      {"zip of a stream",
       [](const D& d) {
         return data::zip(d.filter([](i64) { return true; }), data::range(7)).map([](i64 a, i64 b) {
           return 10 * a + b;
         });
       }},
      {"repeat", [](const D& d) { return d.filter([](i64) { return true; }).repeat(2); }},
      {"concatenate", [](const D& d) { return data::range(3).concatenate(d.filter([](i64) { return true; })); }},
      {"prefetch", [](const D& d) { return d.prefetch(2); }},
      {"noise", [](const D& d) {
         return d.map([](i64 i) { return 1000 * i + random::uniform({}, 0, 100, {.dtype = int64}).item<i64>(); });
       }}};
  random::set_seed(3);
  for (const auto& [name, stage] : stages) {
    const Longs all = outcome(stage(data::range(7).map(two_raises)));
    INFO(name);
    CHECK(std::count(all.begin(), all.end(), -1) == (std::string(name) == "repeat"  ? 2
                                                     : std::string(name) == "shard" ? 0
                                                                                    : 1));
    for (const i64 threads : {0, 2}) {
      const D ds = stage(data::range(7).map(two_raises, {.num_parallel_calls = threads}));
      for (i64 first = 0; first <= std::ssize(all); ++first)
        CHECK(outcome(ds, first) == Longs(all.begin() + first, all.end()));
    }
  }
  CHECK(outcome(stages[1].second(data::range(7).map(two_raises))) == Longs{-1, 12, 6});
  CHECK(outcome(stages[6].second(data::range(7).map(two_raises)).take(4)) == Longs{0, 11, -1, 33});
}

TEST_CASE("Dataset: errors do not stay: unbatch goes on, what was not whole is not kept") {
  const Tensor three = ones({3}), two = ones({2});
  const auto rows = data::from_items(std::vector<std::array<Tensor, 2>>{{three, three}, {two, three}, {three, three}})
                        .unbatch()
                        .map([](const Tensor&, const Tensor&) { return i64{0}; });
  CHECK(outcome(rows) == Longs{0, 0, 0, -1, 0, 0, 0});
  int calls = 0;
  const auto once = data::range(4).filter([&](i64) {
    if (++calls == 2) errors::raise<errors::UnavailableError>("read", "not now");
    return true;
  });
  const auto cached = once.cache();
  CHECK(outcome(cached) == Longs{0, -1, 2, 3});
  CHECK(outcome(cached) == Longs{0, 1, 2, 3});
  CHECK(cached.size() == 4);
}

TEST_CASE("Dataset: batches of bools, and of everything else that a vector keeps otherwise") {
  CHECK(data::range(5).map([](i64 i) { return i % 2 == 0; }).batch(5).at(0, 0).to_vector<bool>() ==
        std::vector<bool>{true, false, true, false, true});
  const auto stream = data::range(3).filter([](i64) { return true; }).map([](i64 i) { return i == 1; });
  CHECK(stream.batch(3).to_vector()[0].to_vector<bool>() == std::vector<bool>{false, true, false});
}

TEST_CASE("ignore_errors: counts them, tells the first, and ends where nothing comes any more") {
  static std::vector<std::string> warnings;
  warnings.clear();
  set_warning_handler([](const char* text) { warnings.emplace_back(text); });
  const auto ds = data::range(100)
                      .map([](i64 i) {
                        if (i % 3 == 0) errors::raise<errors::InvalidArgumentError>("decode", "bad");
                        return i;
                      })
                      .ignore_errors();
  CHECK(ds.to_vector().size() == 66);
  CHECK(warnings.size() == 10);
  CHECK_THAT(warnings[0], ContainsSubstring("ignore_errors: decode: bad (element 0 of epoch 0, in map)"));
  CHECK_THAT(ds.report(), ContainsSubstring("34 errors ignored"));
  set_warning_handler(nullptr);
  const auto never = data::range(100)
                         .map([](i64) -> i64 { errors::raise<errors::InvalidArgumentError>("decode", "bad"); })
                         .ignore_errors(5);
  CHECK_THROWS_AS(never.to_vector(), errors::InvalidArgumentError);
}

TEST_CASE("map: random numbers depend on the element and the epoch, not on threads or where a loop begins") {
  const auto make = [](i64 threads, i64 seed = 0) {
    return data::range(40).map([](i64) { return random::uniform({2}) + random::normal({2}); },
                               {.num_parallel_calls = threads, .seed = seed});
  };
  const auto values = [](const auto& ds, i64 epoch, i64 first = 0) {
    std::vector<float> r;
    for (const Tensor& x : ds.epoch(epoch, first))
      for (const float v : x.template to_vector<float>()) r.push_back(v);
    return r;
  };
  random::set_seed(5);
  const auto serial = values(make(0), 1);
  random::uniform({3});  // other draws do not matter
  CHECK(values(make(4), 1) == serial);
  CHECK(values(make(4), 1, 10) == std::vector<float>(serial.begin() + 20, serial.end()));
  CHECK(values(make(0), 2) != serial);
  CHECK(values(make(0, 1), 1) != serial);
  CHECK(std::set<float>(serial.begin(), serial.end()).size() == serial.size());
  random::set_seed(6);
  CHECK(values(make(0), 1) != serial);
  random::set_seed(5);
  CHECK(values(make(2), 1) == serial);
  // The numbers of places in a pipeline differ: of maps side by side, of parts, of inner data sets, of repetitions.
  const auto draw = [](i64) { return random::uniform({}).item<float>(); };
  const auto draws = data::range(3).map(draw);
  for (auto& [a, b] : data::zip(draws, draws)) CHECK(a != b);
  for (const auto& several :
       {draws.concatenate(draws), draws.repeat(3),
        data::range(3).flat_map([&](i64) { return data::range(3).map(draw); }),
        data::range(3).interleave([&](i64) { return data::range(3).map(draw); }, {.cycle_length = 2})}) {
    std::vector<float> seen;
    for (const i64 epoch : {0, 1})
      for (const float v : several.epoch(epoch)) seen.push_back(v);
    CHECK(std::set<float>(seen.begin(), seen.end()).size() == seen.size());
  }
  const auto shuffled = data::range(2).flat_map([](i64) { return data::range(30).shuffle(); }).to_vector();
  CHECK(Longs(shuffled.begin(), shuffled.begin() + 30) != Longs(shuffled.begin() + 30, shuffled.end()));
  const auto pairs = data::range(30).shuffle({.seed = 4});
  for (auto& [a, b] : data::zip(pairs, pairs)) CHECK(a == b);  // shuffles of one seed stay together
  // Two maps draw different numbers for an element; an op's own seed selects another sequence.
  const auto both = data::range(1)
                        .map([](i64) { return random::uniform({1}); })
                        .map([](const Tensor& x) {
                          return concat({x, random::uniform({1})}, 0);
                        })
                        .to_vector()[0]
                        .to_vector<float>();
  CHECK(both[0] != both[1]);
  const auto seeded =
      data::range(2).map([](i64) { return random::uniform({1}, {.seed = 3}); }, {.num_parallel_calls = 2}).to_vector();
  CHECK(seeded[0].item<float>() != seeded[1].item<float>());
}

TEST_CASE("map: functions get the parts of an element, or the whole of it") {
  const auto pairs = data::zip(data::range(3), data::range(10, 13));
  CHECK(pairs.map([](i64 a, i64 b) { return a * b; }).to_vector() == Longs{0, 11, 24});
  CHECK(pairs.map([](std::tuple<i64, i64> p) { return std::get<1>(p); }).to_vector() == Longs{10, 11, 12});
  CHECK(pairs.filter([](i64 a, i64) { return a > 0; }).to_vector().size() == 2);
  const auto tensors = data::from_tensor_slices(range(4)).filter([](const Tensor& x) { return x > 1; });
  CHECK(tensors.to_vector().size() == 2);
}

TEST_CASE("prefetch: elements are made ahead of the loop, as many as asked for") {
  std::atomic<i64> made = 0;
  const auto ds = data::range(100).map([&](i64 i) { return ++made, i; }).prefetch(4);
  auto it = ds.iterator();
  CHECK(made == 0);  // nothing before the first request
  CHECK(*it.next() == 0);
  CHECK(comes_true([&] { return made >= 5; }));
  sleep_ms(20);
  CHECK(made <= 6);
  CHECK(data::range(300).prefetch(3).to_vector() == data::range(300).to_vector());
  CHECK(data::range(300).prefetch(data::autotune).to_vector() == data::range(300).to_vector());
}

TEST_CASE("prefetch(1): one element is made while another is consumed") {
  std::atomic<int> made = 0;
  const auto ds = data::range(10).map([&](i64 i) { return ++made, i; }).prefetch(1);
  auto it = ds.iterator();
  it.next();
  CHECK(comes_true([&] { return made >= 2; }));
}

TEST_CASE("prefetch: whenever the loop goes on by one slow element, one more is made") {
  std::atomic<int> made = 0;
  const auto ds = data::range(100).map([&](i64 i) { return sleep_ms(1), ++made, i; }).prefetch(4);
  auto it = ds.iterator();
  for (int taken = 1; taken <= 12; ++taken) {
    it.next();
    CHECK(comes_true([&] { return made == taken + 4; }));  // the loop holds one
  }
}

TEST_CASE("prefetch: an element is handed over before the next one is read") {
  std::atomic<i64> taken = 0;
  std::atomic<int> late = 0;
  const auto ds = data::range(200)
                      .map([&](i64 i) {
                        if (i > 100 && !comes_true([&] { return taken >= i; })) ++late;  // those before are consumed
                        return i;
                      })
                      .prefetch(16);
  for (const i64 i : ds) taken = i + 1;
  CHECK(taken == 200);
  CHECK(late == 0);
}

TEST_CASE("map: slow elements behind many cheap ones are handed over as they are made") {
  for (const bool deterministic : {true, false}) {
    std::atomic<int> slow = 0;
    const auto ds = data::range(6000).map(
        [&](i64 i) {
          if (i >= 5000) sleep_ms(5), ++slow;
          return i;
        },
        {.num_parallel_calls = 2, .deterministic = deterministic});
    auto it = ds.iterator();
    while (*it.next() < 5000) {
    }
    CHECK(slow <= 60);
    it = data::range(1).map([](i64 i) { return i; }, {.num_parallel_calls = 1}).iterator();  // ends the threads
    CHECK(slow <= 120);
  }
}

TEST_CASE("map: with autotune, slow elements are not piled up") {
  std::atomic<int> made = 0;
  const auto ds =
      data::range(1000).map([&](i64 i) { return sleep_ms(1), ++made, i; }, {.num_parallel_calls = data::autotune});
  auto it = ds.iterator();
  for (int i = 0; i < 30; ++i) it.next();
  sleep_ms(300);
  CHECK(made <= 30 + 4 * static_cast<int>(std::thread::hardware_concurrency()) + 8);
}

TEST_CASE("Dataset: leaving a loop ends its threads, ten thousand times") {
  const auto ds = data::range(1000).map([](i64 i) { return i; }, {.num_parallel_calls = 2}).prefetch(2);
  const auto threads = [] {  // of this process, as the system counts them
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
    return 0;
  };
  const int before = threads();
  constexpr int loops = 10000;
  i64 sum = 0;
  for (int i = 0; i < loops; ++i)
    for (const i64 x : ds.epoch(0, i % 900)) {
      sum += x;
      if (x % 7 == 0) break;
    }
  CHECK(sum > 0);
  CHECK(comes_true([&] { return threads() == before; }));  // the system counts an ended one for a moment
  // An iterator that is destroyed before, in and after its run.
  { auto unused = ds.iterator(); }
  {
    auto some = ds.iterator();
    some.next();
    auto moved = std::move(some);
    CHECK(moved.next());
    moved = ds.iterator({0, 990});
    while (moved.next()) {
    }
  }
  CHECK(comes_true([&] { return threads() == before; }));  // the system counts an ended one for a moment
}

TEST_CASE("Dataset: the data set may end before its iteration") {
  auto it = data::range(100).map([](i64 i) { return i; }, {.num_parallel_calls = 2}).prefetch(2).iterator();
  i64 n = 0;
  while (it.next()) ++n;
  CHECK(n == 100);
}

}  // namespace data_dataset_map_test
