// Dataset::snapshot: who writes, what is read, what an early end, a killed process, a full disk and damage leave.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tandem/data/dataset_sources.hpp"
#include "tandem/io/file.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/small_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace data_dataset_snapshot_test {
using namespace tandem;
namespace fs = std::filesystem;
using testing::error_of;
using Longs = std::vector<i64>;

// The shards of the only snapshot in a folder, or of the one whose path is given.
int shards_in(const std::string& dir) {
  int n = 0;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) {
    const std::string name = entry.path().filename().string();
    n += name.rfind("shard-", 0) == 0 && name.find('.') == name.npos;
  }
  return n;
}
fs::path only_folder(const std::string& dir) {
  REQUIRE(std::distance(fs::directory_iterator(dir), {}) == 1);
  return fs::directory_iterator(dir)->path();
}
Longs numbers(i64 from, i64 to) {
  Longs r;
  for (; from < to; ++from) r.push_back(from);
  return r;
}
template <class T>
Longs longs(const data::Epoch<T>& epoch) {
  Longs r;
  for (const i64 i : epoch) r.push_back(i);
  return r;
}

TEST_CASE("snapshot: computed once, in shards; read from anywhere, by threads, as an indexed data set") {
  const testing::TemporaryFolder folder;
  std::atomic<int> calls = 0;
  const auto source = data::range(100).map([&](i64 i) { return ++calls, i; });
  for (const i64 readers : {0, 1, 3}) {
    const std::string dir = folder / ("snapshot" + std::to_string(readers));
    calls = 0;
    const data::SnapshotOptions options{.shard_bytes = 8 * 30, .num_parallel_reads = readers};
    const auto ds = source.snapshot(dir, options);
    CHECK_THROWS_AS(data::load_snapshot<i64>(dir), errors::NotFoundError);
    CHECK(longs(ds.epoch(0)) == numbers(0, 100));
    CHECK(calls == 100);
    CHECK(shards_in(dir) == 4);
    const auto later = source.snapshot(dir, options);  // as in another program
    CHECK(longs(later.epoch(2)) == numbers(0, 100));
    CHECK(longs(ds.epoch(1, 59)) == numbers(59, 100));
    CHECK(later.size() == 100);
    CHECK(later.shuffle(10).batch(7).to_vector().size() == 15);
    const auto indexed = data::load_snapshot<i64>(dir, options);
    CHECK(indexed.is_indexed());
    CHECK(indexed.at(0, 61) == 61);
    CHECK(indexed.shuffle().to_vector() != numbers(0, 100));
    CHECK(calls == 100);
  }
  const auto none = data::range(0).snapshot(folder / "none");
  CHECK(none.to_vector().empty());
  CHECK(data::load_snapshot<i64>(folder / "none").size() == 0);
  const auto once = data::range(50).shuffle().snapshot(folder / "order");
  CHECK(longs(once.epoch(3)) == longs(once.epoch(0)));
  CHECK(longs(once.epoch(0)) == longs(data::range(50).shuffle().epoch(0)));
}

TEST_CASE("snapshot: a fingerprint and a type of elements have a snapshot of their own") {
  const testing::TemporaryFolder folder;
  const auto times = [&](i64 k, const std::string& fingerprint) {
    return data::range(5).map([k](i64 i) { return k * i; }).snapshot(folder.path, {.fingerprint = fingerprint});
  };
  CHECK(times(1, "").to_vector() == numbers(0, 5));
  CHECK(times(2, "").to_vector() == numbers(0, 5));  // the function has changed, and the fingerprint has not
  CHECK(times(2, "2").to_vector() == Longs{0, 2, 4, 6, 8});
  CHECK(times(3, "2").to_vector() == Longs{0, 2, 4, 6, 8});
  const auto texts = data::from_items(std::vector<std::string>{"a", "b"}).snapshot(folder.path);
  CHECK(texts.to_vector() == std::vector<std::string>{"a", "b"});
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 3);
}

TEST_CASE("snapshot: an iteration that ends early or has an error leaves no shards; the next one writes") {
  const testing::TemporaryFolder folder;
  const std::string dir = folder / "snapshot";
  std::atomic<bool> fails = true;
  const auto ds = data::range(50)
                      .map([&](i64 i) {
                        if (i == 40 && fails) errors::raise<errors::AbortedError>("test", "no");
                        return i;
                      })
                      .snapshot(dir, {.shard_bytes = 80});
  {
    auto it = ds.iterator();
    for (int i = 0; i < 25; ++i) it.next();
    CHECK(shards_in(dir) >= 2);
    CHECK_THROWS_AS(data::load_snapshot<i64>(dir), errors::NotFoundError);
  }
  CHECK(shards_in(dir) == 0);
  CHECK_THROWS_AS(ds.to_vector(), errors::AbortedError);
  CHECK(shards_in(dir) == 0);
  fails = false;
  CHECK(longs(ds.epoch(0, 30)) == numbers(30, 50));  // what lies before is computed and written, too
  CHECK(data::load_snapshot<i64>(dir).to_vector() == numbers(0, 50));
}

TEST_CASE("snapshot: one iteration writes, others compute meanwhile") {
  const testing::TemporaryFolder folder;
  const std::string dir = folder / "snapshot";
  std::atomic<int> calls = 0;
  const auto make = [&] { return data::range(20).map([&](i64 i) { return ++calls, i; }).snapshot(dir); };
  auto writer = make().iterator();
  writer.next();
  CHECK(make().to_vector() == numbers(0, 20));
  CHECK(calls == 21);
  CHECK_THROWS_AS(data::load_snapshot<i64>(dir), errors::NotFoundError);
  while (writer.next()) continue;
  CHECK(calls == 40);
  CHECK(make().to_vector() == numbers(0, 20));
  CHECK(calls == 40);
  // Several threads at once, each with a data set of its own.
  const std::string other = folder / "threads";
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int n = 0; n < 20; ++n)
        right += data::range(200).snapshot(other, {.shard_bytes = 200}).to_vector() == numbers(0, 200);
    });
  for (std::thread& t : threads) t.join();
  CHECK(right == 80);
  CHECK(data::load_snapshot<i64>(other).size() == 200);
}

TEST_CASE("snapshot: a process that is killed at any moment leaves nothing that is read, or a whole one") {
  const testing::TemporaryFolder folder;
  const auto ds = data::range(300).map([](i64 i) { return fill({100}, static_cast<int>(i)); });
  for (int moment = 0; moment < 100; ++moment) {
    const std::string dir = folder / ("snapshot" + std::to_string(moment % 10));
    const pid_t child = ::fork();
    if (child == 0) {
      ds.snapshot(dir, {.shard_bytes = 10'000}).to_vector();
      for (;;) ::pause();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(150 * moment));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    try {
      const auto found = data::load_snapshot<Tensor>(dir);
      REQUIRE(found.size() == 300);
      CHECK(found.at(0, 299).to_vector<std::int32_t>()[99] == 299);
    } catch (const errors::NotFoundError&) {
    }
  }
  // Whatever is there, the next one reads or writes the whole of it, and removes what is left.
  for (int i = 0; i < 10; ++i) {
    const std::string dir = folder / ("snapshot" + std::to_string(i));
    CHECK(ds.snapshot(dir, {.shard_bytes = 100'000}).to_vector().size() == 300);
    CHECK(data::load_snapshot<Tensor>(dir).size() == 300);
    for (const auto& entry : fs::recursive_directory_iterator(dir))
      CHECK(entry.path().string().find(".partial.") == std::string::npos);
  }
}

TEST_CASE("snapshot: a full disk is one error, and leaves no shards") {
  const testing::TemporaryFolder folder;
  const std::string dir = folder / "snapshot";
  const auto ds = data::range(40).map([](i64 i) { return fill({10'000}, static_cast<int>(i)); });
  int errors = 0;
  i64 seen = 0;
  {
    const testing::SmallFiles limit(100'000);  // a shard has 12 elements of 40 kB
    auto it = ds.snapshot(dir, {.shard_bytes = 450'000}).iterator();
    for (bool more = true; more;) try {
        more = it.next().has_value();
        seen += more;
      } catch (const errors::OpError&) {
        ++errors;
      }
  }
  CHECK(errors == 1);
  CHECK(seen == 39);
  CHECK(shards_in(dir) == 0);
  io::write_file(folder / "file", "not a folder");
  CHECK_THROWS_AS(ds.snapshot(folder / "file").to_vector(), errors::UnavailableError);
}

TEST_CASE("snapshot: missing and damaged files raise; options") {
  const testing::TemporaryFolder folder;
  const auto make = [&](const std::string& name) {
    const std::string dir = folder / name;
    data::range(30).snapshot(dir, {.shard_bytes = 80}).to_vector();
    return only_folder(dir);
  };
  const auto load = [&](const std::string& name) {
    return error_of<errors::DataLossError>([&] { data::load_snapshot<i64>(folder / name).to_vector(); });
  };
  fs::remove(make("missing") / "shard-00001");
  CHECK_THAT(load("missing"), ContainsSubstring("shard-00001 is missing; remove the folder"));
  CHECK_THROWS_AS(data::range(30).snapshot(folder / "missing"), errors::DataLossError);
  const fs::path other = make("shorter");
  data::range(3).snapshot(folder / "three").to_vector();
  fs::copy_file(only_folder(folder / "three") / "shard-00000", other / "shard-00001",
                fs::copy_options::overwrite_existing);
  CHECK_THAT(load("shorter"), ContainsSubstring("shard-00001 has 3 elements in place of 10"));
  io::write_file((make("marker") / "complete").string(), "tandem snapshot 1\nelements 10 ten 10\n");
  CHECK_THAT(load("marker"), ContainsSubstring("`complete` is damaged"));
  io::write_file((make("empty") / "complete").string(), "");
  CHECK_THAT(load("empty"), ContainsSubstring("`complete` is damaged"));
  {
    std::fstream file(make("bits") / "shard-00001", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-6, std::ios::end);
    file.put('\x55');
  }
  CHECK_THAT(load("bits"), ContainsSubstring("checksum"));

  CHECK_THROWS_AS(data::range(3).repeat().snapshot(folder / "endless"), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::range(3).snapshot(folder / "x", {.shard_bytes = 0}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(data::range(3).snapshot(folder / "x", {.num_parallel_reads = -7}), errors::InvalidArgumentError);
}

}  // namespace data_dataset_snapshot_test
