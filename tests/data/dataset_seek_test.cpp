// Streams of files that begin in the middle: they seek, and do not read what lies before.
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>

#include "tandem/data/dataset_files.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/io/file.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace data_dataset_seek_test {
using namespace tandem;
using testing::error_of, testing::TemporaryFolder;
using Texts = std::vector<std::string>;

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// Overwrites the beginning of a file, which keeps its size and its times: whoever reads it from there gets lost.
void ruin(const std::string& path, std::size_t bytes) {
  struct stat before {};
  REQUIRE(::stat(path.c_str(), &before) == 0);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(bytes, '?');
  }
  const timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

constexpr i64 count = 1000;  // records of each file
struct Files {
  TemporaryFolder folder;
  Texts paths;
  template <class F>
  Files(const char* ending, const F& text_of_file) {
    for (i64 file = 0; file < 3; ++file) {
      paths.push_back(folder / (std::to_string(file) + ending));
      write(paths.back(), text_of_file(file * count));
    }
  }
  void ruin_first_two() const {
    for (int i = 0; i < 2; ++i) ruin(paths[static_cast<std::size_t>(i)], io::read_file(paths[std::size_t(i)]).size());
  }
};
std::string lines(i64 first) {
  std::string r;
  for (i64 i = first; i < first + count; ++i) r += "line " + std::to_string(i) + "\n";
  return r;
}

template <class T>
std::vector<T> rest(const data::Dataset<T>& ds, data::Position from) {
  std::vector<T> r;
  auto it = ds.iterator(from);
  while (auto element = it.next()) r.push_back(*std::move(element));
  return r;
}
// Reads a data set up to a position in one process, as it were, and from there on in another one whose files are ruined
// before the third; compares with the whole.
template <class Make>
void check_goes_on(const Files& files, const Make& make, i64 position) {
  const auto expected = rest(make(files.paths), {1, position});
  const auto first = make(files.paths);
  auto it = first.iterator({1, 0});
  for (i64 i = 0; i < position; ++i) REQUIRE(it.next().has_value());
  const std::string points = first.seek_points();
  files.ruin_first_two();
  const auto second = make(files.paths);
  CHECK(rest(second, it.position()) != expected);  // without them
  const auto third = make(files.paths);
  third.set_seek_points(points);
  CHECK(rest(third, it.position()) == expected);
  CHECK(!expected.empty());
}
Texts texts(const Tensor& t) { return t.to_vector<std::string>(); }

TEST_CASE("seek points: lines, also behind maps, batches and threads") {
  check_goes_on(
      Files(".txt", lines), [](const Texts& paths) { return data::Dataset<std::string>(data::TextLineDataset(paths)); },
      2500);
  for (const i64 threads : {0, 3})
    check_goes_on(
        Files(".txt", lines),
        [&](const Texts& paths) {
          return data::TextLineDataset(paths)
              .map([](std::string s) { return s + "!"; }, {.num_parallel_calls = threads})
              .batch(7)
              .map(texts)
              .prefetch(2);
        },
        350);
}

TEST_CASE("seek points: files that were changed before 1970 or after 2116") {
  for (const std::time_t seconds : {std::time_t{-86'400}, std::time_t{1}, std::time_t{7'258'118'400}}) {
    const Files files(".txt", lines);
    for (const std::string& path : files.paths) {
      const timespec times[2] = {{seconds, 5}, {seconds, 5}};
      REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
    }
    const data::TextLineDataset first(files.paths), second(files.paths);
    auto it = first.iterator();
    for (int i = 0; i < 2500; ++i) REQUIRE(it.next());
    const std::string points = first.seek_points();
    files.ruin_first_two();
    second.set_seek_points(points);
    auto later = second.iterator(it.position());
    CHECK(later.next() == it.next());
    CHECK(second.seek_points() == points);
  }
  const TemporaryFolder folder;
  const data::TextLineDataset one(folder.file("one", "text"));
  for (const char* text : {"1 64 -1 1 -5 0 64 0 100", "1 64 -1 1 5 0 -64 0 100", "1 64 -1 1 5 0 64 0 -100",
                           "1 64 -1 1 5 0 64 -1 100", "1 64 -1 1 5 9223372036854775808 64 0 100"}) {
    INFO(text);
    CHECK_THROWS_AS(one.set_seek_points(text), errors::InvalidArgumentError);
  }
}

TEST_CASE("seek points: a shuffle computes numbers again, and reads what its buffer had") {
  check_goes_on(
      Files(".txt", lines),
      [](const Texts& paths) { return data::TextLineDataset(paths).shuffle(40).batch(4).map(texts); }, 690);
}

TEST_CASE("seek points: records, columns, objects") {
  const auto records = [](i64 first) {
    const TemporaryFolder folder;
    io::TFRecordWriter writer(folder / "a");
    for (i64 i = first; i < first + count; ++i) writer.write("record " + std::to_string(i));
    writer.close();
    return io::read_file(folder / "a");
  };
  check_goes_on(
      Files(".tfrecord", records),
      [](const Texts& paths) { return data::Dataset<std::string>(data::TFRecordDataset(paths)); }, 2222);
  const auto table = [](i64 first) {
    std::string r = "a,b\n";
    for (i64 i = first; i < first + count; ++i) r += std::to_string(i) + "," + std::to_string(2 * i) + "\n";
    return r;
  };
  const Files tables(".csv", table);
  const auto columns = [](const Texts& paths) {
    return data::CsvDataset(paths, {constant(i64{0}), constant(i64{0})}, {.batch_size = 3})
        .map([](const std::vector<Tensor>& c) {
          return concat({c[0], c[1]}, 0).to_vector<i64>();
        });
  };
  check_goes_on(tables, columns, 800);
  const auto objects = [](i64 first) {
    std::string r;
    for (i64 i = first; i < first + count; ++i) r += "{\"n\": " + std::to_string(i) + "}\n\n";
    return r;
  };
  check_goes_on(
      Files(".jsonl", objects),
      [](const Texts& paths) {
        return data::JsonLinesDataset(paths, {{"n", io::FixedLenFeature{{}, int64}}})
            .map([](const io::ParsedFeatures& f) { return f["n"].item<i64>(); });
      },
      2900);
}

TEST_CASE("seek points: repetitions are passed over once their length is known") {
  const Files files(".txt", lines);
  const auto make = [&] { return data::TextLineDataset(files.paths).repeat(); };
  const auto first = make();
  auto it = first.iterator();
  for (i64 i = 0; i < 5 * 3 * count + 2100; ++i) it.next();
  const auto second = make();
  second.set_seek_points(first.seek_points());
  files.ruin_first_two();
  auto rest = second.iterator(it.position());
  CHECK(*rest.next() == "line 2100");
}

TEST_CASE("seek points: those of files that have changed are not used") {
  const Files files(".txt", lines);
  const data::TextLineDataset first(files.paths);
  rest<std::string>(first, {});
  write(files.paths[1], "one line\n" + lines(count));
  const data::TextLineDataset second(files.paths);
  second.set_seek_points(first.seek_points());
  CHECK(rest<std::string>(second, {0, 2500}) == rest<std::string>(data::TextLineDataset(files.paths), {0, 2500}));
  CHECK(rest<std::string>(first, {0, 2500}).front() == "line 2499");  // also in this process
  CHECK(rest<std::string>(first, {0, 500}).front() == "line 500");
  const data::TextLineDataset fewer(Texts{files.paths[0]});
  fewer.set_seek_points(first.seek_points());
  CHECK(rest<std::string>(fewer, {0, 900}).front() == "line 900");
}

TEST_CASE("seek points: an error is an element, also where a run begins behind it") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += (i % 500 == 7 ? "not a number" : std::to_string(i)) + std::string("\n");
  write(folder / "a.csv", text);
  const auto make = [&] {
    return data::CsvDataset(folder / "a.csv", {constant(i64{0})}, {.batch_size = 1, .header = false})
        .map([](const std::vector<Tensor>& c) { return c[0].item<i64>(); });
  };
  const auto first = make();
  auto it = first.iterator();
  int errors = 0;
  for (int i = 0; i < 2600; ++i) try {
      it.next();
    } catch (const errors::InvalidArgumentError&) {
      ++errors;
    }
  CHECK(errors == 6);
  const auto second = make();
  second.set_seek_points(first.seek_points());
  for (const i64 at : {500, 507, 508, 1100, 2508, 2600}) {
    auto a = second.iterator({0, at}), b = make().iterator({0, at});
    const auto next = [](auto& i) -> i64 {
      try {
        return *i.next();
      } catch (const errors::InvalidArgumentError&) {
        return -1;
      }
    };
    for (int k = 0; k < 3; ++k) CHECK(next(a) == next(b));
  }
}

TEST_CASE("seek points: there are at most 2048, of sources that read files") {
  const TemporaryFolder folder;
  std::string text;
  for (i64 i = 0; i < 300'000; ++i) text += "a\n";
  text += "b\n";
  write(folder / "a.txt", text);
  const data::TextLineDataset first(folder / "a.txt");
  auto it = first.iterator({0, 300'000});
  const std::string points = first.seek_points();
  CHECK(points.size() < 25'000);
  CHECK(points.size() > 4'000);
  const data::TextLineDataset second(folder / "a.txt");
  second.set_seek_points(points);
  CHECK(*second.iterator({0, 300'000}).next() == "b");
  CHECK(data::range(10).batch(2).seek_points().empty());
  data::range(10).set_seek_points(points);  // no source takes them
  CHECK(data::zip(first, second).seek_points() == points + "\n" + second.seek_points());
}

TEST_CASE("seek points: other texts are refused") {
  const TemporaryFolder folder;
  write(folder / "a.txt", lines(0));
  const data::TextLineDataset ds(folder / "a.txt");
  rest<std::string>(ds, {});
  const std::string good = ds.seek_points();
  for (const std::string& text :
       {good + " 5", good.substr(0, good.find_last_of(' ')), std::string("x"), std::string("1 0 -1 0"),
        std::string("1 64 -2 0"), std::string("1 64 -1 1000000000000000000"), std::string("1 64 -1 1 5 5 64 1 0"),
        std::string("1 64 -1 1 5 5 63 0 0"), std::string("1 64 -1 2 5 5 64 0 9223372036854775807 64 0 1")}) {
    INFO(text);
    CHECK(error_of<errors::InvalidArgumentError>([&] {
            ds.set_seek_points(text);
          }).find("was not made by seek_points") != std::string::npos);
  }
  CHECK(ds.seek_points() == good);
}

}  // namespace data_dataset_seek_test
