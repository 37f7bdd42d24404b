// Elements of data sets in files: cache(path), save, load; what is damaged or of another type, full disks.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "tandem/data/dataset_sources.hpp"
#include "tandem/ops/all.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/small_files.hpp"
#include "tests/support/values.hpp"

namespace data_dataset_saved_test {
using namespace tandem;
using testing::error_of, testing::SmallFiles;
using Longs = std::vector<i64>;

struct Example {
  Tensor image, label;
};
int files_in(const std::string& path) {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(path), {}));
}

TEST_CASE("save and load: elements of every dtype and type, in any order") {
  const testing::TemporaryFolder folder;
  for (const DType dtype : testing::moved_dtypes) {
    const auto ds = data::range(4).map([&](i64 i) { return testing::numbered({i, 3}, dtype); });
    data::save(ds, folder / "tensors");
    const auto again = data::load<Tensor>(folder / "tensors");
    REQUIRE(again.size() == 4);
    for (i64 i = 0; i < 4; ++i) {
      const Tensor a = ds.at(0, i), b = again.at(0, i);
      REQUIRE(a.spec() == b.spec());
      for (i64 k = 0; k < a.size(); ++k) CHECK(testing::element(a, k) == testing::element(b, k));
    }
  }
  using Mixed = std::tuple<i64, std::string, std::array<Tensor, 2>, std::map<std::string, Tensor>, bool>;
  const auto mixed = data::range(3).map([](i64 i) {
    return Mixed{i,
                 std::string(static_cast<std::size_t>(i), 'x'),
                 {constant(1.f), fill({i}, 2)},
                 {{"key", constant(static_cast<float>(i))}},
                 i == 1};
  });
  data::save(mixed, folder / "mixed");
  i64 n = 0;
  for (auto& [i, text, pair, named, flag] : data::load<Mixed>(folder / "mixed")) {
    CHECK(i == n++);
    CHECK(text == std::string(static_cast<std::size_t>(i), 'x'));
    CHECK(pair[1].shape() == Shape{i});
    CHECK(named.at("key").item<float>() == static_cast<float>(i));
    CHECK(flag == (i == 1));
  }
  CHECK(n == 3);
  const auto structs = data::from_tensor_slices(Example{ones({5, 2}), range(5)});
  data::save(structs, folder / "structs");
  CHECK(data::load<Example>(folder / "structs").shuffle().batch(5).at(0, 0).image.shape() == Shape{5, 2});
  const auto columns = data::range(2).map([](i64 i) { return std::vector<Tensor>{constant(1.f), fill({i}, 1)}; });
  data::save(columns, folder / "columns");
  CHECK(data::load<std::vector<Tensor>>(folder / "columns").at(0, 1)[1].shape() == Shape{1});
}

TEST_CASE("cache(path): elements are computed by one process, and only by an iteration that reaches the end") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "cache";
  std::atomic<int> calls = 0;
  const auto make = [&] {
    return data::range(20).map([&](i64 i) { return ++calls, fill({2}, static_cast<int>(i)); }).cache(path);
  };
  for (const Tensor& x : make())
    if (x.to_vector<std::int32_t>()[0] == 4) break;
  CHECK(calls == 5);
  CHECK(files_in(folder.path) == 0);
  CHECK(make().to_vector().size() == 20);
  CHECK(calls == 25);
  const auto later = make();  // as another process would
  CHECK(later.to_vector().size() == 20);
  i64 first = 15;
  for (const Tensor& x : later.epoch(3, 15)) CHECK(x.to_vector<std::int32_t>()[1] == static_cast<int>(first++));
  CHECK(first == 20);
  CHECK(later.shuffle(7).batch(3).prefetch(1).to_vector().size() == 7);
  CHECK(calls == 25);
  CHECK(later.size() == 20);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path))
    CHECK(entry.path().string().find("writing") == std::string::npos);
}

TEST_CASE("cache(path): a run that begins behind the end of a file that was completed meanwhile has no elements") {
  const testing::TemporaryFolder folder;
  const auto ds = data::range(20).filter([](i64 i) { return i < 7; }).cache(folder / "cache");
  CHECK(ds.cardinality() == data::unknown_cardinality);
  CHECK(ds.to_vector().size() == 7);
  i64 element = 0;
  for (const i64 first : {7, 8, 1000}) CHECK_FALSE(ds.stage()->open({}, first)->next(element));
  CHECK(ds.stage()->open({}, 6)->next(element));
}

TEST_CASE("cache and load: files of other elements, other files and damaged ones are refused") {
  const testing::TemporaryFolder folder;
  data::save(data::range(3), folder / "numbers");
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { data::load<Tensor>(folder / "numbers"); }),
             ContainsSubstring("has elements of another type: it says 'tandem elements 1 int64'"));
  CHECK_THROWS_AS(data::from_tensor_slices(ones({3})).cache(folder / "numbers"), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::load<i64>(folder / "none"), errors::NotFoundError);
  folder.file("text", "not a file of elements");
  CHECK_THROWS_AS(data::load<i64>(folder / "text"), errors::OpError);
  // Every damage of a file raises; nothing is read as something else.
  const auto ds = data::range(2).map([](i64 i) { return std::pair(fill({i + 1}, 7), std::string("ab")); });
  data::save(ds, folder / "good");
  const std::string good = testing::content_of(folder / "good");
  int n = 0;
  testing::for_each_damage(good, [&](const std::string& bytes, bool prefix) {
    if (!prefix && n++ % 5) return;
    const std::string path = folder.file("damaged", bytes);
    std::filesystem::remove(path + ".index");
    std::size_t elements = 0;
    const bool raised =
        testing::raises([&] { elements = data::load<std::pair<Tensor, std::string>>(path).to_vector().size(); });
    // A file that was cut off between two records is a shorter file: it is published whole, so this does not happen.
    CHECK((raised || (prefix && elements < 2)));
  });
}

TEST_CASE("load: a bool that is neither 0 nor 1 raises") {
  const testing::TemporaryFolder folder;
  data::detail::ElementWriter writer(folder / "bools", data::detail::type_text<Tensor>());
  std::string bytes;
  data::detail::append_element("save", constant({true, false}), bytes);
  writer.write(bytes);
  bytes.back() = 2;
  writer.write(bytes);
  writer.publish();
  const auto found = data::load<Tensor>(folder / "bools");
  CHECK(found.at(0, 0).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK_THROWS_AS(found.at(0, 1), errors::DataLossError);
}

TEST_CASE("cache(path): where the disk takes no more, there is one error; the iteration goes on, no file is left") {
  const testing::TemporaryFolder folder;
  const auto ds = data::range(10).map([](i64 i) { return fill({100'000}, static_cast<int>(i)); });
  int errors = 0;
  i64 seen = 0;
  {
    const testing::SmallFiles limit(1'000'000);
    CHECK_THROWS_AS(data::save(ds, folder / "saved"), errors::OpError);
    auto it = ds.cache(folder / "cache").iterator();
    for (bool more = true; more;) try {
        more = it.next().has_value();
        seen += more;
      } catch (const errors::OpError&) {
        ++errors;
      }
  }
  CHECK(errors == 1);
  CHECK(seen == 9);
  CHECK(files_in(folder.path) == 0);
  CHECK_THROWS_AS(ds.cache(folder / "no/such/folder").to_vector(), errors::OpError);
  // Where only the end of the file does not fit, that it was not whole is known when it is closed.
  for (const i64 size : {900, 960, 990, 1000, 1010}) {
    const auto texts = data::range(size).map([](i64) { return std::string(1000, 'x'); });
    const auto cached = texts.cache(folder / ("texts" + std::to_string(size)));
    auto limit = std::make_unique<testing::SmallFiles>(1'000'000);
    for (auto it = cached.iterator();;) try {
        if (!it.next()) break;
      } catch (const errors::OpError&) {
      }
    limit.reset();
    CHECK(cached.to_vector().size() == static_cast<std::size_t>(size));
  }
}

TEST_CASE("cache(path): a process that is killed at any moment leaves no file of that name, or a whole one") {
  const testing::TemporaryFolder folder;
  const auto ds = data::range(300).map([](i64 i) { return fill({100}, static_cast<int>(i)); });
  for (int moment = 0; moment < 100; ++moment) {
    const std::string path = folder / ("cache" + std::to_string(moment % 10));
    const pid_t child = ::fork();
    if (child == 0) {
      ds.cache(path).to_vector();
      for (;;) ::pause();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(80 * moment));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (!std::filesystem::exists(path)) continue;
    const auto found = data::load<Tensor>(path);
    REQUIRE(found.size() == 300);
    CHECK(found.at(0, 299).to_vector<std::int32_t>()[99] == 299);
  }
  // What killed processes have left is removed by the next that writes the file.
  for (int i = 0; i < 10; ++i) {
    const std::string path = folder / ("cache" + std::to_string(i));
    std::filesystem::remove(path);
    CHECK(ds.cache(path).to_vector().size() == 300);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path))
    CHECK(entry.path().string().find(".partial.") == std::string::npos);
}

}  // namespace data_dataset_saved_test
