// Streams whose functions decide what comes begin in the middle without calling these for what lies before.
#include <atomic>
#include <fstream>

#include "tandem/data/dataset_files.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace data_dataset_marks_test {
using namespace tandem;
using testing::error_of, testing::TemporaryFolder;

using Calls = std::shared_ptr<std::atomic<i64>>;

template <class T>
std::vector<T> elements_of(data::Iterator<T>& it) {
  std::vector<T> r;
  while (auto element = it.next()) r.push_back(*std::move(element));
  return r;
}

// Reads a data set up to positions in one process, as it were, and from there on in another one, which gets the first
// one's text: compares with the whole. The other one may call the function of the pipeline so many times up to its
// first element; a third one, in the first process, too. make(calls) counts the calls.
template <class Make>
void check_goes_on(const Make& make, i64 most_calls) {
  const auto begun = [&](const auto& ds, i64 position, const Calls& calls, const auto& expected) {
    const i64 before = *calls;
    auto it = ds.iterator({1, position});
    auto first = it.next();
    CHECK(*calls - before <= most_calls);
    auto rest = elements_of(it);
    if (first) rest.insert(rest.begin(), *first);
    CHECK(rest == std::decay_t<decltype(rest)>(expected.begin() + position, expected.end()));
  };
  const Calls unused = std::make_shared<std::atomic<i64>>(0);
  auto whole = make(unused).iterator({1, 0});
  const auto expected = elements_of(whole);
  const i64 n = std::ssize(expected);
  REQUIRE(n > 500);
  for (const i64 position : {i64{0}, i64{1}, i64{8}, i64{9}, i64{100}, n / 2, n - 13, n - 1, n}) {
    INFO("position " << position << " of " << n);
    const Calls calls = std::make_shared<std::atomic<i64>>(0), other_calls = std::make_shared<std::atomic<i64>>(0);
    const auto ds = make(calls);
    {
      auto it = ds.iterator({1, 0});
      for (i64 i = 0; i < position; ++i) REQUIRE(it.next().has_value());
      CHECK(it.position() == data::Position{1, position});
    }
    const auto other = make(other_calls);
    other.set_seek_points(ds.seek_points());
    begun(other, position, other_calls, expected);
    begun(ds, position, calls, expected);
  }
}

bool odd(i64 x) { return x % 3 == 1; }

TEST_CASE("marks: filter, also behind a shuffle, and before batches on another thread") {
  const auto filter = [](i64 one_in) {
    return [one_in](const Calls& calls) {
      return data::range(500 * one_in + 700).shuffle().filter([calls, one_in](i64 x) {
        ++*calls;
        return x % one_in == 0;
      });
    };
  };
  check_goes_on(filter(1), 8);
  check_goes_on(filter(2), 40);
  check_goes_on(filter(300), 2500);  // of 150,000: marks lie behind each of its elements
  check_goes_on(
      [](const Calls& calls) {
        return data::range(30'000)
            .map([](i64 x) { return x + 1; }, {.num_parallel_calls = 2})
            .filter([calls](i64 x) {
              ++*calls;
              return odd(x);
            })
            .batch(10)
            .map([](const Tensor& t) { return t.to_vector<i64>(); })
            .prefetch(2);
      },
      900);  // of 30,000: what is ahead of the consumer, and 1 in 16 of it
}

TEST_CASE("marks: take_while and parts of filtered data sets") {
  const auto make = [](const Calls& calls) {
    const auto count = [calls](i64 x) {
      ++*calls;
      return odd(x);
    };
    return data::range(3000).filter(count).skip(11).concatenate(data::range(100)).take_while([](i64 x) {
      return x != 99;
    });
  };
  check_goes_on(make, 100);
}

TEST_CASE("marks: the state of scan is kept, unless it is large") {
  const auto sums = [](const Calls& calls) {
    return data::range(2000).scan(std::pair(i64{0}, std::string()), [calls](const auto& state, i64 x) {
      ++*calls;
      const std::pair next(state.first + x, state.second.substr(0, 5) + std::to_string(x % 7));
      return std::pair(next, std::to_string(next.first) + next.second);
    });
  };
  check_goes_on(sums, 8);
  const auto tensors = [](i64 size) {
    return [size](const Calls& calls) {
      return data::range(600).scan(zeros({size}, {.dtype = int64}), [calls](const Tensor& state, i64 x) {
        ++*calls;
        const Tensor next = state + x;
        return std::pair(next, next[0].item<i64>());
      });
    };
  };
  check_goes_on(tensors(3), 8);
  check_goes_on(tensors(1000), 601);  // 8 KB: all again
  struct Counter {
    explicit Counter(i64 i) : n(i) {}
    i64 n;
  };
  const auto objects = [](const Calls& calls) {  // of a type without bytes
    return data::range(600).scan(Counter(1), [calls](const Counter& c, i64 x) {
      ++*calls;
      return std::pair(Counter(c.n + x), c.n);
    });
  };
  check_goes_on(objects, 601);
}

TEST_CASE("marks: flat_map and interleave call their function for what is being read") {
  const auto nested = [](i64 cycle, i64 block) {
    return [=](const Calls& calls) {
      const auto f = [calls](i64 x) {
        ++*calls;
        return data::range(10 * x, 10 * x + x % 7).shuffle();
      };
      const auto ds = data::range(400).shuffle();
      return cycle == 0 ? ds.flat_map(f) : ds.interleave(f, {.cycle_length = cycle, .block_length = block});
    };
  };
  check_goes_on(nested(0, 1), 15);
  check_goes_on(nested(1, 3), 15);
  check_goes_on(nested(4, 2), 60);
  check_goes_on(nested(16, 1), 260);
  check_goes_on(nested(2000, 1), 401);  // more than there are
}

TEST_CASE("marks: unbatch reads the batch that it was in") {
  const auto make = [](const Calls& calls) {
    return data::range(5000)
        .batch(13)
        .map([calls](const Tensor& t) {
          ++*calls;
          return t * 2;
        })
        .unbatch()
        .map([](const Tensor& t) { return t.item<i64>(); });
  };
  check_goes_on(make, 3);
}

TEST_CASE("marks: an error is an element, also where a run begins behind it") {
  const auto calls = std::make_shared<std::atomic<i64>>(0);
  const auto make = [&] {
    return data::range(4000).filter([calls](i64 x) {
      ++*calls;
      if (x % 100 == 50) errors::raise<errors::InvalidArgumentError>("test", "element");
      return x % 4 == 0;
    });
  };
  const auto next = [](auto& it) -> i64 {
    try {
      const auto element = it.next();
      return element ? *element : -2;
    } catch (const errors::InvalidArgumentError&) {
      return -1;
    }
  };
  const auto ds = make();
  std::vector<i64> expected;
  auto whole = ds.iterator();
  for (i64 x; (x = next(whole)) != -2;) expected.push_back(x);
  CHECK(std::count(expected.begin(), expected.end(), -1) == 40);
  const auto other = make();
  other.set_seek_points(ds.seek_points());
  for (const i64 position : {12, 13, 14, 1000, 1027, 1039}) {
    INFO(position);
    *calls = 0;
    auto it = other.iterator({0, position});
    CHECK(next(it) == expected[static_cast<std::size_t>(position)]);
    CHECK(*calls < 700);
  }
  // Left out by ignore_errors: the place in its input is known.
  const auto rest = [&](const auto& d, i64 position) {
    auto it = d.iterator({0, position});
    return elements_of(it);
  };
  const auto quiet = make().ignore_errors(), quiet_other = make().ignore_errors();
  const auto all = rest(quiet, 0);
  CHECK(std::ssize(all) == 1000);
  quiet_other.set_seek_points(quiet.seek_points());
  *calls = 0;
  CHECK(rest(quiet_other, 900) == std::vector<i64>(all.begin() + 900, all.end()));
  CHECK(*calls < 800);
}

TEST_CASE("marks: several runs and epochs at a time have their own") {
  const auto ds = data::range(3000).shuffle().filter(odd);
  std::vector<data::Iterator<i64>> runs;
  for (i64 epoch = 0; epoch < 6; ++epoch) runs.push_back(ds.iterator({epoch, 0}));
  std::vector<std::vector<i64>> expected(6);
  for (i64 i = 0; i < 800; ++i)
    for (std::size_t epoch = 0; epoch < 6; ++epoch) expected[epoch].push_back(*runs[epoch].next());
  for (i64 epoch = 0; epoch < 6; ++epoch)
    for (const i64 at : {5, 333, 799})
      CHECK(*ds.iterator({epoch, at}).next() ==
            expected[static_cast<std::size_t>(epoch)][static_cast<std::size_t>(at)]);
}

TEST_CASE("marks: those behind files that have changed are not used") {
  const TemporaryFolder folder;
  const auto write = [&](i64 first, i64 count) {
    std::ofstream out(folder / "a.txt");
    for (i64 i = first; i < first + count; ++i) out << i << '\n';
  };
  const auto make = [&] {
    return data::TextLineDataset(folder / "a.txt")
        .map([](const std::string& s) { return i64{std::stoll(s)}; })
        .filter(odd);
  };
  write(0, 1000);
  const auto first = make();
  auto it = first.iterator();
  elements_of(it);
  const std::string text = first.seek_points();
  const auto same = make();
  same.set_seek_points(text);
  CHECK(*same.iterator({0, 200}).next() == 601);
  write(1'000'000, 2000);
  const auto other = make();
  other.set_seek_points(text);
  const i64 right = *make().iterator({0, 200}).next();
  CHECK(right == 1'000'600);
  CHECK(*other.iterator({0, 200}).next() == right);
  CHECK(*first.iterator({0, 200}).next() == right);
  // Behind stages that begin their input at its beginning and pass over elements.
  const auto buffered = [&] { return make().shuffle(10, {.seed = 1}); };
  const auto before = buffered();
  auto all = before.iterator();
  elements_of(all);
  write(2'000'000, 2000);
  CHECK(*before.iterator({0, 300}).next() == *buffered().iterator({0, 300}).next());
}

TEST_CASE("marks: those behind choices from a file that has changed are not used; the report has the choice's stages") {
  const TemporaryFolder folder;
  const auto write = [&](const char* text) {
    std::ofstream out(folder / "choice.txt");
    for (i64 i = 0; i < 1000; ++i) out << text;
  };
  const auto make = [&] {
    const auto choice =
        data::TextLineDataset(folder / "choice.txt").map([](const std::string& s) { return i64{std::stoll(s)}; });
    return data::choose_from_datasets<i64>({data::range(9000), data::range(10'000, 19'000)}, choice).filter(odd);
  };
  write("0\n1\n");
  const auto first = make();
  auto it = first.iterator();
  elements_of(it);
  const std::string report = first.report();
  CHECK_THAT(report, ContainsSubstring("TextLineDataset"));
  CHECK_THAT(report, ContainsSubstring("map: 2000 calls"));
  const std::string text = first.seek_points();
  const auto same = make();
  same.set_seek_points(text);
  CHECK(*same.iterator({0, 300}).next() == *first.iterator({0, 300}).next());
  write("1\n1\n0\n");
  const auto other = make();
  other.set_seek_points(text);
  CHECK(*other.iterator({0, 300}).next() == *make().iterator({0, 300}).next());
}

TEST_CASE("marks: texts are read while another thread notes") {
  const auto ds = data::range(200'000).filter(odd).flat_map([](i64 x) { return data::range(x, x + 2); }).prefetch(64);
  auto it = ds.iterator();
  std::string text;
  for (i64 i = 0; i < 20'000; ++i) {
    REQUIRE(it.next().has_value());
    if (i % 1000 == 0) text = ds.seek_points();
  }
  CHECK(text.size() < 60'000);
  const auto other =
      data::range(200'000).filter(odd).flat_map([](i64 x) { return data::range(x, x + 2); }).prefetch(64);
  other.set_seek_points(text);
  CHECK(*other.iterator({0, 19'000}).next() == *ds.iterator({0, 19'000}).next());
}

TEST_CASE("marks: other texts are refused, and those of smaller data sets end") {
  const auto make = [](i64 n) { return data::range(n).filter(odd); };
  const auto ds = make(1000);
  auto it = ds.iterator();
  elements_of(it);
  const std::string good = ds.seek_points();
  for (const std::string& text :
       {std::string("x"), std::string("1"), std::string("0 1"), std::string("0 0 0 1"), std::string("0 0 0 1 0 5"),
        std::string("0 0 0 1 5 -1"), std::string("0 0 0 2 5 5"), good + " x", std::string("  ")}) {
    INFO(text);
    CHECK(error_of<errors::InvalidArgumentError>([&] {
            make(1000).set_seek_points(text);
          }).find("was not made by seek_points") != std::string::npos);
  }
  const auto smaller = make(100);
  smaller.set_seek_points(good);
  CHECK(!smaller.iterator({0, 300}).next().has_value());
  const auto sums = [](const char* text) {
    const auto r = data::range(100).scan(i64{0}, [](i64 s, i64 x) { return std::pair(s + x, s); });
    r.set_seek_points(text);
    return r;
  };
  CHECK(*sums("0 0 0 1 8 8 x1c00000000000000").iterator({0, 8}).next() == 28);
  CHECK_THROWS_AS(sums("0 0 0 1 8 8 x1c000000000000"), errors::InvalidArgumentError);
  CHECK_THROWS_AS(sums("0 0 0 1 8 9223372036854775807 x1c00000000000000"), errors::InvalidArgumentError);
  std::string tracks = "0";
  for (int i = 0; i < 5; ++i) tracks += " 0 " + std::to_string(i) + " 1 8 8 x1c00000000000000";
  CHECK_THROWS_AS(sums(tracks.c_str()), errors::InvalidArgumentError);
  CHECK_THROWS_AS(sums("0 0 0 1 8 8 x1c0000000000000g"), errors::InvalidArgumentError);
  const auto nested = [](const char* text) {
    const auto r = data::range(100).interleave([](i64 x) { return data::range(x, x + 3); }, {.cycle_length = 2});
    r.set_seek_points(text);
    return r;
  };
  CHECK_THROWS_AS(nested("0 0 0 1 32 0 0 1000000 0 0").iterator({0, 40}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(nested("0 0 0 1 32 5 5 2 0 2 2 2 1 1 1 0").iterator({0, 40}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(nested("0 0 0 1 32 5 5 0 0 2 200 2 1 1 1 0").iterator({0, 40}), errors::InvalidArgumentError);
}

}  // namespace data_dataset_marks_test
