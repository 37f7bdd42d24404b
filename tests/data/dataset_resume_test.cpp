// Every stage begins anywhere: an iteration that was left behind k elements goes on in another process, as it were,
// with the same bits, and with the work of a few elements where the stage keeps marks.
#include <atomic>
#include <functional>

#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

namespace data_dataset_resume_test {
using namespace tandem;
using Floats = std::vector<float>;
using Calls = std::shared_ptr<std::atomic<i64>>;

Floats numbers_of(i64 x) { return {static_cast<float>(x)}; }
Floats numbers_of(float x) { return {x}; }
Floats numbers_of(const Tensor& x) {
  Floats r = cast(x, float32).to_vector<float>();
  for (const i64 d : x.shape()) r.push_back(static_cast<float>(d));
  return r;
}
template <class A, class B>
Floats numbers_of(const std::pair<A, B>& x) {
  Floats r = numbers_of(x.first);
  for (const float v : numbers_of(x.second)) r.push_back(v);
  return r;
}
template <class... T>
Floats numbers_of(const std::tuple<T...>& x) {
  Floats r;
  const auto add = [&](const Floats& more) { r.insert(r.end(), more.begin(), more.end()); };
  std::apply([&](const auto&... part) { (add(numbers_of(part)), ...); }, x);
  return r;
}
template <class T>
Floats numbers_of(const data::Dataset<T>& x) {
  Floats r{-1};
  for (const T& element : x.epoch(0))
    for (const float v : numbers_of(element)) r.push_back(v);
  return r;
}
// An error is an element.
template <class It>
std::vector<Floats> elements(It it, i64 most) {
  std::vector<Floats> r;
  for (i64 i = 0; i < most; ++i) try {
      auto x = it.next();
      if (!x) break;
      r.push_back(numbers_of(*x));
    } catch (const std::runtime_error& e) {
      r.push_back({-2});
    }
  return r;
}
// A pipeline of elements R; the functions of its stages may count their calls.
template <class R>
using Make = std::function<data::Dataset<R>(const Calls&)>;
template <class R>
void check_resumes(const Make<R>& make) {
  constexpr i64 most = 400;
  const auto calls = std::make_shared<std::atomic<i64>>(0);
  const auto all = elements(make(calls).iterator({1, 0}), most);
  const i64 n = std::ssize(all);
  REQUIRE(n > 10);
  const auto rest_of = [&](i64 k) { return std::vector<Floats>(all.begin() + k, all.end()); };
  for (const i64 k : {i64{0}, i64{1}, i64{2}, i64{5}, n / 3, n / 2, n - 2, n - 1, n}) {
    INFO("behind " << k << " of " << n);
    const auto first = make(calls), second = make(calls), third = make(calls);
    {
      auto it = first.iterator({1, 0});
      for (i64 i = 0; i < k; ++i) try {
          it.next();
        } catch (const std::runtime_error&) {
        }
      CHECK(it.position() == data::Position{1, k});
    }
    CHECK(elements(second.iterator({1, k}), most - k) == rest_of(k));  // without seek points
    third.set_seek_points(first.seek_points());
    CHECK(elements(third.iterator({1, k}), most - k) == rest_of(k));
    CHECK(elements(first.iterator({1, k}), most - k) == rest_of(k));
    const auto shard = [&](const auto& ds) { return elements(ds.shard(3, 2).skip(k / 3).iterator({1, 0}), 20); };
    CHECK(shard(third) == shard(second));  // passes over elements
  }
}
// Indexed and filtered elements, with threads before and behind, and one part of three. Of one type: each stage is
// compiled once.
struct Source {
  Make<i64> make;
  bool prefetches = false;  // behind the stage
};
std::vector<Source> sources(i64 size) {
  const auto all = [](i64) { return true; };
  const auto slow = [](i64 x) { return x + 0; };
  const auto source = [size] { return data::range(size).shuffle(); };
  const auto raises = [](i64 x) {
    if (x % 37 == 5) throw std::runtime_error("element");
    return x;
  };
  return {{[=](const Calls&) { return source(); }},
          {[=](const Calls&) { return source().filter([](i64 x) { return x % 4 != 1; }); }},
          {[=](const Calls&) { return source().map(slow, {.num_parallel_calls = 3}).filter(all); }, true},
          {[=](const Calls&) { return source().shard(3, 1); }},
          {[=](const Calls&) { return source().filter(all).shard(3, 2); }},
          {[=](const Calls&) { return source().map(raises); }}};
}
template <class Stage>
void check_stage(const Stage& stage, i64 size = 300) {
  using R = typename decltype(stage(data::Dataset<i64>()))::value_type;
  for (const Source& source : sources(size))
    check_resumes<R>([&](const Calls& calls) {
      const auto ds = stage(source.make(calls));
      return source.prefetches ? ds.prefetch(2) : ds;
    });
}
Tensor as_row(i64 x) { return ones({x % 7}) * static_cast<float>(x); }

TEST_CASE("resume: windows") {
  for (const bool drop : {false, true}) {
    check_stage([=](const auto& ds) { return ds.window(3, {.drop_remainder = drop}); });
    check_stage([=](const auto& ds) { return ds.window(4, {.shift = 1, .stride = 2, .drop_remainder = drop}); });
    check_stage([=](const auto& ds) { return ds.window(2, {.shift = 5, .drop_remainder = drop}); });
  }
}

TEST_CASE("resume: groups by key") {
  const auto key = [](i64 x) { return x % 5 - 2; };
  check_stage([=](const auto& ds) {
    return ds.group_by_window(
        key, [](i64, const data::Dataset<i64>& group) { return group.batch(4); }, 4);
  });
  check_stage([=](const auto& ds) {
    return ds.group_by_window(
        key,
        [](i64 k, const data::Dataset<i64>& group) { return group.shuffle().map([k](i64 x) { return x * 10 + k; }); },
        7);
  });
  check_stage([=](const auto& ds) {  // some groups give nothing
    return ds.group_by_window(
        key, [](i64 k, const data::Dataset<i64>& group) { return group.take(k); }, 3);
  });
}

TEST_CASE("resume: buckets by length") {
  const auto length = [](const Tensor& x) { return i64{x.shape()[0]}; };
  for (const bool drop : {false, true})
    check_stage(
        [=](const auto& ds) {
          return ds.map(as_row).bucket_by_sequence_length(length, {2, 4}, {5, 2, 3}, {.drop_remainder = drop});
        },
        drop ? 400 : 300);
}

TEST_CASE("resume: another distribution of classes, and draws among data sets") {
  check_stage([](const auto& ds) {
    return ds.rejection_resample([](i64 x) { return x % 3; }, {.2, .3, .5}, {.4, .3, .3});
  });
  check_stage([](const auto& ds) {
    return data::sample_from_datasets<i64>({ds, ds.map([](i64 x) { return -x; })}, {.3, .7});
  });
  check_stage([](const auto& ds) {
    return data::choose_from_datasets<i64>({ds, ds.map([](i64 x) { return -x; })},
                                           data::range(500).map([](i64 x) { return x / 3 % 2; }));
  });
}

TEST_CASE("resume: the other stages") {
  check_stage([](const auto& ds) { return ds.map([](i64 x) { return x + 1; }, {.num_parallel_calls = 2}); });
  check_stage([](const auto& ds) { return ds.map_batched([](const Tensor& x) { return x * x; }, {.batch_size = 16}); });
  check_stage([](const auto& ds) { return ds.take_while([](i64 x) { return x != 1; }).concatenate(data::range(30)); });
  check_stage([](const auto& ds) { return ds.scan(i64{0}, [](i64 sum, i64 x) { return std::pair(sum + x, sum); }); });
  check_stage([](const auto& ds) { return ds.flat_map([](i64 x) { return data::range(x, x + x % 4); }); });
  check_stage([](const auto& ds) {
    return ds.interleave([](i64 x) { return data::range(x, x + x % 4); }, {.cycle_length = 3, .block_length = 2});
  });
  check_stage([](const auto& ds) { return ds.shuffle(20); });
  check_stage([](const auto& ds) { return ds.repeat(2).skip(3).take(250).batch(2); });
  check_stage([](const auto& ds) { return ds.batch(7).unbatch(); });
  check_stage([](const auto& ds) { return ds.map(as_row).padded_batch(4); });
  check_stage([](const auto& ds) { return ds.enumerate(); });
  check_stage([](const auto& ds) { return data::zip(ds, ds.map([](i64 x) { return x * 2; })).prefetch(3); });
}

// How many elements are computed, and how many times a function of the stage is called, to begin at a position.
template <class Make>
void check_cheap(const Make& make, i64 most) {
  const auto calls = std::make_shared<std::atomic<i64>>(0);
  const auto first = make(calls);
  i64 k = 0;
  {
    auto it = first.iterator();
    for (; k < 701; ++k) REQUIRE(it.next());
  }
  CHECK(*calls > 1000);
  const auto second = make(calls);
  second.set_seek_points(first.seek_points());
  *calls = 0;
  REQUIRE(second.iterator({0, k}).next());
  CHECK(*calls <= most);
  CHECK(first.seek_points().size() < 60'000);
}

TEST_CASE("resume: what lies before is not computed again") {
  const auto source = [](const Calls& calls) {
    return data::range(100'000).shuffle().map([calls](i64 x) { return ++*calls, x; });
  };
  check_cheap([&](const Calls& calls) { return source(calls).window(5); }, 5);
  check_cheap([&](const Calls& calls) { return source(calls).window(2, {.shift = 9}).skip(20); }, 2);
  check_cheap(
      [&](const Calls& calls) {
        return source(calls).group_by_window([](i64 x) { return x % 10; },
                                             [](i64, const data::Dataset<i64>& group) { return group.batch(8); }, 8);
      },
      8 * 10 + 8 * 10);
  check_cheap(
      [&](const Calls& calls) {
        return source(calls).map(as_row).bucket_by_sequence_length([](const Tensor& x) { return i64{x.shape()[0]}; },
                                                                   {2, 4}, {16, 16, 16});
      },
      16 * 3 + 16 * 3);
  check_cheap(
      [&](const Calls& calls) {
        return source(calls).rejection_resample([](i64 x) { return x % 2; }, {.1, .9}, {.9, .1}).map([](auto x) {
          return x.second;
        });
      },
      300);
}

TEST_CASE("resume: a shuffle whose buffer is larger than the stream") {
  const auto stream = data::range(20).filter([](i64) { return true; });
  for (const i64 size : {i64{15}, i64{20}, i64{21}, i64{1'000'000'000}, i64{1} << 40}) {
    const auto ds = stream.shuffle(size);
    const auto all = elements(ds.iterator({1, 0}), 100);
    CHECK(all.size() == 20);
    for (const i64 at : {1, 5, 19, 20}) {
      INFO(size << " " << at);
      CHECK(elements(ds.iterator({1, at}), 100) == decltype(all)(all.begin() + at, all.end()));
    }
  }
}

TEST_CASE("resume: seek points that no group can have are refused") {
  const auto groups = [](const char* text) {
    const auto ds = data::range(100).group_by_window([](i64 x) { return x % 3; },
                                                     [](i64, const data::Dataset<i64>& group) { return group; }, 4);
    ds.set_seek_points(text);
    return elements(ds.iterator({0, 8}), 200).size();
  };
  CHECK(groups("0") == 92);
  for (const char* text : {"0 0 0 1 8 8 2 0 0 1 1 1 8", "0 0 0 1 8 8 2 0 0 1 1 2 3 0", "0 0 0 1 8 8 2 0 1 0",
                           "0 0 0 1 8 8 2 0 0 5000", "0 0 0 1 8 8 2 0 0 1 1 4097", "0 0 0 1 8 8 2 0 2 1 1 1 1",
                           "0 0 0 1 8 4611686018427387904 2 0 0 1 1 2 4611686018427387903 4611686018427387903",
                           "0 0 0 1 8 8 2 1 1 2 0 1 3 0 1 4", "0 0 0 1 8 500 2 0 0 1 1 1 300"}) {
    INFO(text);
    CHECK_THROWS_AS(groups(text), errors::InvalidArgumentError);
  }
  const auto buckets = data::range(100).map(as_row).bucket_by_sequence_length(
      [](const Tensor& x) { return i64{x.shape()[0]}; }, {2, 4}, {2, 2, 2});
  buckets.set_seek_points("0 0 0 1 8 20 0 0 0 1 7 1 3");
  CHECK_THROWS_AS(buckets.iterator({0, 8}), errors::InvalidArgumentError);
}

}  // namespace data_dataset_resume_test
