// map_batched: the elements of map, in batches, element by element, from any place, with threads; errors at their
// elements. The rules of the ops: tests/ops/table_vectorized_test.cpp.
#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "tandem/base/warning.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_dataset_map_batched_test {
using namespace tandem;
using testing::error_of;
using Floats = std::vector<float>;

template <class D>
Floats values(const D& ds, data::Position from = {}) {
  Floats r;
  auto it = ds.iterator(from);
  while (auto x = it.next())
    for (const float v : x->template to_vector<float>()) r.push_back(v);
  return r;
}
// Indexed, a stream, and a stream with threads before.
std::vector<data::Dataset<Tensor>> sources(i64 n) {
  const auto rows = data::from_tensor_slices(reshape(range(0.f, static_cast<float>(3 * n)), {n, 3}));
  const auto all = [](const Tensor&) { return true; };
  return {rows, rows.filter(all), rows.map([](const Tensor& x) { return x; }, {.num_parallel_calls = 2}).filter(all)};
}
const auto centred = [](const Tensor& x) { return x * 2 - reduce_max(x) + x[1]; };

TEST_CASE("map_batched: the elements of map, from any place, with any number of threads") {
  for (const i64 n : {0, 1, 7, 8, 9, 100})
    for (const auto& ds : sources(n)) {
      const Floats expected = values(ds.map(centred));
      REQUIRE(std::ssize(expected) == 3 * n);
      for (const i64 threads : {0, 1, 3}) {
        const auto mapped = ds.map_batched(centred, {.batch_size = 8, .num_parallel_calls = threads});
        INFO(n << " elements, indexed: " << ds.is_indexed() << ", threads: " << threads);
        CHECK(mapped.cardinality() == ds.cardinality());
        CHECK(mapped.is_indexed() == ds.is_indexed());
        for (const i64 k : {0, 1, 7, 8, 9, 50, 99, 100}) {
          if (k > n) continue;
          CHECK(values(mapped, {0, k}) == Floats(expected.begin() + 3 * k, expected.end()));
          CHECK(values(mapped.skip(k)) == Floats(expected.begin() + 3 * k, expected.end()));
        }
        for (const i64 size : {1, 3, 4, 6, 8, 16, 20}) {
          CHECK(values(mapped.batch(size)) == expected);
          if (n >= size + 3)
            CHECK(values(mapped.skip(3).batch(size, {.drop_remainder = true})) ==
                  values(ds.map(centred).skip(3).batch(size, {.drop_remainder = true})));
        }
        CHECK(values(mapped.batch(6).prefetch(2)) == expected);
        CHECK(values(mapped.shard(2, 1)) == values(ds.map(centred).shard(2, 1)));
        CHECK(values(mapped.repeat(2)) == values(ds.map(centred).repeat(2)));
      }
      CHECK(values(ds.map_batched(centred)) == expected);
      CHECK(values(ds.map_batched(centred, {.batch_size = 1})) == expected);
    }
}

TEST_CASE("map_batched: batches after an element that raises, of texts and of elements of several shapes") {
  const auto ds = sources(40);
  const auto fails = [](const Tensor& x) { return gather(range(50), cast(x, DType::int64)); };
  const auto batches = [](const auto& mapped) {  // the first values, -1 for an error
    Floats r;
    auto it = mapped.batch(4).iterator();
    for (bool more = true; more;) try {
        const auto x = it.next();
        more = x.has_value();
        if (more) r.push_back(cast(*x, DType::float32).template to_vector<float>().at(0));
      } catch (const errors::OpError&) {
        r.push_back(-1);
      }
    return r;
  };
  for (const auto& source : ds)
    for (const i64 threads : {0, 2}) {
      const auto odd = source.filter([](const Tensor&) { return true; });
      CHECK(batches(odd.map_batched(fails, {.batch_size = 8, .num_parallel_calls = threads})) ==
            batches(odd.map(fails)));
    }
  const auto text = [](const Tensor& t) { return t + constant("!"); };
  const auto lines = data::range(20)
                         .map([](i64 i) { return std::to_string(i); })
                         .map_batched(text, {.batch_size = 8, .num_parallel_calls = 2});
  std::string all;
  for (const Tensor& x : lines.batch(4))
    for (const std::string& s : x.to_vector<std::string>()) all += s;
  CHECK(all == "0!1!2!3!4!5!6!7!8!9!10!11!12!13!14!15!16!17!18!19!");
  const auto uneven = data::range(16).map([](i64 i) { return fill({i < 8 ? 2 : 3}, static_cast<float>(i)); });
  const auto doubled =
      uneven.map_batched([](const Tensor& x) { return x * 2; }, {.batch_size = 16, .num_parallel_calls = 2});
  CHECK(values(doubled.batch(4)) == values(doubled));
  CHECK_THROWS_AS(values(doubled.batch(5)), errors::InvalidArgumentError);
}

TEST_CASE("map_batched: indexed data sets in another order, and by number") {
  const auto ds = sources(50)[0];
  for (const i64 threads : {0, 2}) {
    const auto mapped = ds.map_batched(centred, {.batch_size = 8, .num_parallel_calls = threads});
    CHECK(values(mapped.shuffle({.seed = 3}).batch(7)) == values(ds.map(centred).shuffle({.seed = 3}).batch(7)));
    CHECK(values(mapped.shuffle({.seed = 3})) == values(ds.map(centred).shuffle({.seed = 3})));
    CHECK(values(ds.shuffle().map_batched(centred, {.num_parallel_calls = threads}).batch(7), {3, 0}) ==
          values(ds.shuffle().map(centred).batch(7), {3, 0}));
    CHECK(mapped.at(0, 11).to_vector<float>() == ds.map(centred).at(0, 11).to_vector<float>());
  }
}

TEST_CASE("map_batched: products have the same bits wherever an iteration begins") {
  const Tensor w = sin(range(0.f, 3.f * 40.f));
  const auto f = [&](const Tensor& x) { return matmul(expand_dims(x / 7, 0), reshape(w, {3, 40})); };
  for (const auto& ds : sources(40)) {
    const auto mapped = ds.map_batched(f, {.batch_size = 16});
    const Floats all = values(mapped);
    for (const i64 k : {1, 15, 16, 17, 31, 39})
      CHECK(values(mapped, {0, k}) == Floats(all.begin() + 40 * k, all.end()));
    const Floats one_by_one = values(ds.map(f));
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == Approx(one_by_one[i]).epsilon(1e-5).margin(1e-5));
  }
}

struct Example {
  Tensor image, label;
};

TEST_CASE("map_batched: structs, tuples, maps, numbers and texts") {
  const auto numbers = data::range(100).map_batched([](const Tensor& x) { return x * x; }, {.batch_size = 9});
  i64 i = 0;
  for (const Tensor& x : numbers.epoch(0)) {
    CHECK(x.item<i64>() == i * i);
    ++i;
  }
  CHECK(i == 100);
  const Tensor x = range(0.f, 20.f), y = cast(x, int64);
  const auto pairs =
      data::zip(data::from_tensor_slices(x), data::range(20)).map_batched([](const Tensor& a, const Tensor& b) {
        return std::pair(a + cast(b, float32), std::map<std::string, Tensor>{{"double", b * 2}, {"five", constant(5)}});
      });
  i = 0;
  for (const auto& [sum, parts] : pairs.epoch(0)) {
    CHECK(sum.item<float>() == static_cast<float>(2 * i));
    CHECK(parts.at("double").item<i64>() == 2 * i);
    CHECK(parts.at("five").item<int>() == 5);
    ++i;
  }
  const auto examples = data::from_tensor_slices(Example{x, y}).map_batched([](const Example& e) {
    return Example{e.image + 1, e.label};
  });
  CHECK(examples.at(0, 3).image.item<float>() == 4);
  const auto batch = *examples.batch(20).iterator().next();
  CHECK(batch.image.to_vector<float>() == (x + 1).to_vector<float>());
  const auto texts = data::from_items<std::string>({"a", "bc", ""})
                         .filter([](const std::string&) { return true; })
                         .map_batched([](const Tensor& t) { return t + constant("!"); });
  std::vector<std::string> read;
  for (const Tensor& t : texts.epoch(0)) read.push_back(t.item<std::string>());
  CHECK(read == std::vector<std::string>{"a!", "bc!", "!"});
  i = 0;
  for (const Tensor& t : data::range(10).map([](i64 n) { return n % 3 == 0; }).map_batched([](const Tensor& b) {
         return cast(b, int32);
       }))
    CHECK(t.item<int>() == (i++ % 3 == 0));
}

TEST_CASE("map_batched: elements of different shapes") {
  const auto f = [](const Tensor& x) { return reduce_sum(x) + 1; };
  const auto lengths = data::range(200).map([](i64 i) { return ones({i / 20 % 3 + i % 2 * (i / 90)}); });
  for (const auto& ds : {lengths, lengths.filter([](const Tensor&) { return true; })}) {
    const Floats expected = values(ds.map(f));
    for (const i64 threads : {0, 2}) {
      const auto mapped = ds.map_batched(f, {.batch_size = 64, .num_parallel_calls = threads});
      CHECK(values(mapped) == expected);
      CHECK(values(mapped.batch(50)) == expected);
      CHECK(values(mapped, {0, 77}) == Floats(expected.begin() + 77, expected.end()));
    }
  }
}

TEST_CASE("map_batched: f is traced for a full batch and for the rest") {
  const auto traces = std::make_shared<std::atomic<int>>(0);
  const auto f = [traces](const Tensor& x) {
    ++*traces;
    return x + 1;
  };
  for (const auto& ds : sources(100)) {
    *traces = 0;
    const auto mapped = ds.map_batched(f, {.batch_size = 32});
    for (int epoch = 0; epoch < 3; ++epoch) values(mapped, {epoch, 0});
    CHECK(*traces == 2);
  }
}

TEST_CASE("map_batched: an error of an element comes at its element") {
  const Tensor table = constant({10.f, 11.f, 12.f, 13.f, 14.f});
  const auto f = [table](const Tensor& i) { return gather(table, i); };
  const auto numbers = data::range(40).map([](i64 i) { return i == 13 ? i64{7} : i % 5; });
  for (const bool stream : {false, true})
    for (const i64 threads : {0, 2}) {
      const auto ds = stream ? numbers.filter([](i64) { return true; }) : numbers;
      const auto mapped = ds.map_batched(f, {.batch_size = 16, .num_parallel_calls = threads});
      auto it = mapped.iterator({2, 0});
      for (i64 i = 0; i < 40; ++i) {
        if (i == 13)
          CHECK(error_of<errors::InvalidArgumentError>([&] { it.next(); }).find("element 13 of epoch 2") !=
                std::string::npos);
        else CHECK(it.next()->item<float>() == static_cast<float>(10 + i % 5));
      }
      CHECK(!it.next());
      CHECK(std::ssize(values(mapped.ignore_errors())) == 39);
      const auto batches = mapped.batch(10);
      auto batch = batches.iterator();
      CHECK(batch.next()->shape() == Shape{10});
      CHECK_THROWS_AS(batch.next(), errors::InvalidArgumentError);
      CHECK(batch.next()->shape() == Shape{10});
    }
  // Of the input.
  const auto broken = data::range(40).map([](i64 i) {
    if (i == 13) throw std::runtime_error("thirteen");
    return i;
  });
  for (const bool stream : {false, true}) {
    const auto ds = stream ? broken.filter([](i64) { return true; }) : broken;
    auto it = ds.map_batched([](const Tensor& x) { return x * 2; }, {.batch_size = 16}).iterator();
    for (i64 i = 0; i < 40; ++i)
      if (i == 13) CHECK_THROWS_AS(it.next(), std::runtime_error);
      else CHECK(it.next()->item<i64>() == 2 * i);
    CHECK(!it.next());
  }
}

TEST_CASE("map_batched: what f throws, ops without a rule, and options out of range") {
  const auto ds = sources(5);
  const auto error = [](const auto& d, const auto& f) {
    return error_of<errors::UnimplementedError>([&] { d.map_batched(f).iterator().next(); });
  };
  for (const auto& d : ds) {
    const std::string text = error(d, [](const Tensor& x) { return x + random::uniform({3}); });
    CHECK(text.find("random_uniform") != std::string::npos);
    CHECK(text.find("use map,") != std::string::npos);
    CHECK_THROWS_AS(d.map_batched([](const Tensor& x) { return x.item<float>() > 0 ? x : -x; }).iterator().next(),
                    errors::OpError);
    CHECK_THROWS_AS(d.map_batched([](const Tensor& x) -> Tensor { throw std::logic_error(to_string(x.spec())); })
                        .batch(2)
                        .iterator()
                        .next(),
                    std::logic_error);
    CHECK_THROWS_AS(d.map_batched(centred, {.batch_size = 0}), errors::InvalidArgumentError);
    CHECK_THROWS_AS(d.map_batched(centred, {.num_parallel_calls = -2}), errors::InvalidArgumentError);
  }
}

TEST_CASE("map_batched: any order with threads leaves out and repeats nothing, from any place") {
  const auto slow_first = [](const Tensor& x) {  // the first chunks take longest
    Tensor y = ones({48, 48}) * x;
    for (int i = 0; i < 3; ++i) y = matmul(y, ones({48, 48}) / 48.f);
    return y[0][0];
  };
  const auto all = [](const Tensor&) { return true; };
  for (const i64 n : {9, 17, 40})
    for (const i64 from : {0, 3, 8, 11}) {
      if (from >= n) continue;
      for (int run = 0; run < 3; ++run) {
        const auto numbers = data::from_tensor_slices(range(0.f, static_cast<float>(n)));
        const auto mapped = numbers.filter(all).map_batched(
            slow_first, {.batch_size = 8, .num_parallel_calls = 4, .deterministic = false});
        Floats got = values(mapped, {0, from});
        std::sort(got.begin(), got.end());
        Floats expected;
        for (i64 i = from; i < n; ++i) expected.push_back(static_cast<float>(i));
        INFO(n << " from " << from);
        REQUIRE(got.size() == expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).margin(1e-3));
        // Every third of any order: as many, and none twice.
        Floats third = values(mapped.shard(3, 1));
        std::sort(third.begin(), third.end());
        CHECK(std::ssize(third) == (n + 1) / 3);
        CHECK(std::unique(third.begin(), third.end()) == third.end());
      }
    }
}

TEST_CASE("map_batched: threads compute few batches ahead, also where they hand over several") {
  const auto read = std::make_shared<std::atomic<i64>>(0);
  const auto ds = data::range(100'000).map([read](i64 i) { return ++*read, i; }).filter([](i64) { return true; });
  for (const i64 threads : {1, 3}) {
    *read = 0;
    const auto mapped =
        ds.map_batched([](const Tensor& x) { return x * 2; }, {.batch_size = 16, .num_parallel_calls = threads});
    i64 i = 0;
    for (auto it = mapped.iterator(); i < 30'000; ++i) REQUIRE(it.next()->item<i64>() == 2 * i);
    CHECK(*read <= i + 16 * (32 * threads + 2));
  }
}

TEST_CASE("map_batched: a warning for many shapes, unless the options say otherwise") {
  static std::vector<std::string> warnings;
  set_warning_handler([](const char* text) { warnings.emplace_back(text); });
  const auto lengths = data::range(80).map([](i64 i) { return ones({i / 8}); });
  const auto f = [](const Tensor& x) { return reduce_sum(x); };
  warnings.clear();
  values(lengths.map_batched(f, {.batch_size = 8, .warn_on_retracing = false}));
  CHECK(warnings.empty());
  values(lengths.map_batched(f, {.batch_size = 8}));
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], ContainsSubstring("function 'map_batched' has been traced 6 times"));
  set_warning_handler(nullptr);
}

TEST_CASE("map_batched: memory is bounded, elements do not keep their batch, and loops may be left") {
  const auto wide = data::range(400).map([](i64 i) { return fill({1000}, static_cast<float>(i)); });
  const auto f = [](const Tensor& x) { return x + 1; };
  for (const i64 threads : {0, 2}) {
    const auto mapped = wide.map_batched(f, {.batch_size = 10, .num_parallel_calls = threads});
    CHECK(values(mapped.memory_limit(60'000)) == values(wide.map(f)));
    CHECK(error_of<errors::ResourceExhaustedError>([&] { values(mapped.memory_limit(30'000)); }).find("map_batched") !=
          std::string::npos);
    for (const Tensor& x : mapped.epoch(0)) {
      CHECK(x.shape() == Shape{1000});
      break;
    }
  }
  std::vector<Tensor> kept;
  const auto [rest, bytes] = [&] {
    for (const Tensor& x : wide.map_batched(f, {.batch_size = 100}).take(3).epoch(0)) kept.push_back(x);
    return std::pair(kept[1].to_vector<float>()[0], kept[1].raw());
  }();
  CHECK(rest == 2);
  CHECK(bytes != static_cast<const void*>(static_cast<const char*>(kept[0].raw()) + 4000));
}

}  // namespace data_dataset_map_batched_test
