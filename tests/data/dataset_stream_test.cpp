// Data sets: padding, buckets, windows, groups, flat_map and interleave, draws; and for random pipelines that an epoch
// can begin anywhere, with any number of threads.
#include <cmath>
#include <map>
#include <random>

#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/values.hpp"

namespace data_dataset_stream_test {
using namespace tandem;
using testing::error_of;
using Longs = std::vector<i64>;
using Ints = std::vector<std::int32_t>;

// i + 1 numbers i.
Tensor row(i64 i) { return fill({i + 1}, static_cast<int>(i)); }

TEST_CASE("padded_batch: rows of different length, filled at their ends") {
  const auto ds = data::range(5).map(row);
  const auto batches = ds.padded_batch(3);
  CHECK(batches.size() == 2);
  const Tensor first = batches.at(0, 0);
  CHECK(first.shape() == Shape{3, 3});
  CHECK(first.to_vector<std::int32_t>() == Ints{0, 0, 0, 1, 1, 0, 2, 2, 2});
  CHECK(batches.to_vector()[1].shape() == Shape{2, 5});
  const Tensor filled = ds.padded_batch(2, {.padded_shapes = {{4}}, .padding_values = {-1}}).at(0, 0);
  CHECK(filled.to_vector<std::int32_t>() == Ints{0, -1, -1, -1, 1, 1, -1, -1});
  CHECK(ds.padded_batch(2, {.drop_remainder = true}).to_vector().size() == 2);
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { ds.padded_batch(5, {.padded_shapes = {{4}}}).to_vector(); }),
             ContainsSubstring("padded_batch: element 4 of a batch is int32[5], longer on axis 0 than the size to pad "
                               "to, 4"));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { ds.batch(2).to_vector(); }),
             ContainsSubstring("batch: elements 0 and 1 of a batch differ: int32[1] and int32[2]; padded_batch takes"));
  CHECK_THROWS_AS(ds.padded_batch(2, {.padded_shapes = {{4}, {4}}}).to_vector(), errors::InvalidArgumentError);
}

TEST_CASE("padded_batch: every dtype, several axes, empty rows, trees") {
  for (const DType dtype : testing::moved_dtypes) {
    const auto ds = data::range(3).map([&](i64 i) { return testing::numbered({i, 2, i + 1}, dtype); });
    const Tensor padded = ds.padded_batch(3).at(0, 0);
    REQUIRE(padded.shape() == Shape{3, 2, 2, 3});
    i64 at = 0;
    for (i64 i = 0; i < 3; ++i) {
      const Tensor original = ds.at(0, i);
      i64 from = 0;
      for (i64 a = 0; a < 2; ++a)
        for (i64 b = 0; b < 2; ++b)
          for (i64 c = 0; c < 3; ++c, ++at) {
            const bool inside = a < i && c < i + 1;
            CHECK(testing::element(padded, at) ==
                  (inside ? testing::element(original, from++) : testing::zero_element(dtype)));
          }
    }
  }
  const auto pairs = data::range(3).map([](i64 i) { return std::pair(row(i), constant(static_cast<float>(i))); });
  const auto [rows, labels] = pairs.padded_batch(3, {.padding_values = {9, 0}}).at(0, 0);
  CHECK(rows.to_vector<std::int32_t>() == Ints{0, 9, 9, 1, 1, 9, 2, 2, 2});
  CHECK(labels.shape() == Shape{3});
}

TEST_CASE("padded_batch: padding values that the dtype does not have are refused") {
  const auto filled = [](DType dtype, double value) {
    const auto ds = data::range(2).map([&](i64 i) { return zeros({i}, dtype); });
    return cast(ds.padded_batch(2, {.padding_values = {value}}).at(0, 0), float64).to_vector<double>()[0];
  };
  const double two_to_31 = 2147483648., two_to_63 = 9223372036854775808.;
  for (const auto& [dtype, value] : std::vector<std::pair<DType, double>>{{uint8, 255},
                                                                          {int8, -128},
                                                                          {int16, 32767},
                                                                          {int32, -two_to_31},
                                                                          {int64, -two_to_63},
                                                                          {bool_, 1},
                                                                          {float32, INFINITY},
                                                                          {float64, 1e300}})
    CHECK(filled(dtype, value) == value);
  CHECK(filled(float32, .1) == double{.1f});
  CHECK(std::isnan(filled(float32, NAN)));
  for (const auto& [dtype, value] : std::vector<std::pair<DType, double>>{{uint8, 300},
                                                                          {uint8, -1},
                                                                          {int8, 128},
                                                                          {int16, .5},
                                                                          {int32, two_to_31},
                                                                          {int64, two_to_63},
                                                                          {int64, NAN},
                                                                          {int64, INFINITY},
                                                                          {bool_, 2},
                                                                          {bool_, .5},
                                                                          {float32, 1e300}}) {
    INFO(value);
    CHECK_THROWS_AS(filled(dtype, value), errors::InvalidArgumentError);
  }
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { filled(uint8, 300); }),
             ContainsSubstring("padded_batch: uint8 does not have the padding value 300"));
  const auto texts = data::range(2).map([](i64 i) { return constant(std::vector<std::string>(std::size_t(i), "a")); });
  CHECK(texts.padded_batch(2).at(0, 0).to_vector<std::string>()[0].empty());
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { texts.padded_batch(2, {.padding_values = {1}}).at(0, 0); }),
             ContainsSubstring("texts are padded with empty ones"));
}

TEST_CASE("bucket_by_sequence_length: batches of similar length") {
  const auto ds = data::range(12).map([](i64 i) { return row(i % 6); });
  const auto length = [](const Tensor& x) { return i64{x.shape()[0]}; };
  const auto batches = ds.bucket_by_sequence_length(length, {3, 5}, {2, 3, 4});
  Longs shape;
  i64 rows = 0;
  for (const Tensor& b : batches) {
    const i64 longest = b.shape()[1];
    CHECK(b.shape()[0] <= (longest < 3 ? 2 : longest < 5 ? 3 : 4));
    rows += b.shape()[0];
  }
  CHECK(rows == 12);
  CHECK(ds.bucket_by_sequence_length(length, {3, 5}, {4, 4, 4}, {.drop_remainder = true}).to_vector().size() == 3);
  const auto bounded =
      ds.take(4).bucket_by_sequence_length(length, {3, 6}, {2, 2, 2}, {.pad_to_bucket_boundary = true});
  for (const Tensor& b : bounded) CHECK((b.shape()[1] == 2 || b.shape()[1] == 5));
  // Of tensors of two axes, and of those that have another length, only what is a length is padded to the boundary.
  const auto wide = data::range(2).map([](i64 i) { return std::pair(ones({i + 2, 7}), ones({9})); });
  const auto first_length = [](const Tensor& x, const Tensor&) { return i64{x.shape()[0]}; };
  const auto padded = wide.bucket_by_sequence_length(first_length, {6}, {2, 2}, {.pad_to_bucket_boundary = true});
  CHECK(padded.to_vector()[0].first.shape() == Shape{2, 5, 7});
  CHECK(padded.to_vector()[0].second.shape() == Shape{2, 9});
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               ds.bucket_by_sequence_length(length, {3, 5}, {2, 2, 2}, {.pad_to_bucket_boundary = true}).to_vector();
             }),
             ContainsSubstring("an element has length 5, not below the last boundary, 5"));
  CHECK_THROWS_AS(ds.bucket_by_sequence_length(length, {3, 5}, {2, 2}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(ds.bucket_by_sequence_length(length, {5, 5}, {2, 2, 2}), errors::InvalidArgumentError);
  CHECK(ds.bucket_by_sequence_length(length, {}, {4}).to_vector().size() == 3);
  CHECK_THAT(error_of<errors::InvalidArgumentError>(
                 [&] { ds.bucket_by_sequence_length(length, {}, {4}, {.pad_to_bucket_boundary = true}).to_vector(); }),
             ContainsSubstring("pad_to_bucket_boundary needs a boundary"));
}

TEST_CASE("unbatch: rows of batches again") {
  const auto ds = data::from_tensor_slices({range(7), range(7) * 2}).batch(3).unbatch();
  Ints a, b;
  for (auto& [x, y] : ds) a.push_back(x.item<std::int32_t>()), b.push_back(y.item<std::int32_t>());
  CHECK(a == Ints{0, 1, 2, 3, 4, 5, 6});
  CHECK(b[6] == 12);
}

TEST_CASE("window: data sets of consecutive elements") {
  const auto texts = [](const data::Dataset<data::Dataset<i64>>& windows) {
    std::string r;
    for (const auto& w : windows.to_vector()) {
      for (const i64 i : w.to_vector()) r += std::to_string(i);
      r += ' ';
    }
    return r;
  };
  const auto ds = data::range(7);  // the results of tf.data
  CHECK(texts(ds.window(3)) == "012 345 6 ");
  CHECK(texts(ds.window(3, {.shift = 2, .drop_remainder = true})) == "012 234 456 ");
  CHECK(texts(ds.window(3, {.shift = 1, .stride = 2, .drop_remainder = true})) == "024 135 246 ");
  CHECK(texts(ds.window(2, {.shift = 3})) == "01 34 6 ");
  CHECK(texts(ds.window(3, {.shift = 1, .stride = 2})) == "024 135 246 35 46 5 6 ");
  CHECK(ds.window(3).size() == 3);
  CHECK(ds.window(2, {.shift = 3}).size() == 3);
  CHECK(ds.window(3, {.shift = 1, .stride = 2, .drop_remainder = true}).size() == 3);
  const auto batches =
      ds.window(3, {.drop_remainder = true}).flat_map([](const data::Dataset<i64>& w) { return w.batch(3); });
  CHECK(batches.to_vector()[1].to_vector<i64>() == Longs{3, 4, 5});
  CHECK_THROWS_AS(ds.window(0), errors::InvalidArgumentError);
  // Sizes beyond all data: one window of what there is.
  const i64 huge = i64{1} << 62;
  const auto stream = ds.filter([](i64) { return true; });
  for (const auto& all : {ds, stream}) {
    CHECK(texts(all.window(huge, {.stride = 4})) == "04 ");
    CHECK(texts(all.window(huge, {.shift = 3, .stride = 4})) == "04 3 6 ");
    CHECK(texts(all.window(huge, {.stride = 4}).skip(4)).empty());
    CHECK(texts(all.window(huge, {.stride = 4, .drop_remainder = true})).empty());
    CHECK(texts(all.window(2, {.stride = huge})) == "0 2 4 6 ");
  }
  CHECK(ds.window(huge, {.stride = 4}).size() == 1);
  CHECK(ds.window(huge, {.stride = 4, .drop_remainder = true}).size() == 0);
}

TEST_CASE("flat_map and interleave: the order of tf.data") {
  const auto three = [](i64 i) { return data::range(10 * i, 10 * i + 3); };
  CHECK(data::range(1, 3).flat_map(three).to_vector() == Longs{10, 11, 12, 20, 21, 22});
  const auto repeated = [](i64 i) { return data::range(i, i + 1).repeat(6); };
  CHECK(data::range(1, 6).interleave(repeated, {.cycle_length = 2, .block_length = 4}).to_vector() ==
        Longs{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5});
  CHECK(data::range(1, 3).interleave(three).to_vector() == Longs{10, 20, 11, 21, 12, 22});
  CHECK(data::range(0).interleave(three).to_vector().empty());
  CHECK(data::range(4).flat_map([](i64 i) { return data::range(i % 2); }).to_vector() == Longs{0, 0});
}

TEST_CASE("interleave and prefetch: buffers larger than memory") {
  // A cycle grows with the data sets that there are.
  const auto lists = [](i64 i) { return data::range(10 * i, 10 * i + 1 + i % 3); };
  for (const i64 block : {1, 2}) {
    const auto wide = data::range(7).interleave(lists, {.cycle_length = i64{1} << 40, .block_length = block});
    const Longs all = data::range(7).interleave(lists, {.cycle_length = 7, .block_length = block}).to_vector();
    CHECK(wide.to_vector() == all);
    for (i64 first = 0; first <= std::ssize(all); ++first) {
      Longs rest;
      for (auto it = wide.iterator({0, first}); const auto i = it.next();) rest.push_back(*i);
      CHECK(rest == Longs(all.begin() + first, all.end()));
    }
  }
  CHECK(data::range(0).interleave(lists, {.cycle_length = i64{1} << 40}).to_vector().empty());
  CHECK(data::range(9).prefetch(i64{1} << 20).to_vector().size() == 9);
  CHECK_THAT(error_of<errors::InvalidArgumentError>([] { data::range(9).prefetch(i64{1} << 40).to_vector(); }),
             ContainsSubstring("prefetch: buffer_size must be 1 to 1048576, or data::autotune, but is 1099511627776"));
}

TEST_CASE("scan, take_while, group_by_window, from_generator") {
  CHECK(data::range(5).scan(i64{0}, [](i64 sum, i64 x) { return std::pair(sum + x, sum + x); }).to_vector() ==
        Longs{0, 1, 3, 6, 10});
  CHECK(data::range(9).take_while([](i64 i) { return i < 4; }).to_vector() == Longs{0, 1, 2, 3});
  const auto grouped = data::range(10).group_by_window([](i64 x) { return x % 2; },
                                                       [](i64, const data::Dataset<i64>& w) { return w.batch(5); }, 5);
  CHECK(grouped.to_vector()[0].to_vector<i64>() == Longs{0, 2, 4, 6, 8});
  CHECK(grouped.to_vector()[1].to_vector<i64>() == Longs{1, 3, 5, 7, 9});
  const auto generated = data::from_generator([] {
    return [i = i64{0}]() mutable -> std::optional<i64> {
      if (i == 4) return std::nullopt;
      return i++;
    };
  });
  CHECK(generated.to_vector() == Longs{0, 1, 2, 3});
  CHECK(generated.to_vector() == Longs{0, 1, 2, 3});
  CHECK(generated.repeat(2).batch(3).to_vector()[1].to_vector<i64>() == Longs{3, 0, 1});
}

TEST_CASE("sample_from_datasets and choose_from_datasets") {
  const std::vector<data::Dataset<i64>> two{data::range(3).repeat(), data::range(100, 103).repeat()};
  i64 large = 0;
  for (const i64 i : data::sample_from_datasets(two, {0.25, 0.75}).take(4000)) large += i >= 100;
  CHECK(std::abs(large - 3000) < 150);
  const std::vector<data::Dataset<i64>> ends{data::range(3), data::range(100, 110)};
  CHECK(data::sample_from_datasets(ends).size() == 13);
  CHECK(data::sample_from_datasets(ends).to_vector().size() == 13);
  const auto stopped = data::sample_from_datasets(ends, {}, {.stop_on_empty_dataset = true}).to_vector();
  CHECK(stopped.size() < 13);
  CHECK(data::sample_from_datasets(ends, {}, {.seed = 1}).to_vector() !=
        data::sample_from_datasets(ends, {}, {.seed = 2}).to_vector());
  CHECK(data::sample_from_datasets(ends, {1, 0}).size() == 3);
  CHECK(data::sample_from_datasets(ends, {1, 0}).to_vector() == Longs{0, 1, 2});
  CHECK_THROWS_AS(data::sample_from_datasets(ends, {1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::sample_from_datasets(ends, {0, 0}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::sample_from_datasets<i64>({}), errors::InvalidArgumentError);
  CHECK(data::choose_from_datasets(ends, data::range(2).repeat(2)).to_vector() == Longs{0, 100, 1, 101});
  CHECK_THAT(
      error_of<errors::InvalidArgumentError>([&] { data::choose_from_datasets(ends, data::range(2, 3)).to_vector(); }),
      ContainsSubstring("the choice is 2, but there are 2 data sets"));
}

TEST_CASE("rejection_resample: classes get the target distribution") {
  // Classes 0 and 1 as 9 to 1.
  const auto ds = data::range(20'000).rejection_resample([](i64 i) { return i % 10 == 0; }, {0.5, 0.5}, {0.9, 0.1});
  i64 ones = 0, all = 0;
  for (auto& [number, element] : ds) {
    CHECK(number == (element % 10 == 0));
    ones += number, ++all;
  }
  CHECK(ones == 2000);  // the rare class is kept
  CHECK(std::abs(all - 4000) < 200);
  CHECK_THROWS_AS(data::range(3).rejection_resample([](i64) { return 0; }, {0, 1}, {1, 0}), errors::OpError);
  CHECK_THROWS_AS(data::range(3).rejection_resample([](i64) { return 2; }, {1, 1}, {1, 1}).to_vector(),
                  errors::InvalidArgumentError);
}

// A pipeline of random stages; `threads` are those of its maps.
data::Dataset<i64> random_pipeline(unsigned seed, i64 threads) {
  std::mt19937 draw(seed);
  const auto below = [&](i64 n) { return static_cast<i64>(draw() % static_cast<unsigned>(n)); };
  data::Dataset<i64> ds = data::range(below(40));
  for (i64 stages = 1 + below(6); stages-- > 0;) switch (below(13)) {
      case 0: ds = ds.map([](i64 i) { return i * 3 + 1; }, {.num_parallel_calls = threads}); break;
      case 1: ds = ds.filter([](i64 i) { return i % 3 != 0; }); break;
      case 2: ds = ds.shuffle(1 + below(30), {.seed = below(5)}); break;
      case 3: ds = ds.take(below(50)); break;
      case 4: ds = ds.skip(below(10)); break;
      case 5: ds = ds.shard(2, below(2)); break;
      case 6: ds = ds.repeat(below(3)); break;
      case 7: ds = ds.concatenate(data::range(below(5))); break;
      case 8: ds = ds.batch(1 + below(4)).map([](const Tensor& x) { return reduce_sum(x).item<i64>(); }); break;
      case 9: ds = ds.prefetch(1 + below(4)); break;
      case 10: ds = ds.flat_map([](i64 i) { return data::range(i % 3); }); break;
      case 11:
        ds = ds.map([](i64 i) { return i + random::uniform({}, 0, 100, {.dtype = int64}).item<i64>(); },
                    {.num_parallel_calls = threads});
        break;
      default: ds = data::zip(ds, ds.skip(below(3))).map([](i64 a, i64 b) { return a - b; }); break;
    }
  return ds;
}

TEST_CASE("shuffle: an epoch that begins in the middle computes the elements of the buffer, not those before") {
  for (const i64 known : {0, 1}) {
    i64 calls = 0;
    auto source = data::range(1000);
    if (!known) source = source.filter([](i64) { return true; });
    const auto ds = source.map([&](i64 i) { return ++calls, i; }).shuffle(50);
    const Longs all = ds.to_vector();
    for (const i64 first : {1, 49, 50, 500, 949, 951, 990, 999, 1000}) {
      calls = 0;
      Longs rest;
      for (const i64 i : ds.epoch(0, first)) rest.push_back(i);
      CHECK(rest == Longs(all.begin() + first, all.end()));
      CHECK(calls <= 2 * (1000 - first + 50));  // twice where the end was not known
    }
  }
}

TEST_CASE("shuffle: a buffer is the same wherever an epoch begins, up to its end") {
  const auto unknown = data::range(50).filter([](i64) { return true; });
  const auto known = data::range(50).scan(i64{0}, [](i64 sum, i64 i) { return std::pair(sum, i); });
  for (const auto& input : {unknown, known})
    for (const i64 size : {1, 2, 3, 7, 49, 50, 60}) {
      const auto ds = input.shuffle(size);
      const Longs all = ds.to_vector();
      REQUIRE(all.size() == 50);
      for (i64 first = 0; first <= 50; ++first) {
        Longs rest;
        for (const i64 i : ds.epoch(0, first)) rest.push_back(i);
        CHECK(rest == Longs(all.begin() + first, all.end()));
      }
    }
}

TEST_CASE("Dataset: random pipelines begin anywhere, with any number of threads, and know their size") {
  random::set_seed(9);
  for (unsigned seed = 0; seed < 400; ++seed) {
    const auto ds = random_pipeline(seed, 0), threaded = random_pipeline(seed, 3);
    for (const i64 epoch : {0, 2}) {
      Longs all, parallel;
      for (const i64 i : ds.epoch(epoch)) all.push_back(i);
      for (const i64 i : threaded.epoch(epoch)) parallel.push_back(i);
      INFO("pipeline " << seed << ", epoch " << epoch << "\n" << ds.report());
      CHECK(parallel == all);
      if (ds.cardinality() >= 0) CHECK(ds.cardinality() == std::ssize(all));
      const i64 first = std::ssize(all) * static_cast<i64>(seed % 5) / 4;
      if (first > std::ssize(all)) continue;
      Longs rest;
      for (const i64 i : threaded.epoch(epoch, first)) rest.push_back(i);
      CHECK(rest == Longs(all.begin() + first, all.end()));
      if (ds.is_indexed())
        for (i64 i = 0; i < std::ssize(all); ++i) CHECK(ds.at(epoch, i) == all[std::size_t(i)]);
    }
  }
}

}  // namespace data_dataset_stream_test
