// CheckpointManager: names, rotation, the best one, going on, saving by a thread.
#include "tandem/train/checkpoint_manager.hpp"

#include <cmath>
#include <filesystem>
#include <set>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace train_checkpoint_manager_test {
using namespace tandem;
using testing::error_of;
using Names = std::vector<std::string>;

struct Weights {
  Variable w{zeros({3}), {.name = "w"}};
  train::Checkpoint checkpoint{{"w", w}};
  float value() const { return w.to_vector<float>()[0]; }
  void set(i64 x) const { w.assign(fill({3}, static_cast<float>(x))); }
};
Names names_of(const Names& paths) {
  Names r;
  for (const std::string& path : paths) r.push_back(std::filesystem::path(path).filename().string());
  return r;
}
std::set<std::string> files_in(const std::string& path) {
  std::set<std::string> r;
  for (const auto& entry : std::filesystem::directory_iterator(path)) r.insert(entry.path().filename().string());
  return r;
}
std::string ckpt(i64 step) { return "ckpt-" + std::to_string(step) + ".safetensors"; }

// A clock that a test sets.
double seconds = 0;
double test_clock() { return seconds; }

TEST_CASE("seven saves leave five checkpoints, the latest is ckpt-7") {
  const testing::TemporaryFolder folder;
  const std::string dir = folder / "run/checkpoints";
  const Weights weights;
  CHECK(train::latest_checkpoint(dir) == "");
  for (const bool async : {false, true}) {
    std::filesystem::remove_all(dir);
    train::CheckpointManager manager(weights.checkpoint, dir, {.async = async});
    CHECK_FALSE(manager.restore_or_initialize());
    for (i64 step = 1; step <= 7; ++step) {
      weights.set(step);
      CHECK(manager.save(step) == dir + "/" + ckpt(step));
    }
    manager.wait();
    CHECK(names_of(manager.checkpoints()) == Names{ckpt(3), ckpt(4), ckpt(5), ckpt(6), ckpt(7)});
    CHECK(manager.latest_checkpoint() == dir + "/ckpt-7.safetensors");
    CHECK(train::latest_checkpoint(dir) == dir + "/ckpt-7.safetensors");
    CHECK(files_in(dir) == std::set<std::string>{"ckpt-index.json", ckpt(3), ckpt(4), ckpt(5), ckpt(6), ckpt(7)});
  }
  // Another process goes on.
  const Weights later;
  train::CheckpointManager manager(later.checkpoint, dir);
  const train::RestoredCheckpoint restored = manager.restore_or_initialize();
  CHECK(restored.path == dir + "/ckpt-7.safetensors");
  CHECK(restored.step == 7);
  CHECK(later.value() == 7);
  manager.save(8);
  CHECK(names_of(manager.checkpoints()) == Names{ckpt(4), ckpt(5), ckpt(6), ckpt(7), ckpt(8)});
}

TEST_CASE("a thread writes the values of the moment of save(), and the metadata") {
  const testing::TemporaryFolder folder;
  const Weights weights;
  train::CheckpointManager manager(weights.checkpoint, folder.path, {.max_to_keep = 0, .async = true});
  for (i64 step = 0; step < 40; ++step) {
    weights.set(step);
    manager.save(step, {.metadata = {{"note", std::to_string(step)}}});
    weights.w.assign_add(0.5);  // in place, were it not for the one who saves
  }
  manager.close();
  CHECK(manager.checkpoints().size() == 40);
  for (i64 step = 0; step < 40; ++step) {
    const std::string path = folder / ckpt(step);
    CHECK(io::load_safetensors(path).at("w").to_vector<float>()[2] == static_cast<float>(step));
    CHECK(train::read_metadata(path) == io::Metadata{{"note", std::to_string(step)}});
  }
  CHECK_THROWS_AS(manager.save(40), errors::FailedPreconditionError);
}

TEST_CASE("the destructor writes what waits") {
  const testing::TemporaryFolder folder;
  const Weights weights;
  for (int i = 0; i < 20; ++i) {
    train::CheckpointManager manager(weights.checkpoint, folder.path, {.async = true});
    manager.save(2 * i), manager.save(2 * i + 1);
  }
  CHECK(train::latest_checkpoint(folder.path) == folder / ckpt(39));
}

TEST_CASE("the best checkpoint stays until there is a better one") {
  const testing::TemporaryFolder folder;
  const Weights weights;
  const std::string dir = folder.path;
  const auto save = [&](train::CheckpointManager& m, i64 step, double loss) {
    m.save(step, {.metrics = {{"loss", loss}}});
  };
  {
    train::CheckpointManager manager(weights.checkpoint, dir, {.max_to_keep = 2, .best_metric = "loss"});
    CHECK(manager.best_checkpoint() == "");
    save(manager, 1, 3), save(manager, 2, 1), save(manager, 3, 1), save(manager, 4, __builtin_nan("")),
        save(manager, 5, 2);
    CHECK(manager.best_checkpoint() == folder / ckpt(2));
    CHECK(names_of(manager.checkpoints()) == Names{ckpt(4), ckpt(5)});
    CHECK(files_in(dir) == std::set<std::string>{"ckpt-index.json", ckpt(2), ckpt(4), ckpt(5)});
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { manager.save(6); }), ContainsSubstring("'loss'"));
    CHECK(files_in(dir).size() == 4);
  }
  train::CheckpointManager manager(weights.checkpoint, dir, {.max_to_keep = 2, .best_metric = "loss"});
  CHECK(manager.best_checkpoint() == folder / ckpt(2));
  save(manager, 6, .5);
  CHECK(files_in(dir) == std::set<std::string>{"ckpt-index.json", ckpt(5), ckpt(6)});
  save(manager, 6, 4);  // the same step again
  CHECK(manager.best_checkpoint() == folder / ckpt(5));
  save(manager, 5, 3);
  CHECK(names_of(manager.checkpoints()) == Names{ckpt(6), ckpt(5)});
  CHECK(manager.latest_checkpoint() == folder / ckpt(5));
  train::CheckpointManager highest(weights.checkpoint, folder / "b",
                                   {.max_to_keep = 1, .best_metric = "loss", .better = train::Better::higher});
  save(highest, 1, -1), save(highest, 2, 5), save(highest, 3, 4);
  CHECK(highest.best_checkpoint() == folder / ("b/" + ckpt(2)));
}

TEST_CASE("the best checkpoint stays where its metric is infinite, or not the one of now") {
  const testing::TemporaryFolder folder;
  const Weights weights;
  const auto manager = [&](const char* metric) {
    return train::CheckpointManager(weights.checkpoint, folder.path,
                                    {.max_to_keep = 1, .best_metric = metric, .better = train::Better::higher});
  };
  const auto save = [](train::CheckpointManager&& m, i64 step, double value, double loss = 0) {
    m.save(step, {.metrics = {{"psnr", value}, {"loss", loss}}});
    return m.best_checkpoint();
  };
  CHECK(save(manager("psnr"), 1, HUGE_VAL, -HUGE_VAL) == folder / ckpt(1));
  CHECK(save(manager("psnr"), 2, 30, __builtin_nan("")) == folder / ckpt(1));
  CHECK(save(manager(""), 3, 40) == folder / ckpt(1));
  manager("").save(4);
  CHECK(manager("psnr").best_checkpoint() == folder / ckpt(1));
  CHECK(files_in(folder.path) == std::set<std::string>{"ckpt-index.json", ckpt(1), ckpt(4)});
  CHECK(save(manager("loss"), 5, 0, 1) == folder / ckpt(5));  // -inf before
}

TEST_CASE("one checkpoint every so many hours stays, also where the clock is set back") {
  const testing::TemporaryFolder folder;
  const Weights weights;
  const std::string dir = folder.path;
  const auto steps_kept = [&] {
    std::set<i64> r;
    for (i64 step = 0; step < 100; ++step)
      if (std::filesystem::exists(folder / ckpt(step))) r.insert(step);
    return r;
  };
  const train::CheckpointManagerOptions options{
      .max_to_keep = 2, .keep_checkpoint_every_n_hours = 1, .clock = &test_clock};
  seconds = 1e9;
  {
    train::CheckpointManager manager(weights.checkpoint, dir, options);
    for (i64 step = 0; step < 10; ++step, seconds += 1200) manager.save(step);
    CHECK(steps_kept() == std::set<i64>{3, 6, 8, 9});
  }
  train::CheckpointManager manager(weights.checkpoint, dir, options);
  seconds -= 7 * 24 * 3600;  // what was preserved lies a week in the future
  for (i64 step = 10; step < 20; ++step, seconds += 1200) manager.save(step);
  // 8, the oldest of that moment, and from then on one in an hour of the new time.
  CHECK(steps_kept() == std::set<i64>{3, 6, 8, 13, 16, 18, 19});
  CHECK(names_of(manager.checkpoints()) == Names{ckpt(18), ckpt(19)});
}

TEST_CASE("a checkpoint whose process ended before the index was replaced is listed; other files are not touched") {
  const testing::TemporaryFolder folder;
  const Weights weights;
  for (i64 step : {8, 10}) weights.set(step), weights.checkpoint.save(folder / ckpt(step));
  for (const char* name :
       {"ckpt-.safetensors", "ckpt-07.safetensors", "ckpt-x.safetensors", "other-3.safetensors",
        "ckpt-3.safetensors.partial.1", "ckpt--1.safetensors", "ckpt-99999999999999999999.safetensors"})
    folder.file(name, "foreign");
  std::filesystem::create_directory(folder / ckpt(12));
  CHECK(train::latest_checkpoint(folder.path) == folder / ckpt(10));
  train::CheckpointManager manager(weights.checkpoint, folder.path, {.max_to_keep = 1});
  CHECK(names_of(manager.checkpoints()) == Names{ckpt(8), ckpt(10)});
  CHECK(manager.restore_or_initialize().step == 10);
  manager.save(11);
  CHECK(names_of(manager.checkpoints()) == Names{ckpt(11)});
  CHECK(files_in(folder.path).size() == 10);
  weights.checkpoint.save(folder / ckpt(5));  // older than the latest: someone's copy
  train::CheckpointManager again(weights.checkpoint, folder.path, {.max_to_keep = 1});
  CHECK(names_of(again.checkpoints()) == Names{ckpt(11)});
  again.save(14);
  CHECK(std::filesystem::exists(folder / ckpt(5)));
}

TEST_CASE("a checkpoint in several files: saved, restored and removed together") {
  const testing::TemporaryFolder folder;
  const Variable a(ones({10})), b(fill({10}, 2.f)), c(fill({10}, 3.f));
  const train::Checkpoint checkpoint({{"a", a}, {"b", b}, {"c", c}});
  const auto index = [](i64 step) { return "ckpt-" + std::to_string(step) + ".safetensors.index.json"; };
  for (const char* left : {"ckpt-9-00001-of-00002.safetensors", "ckpt-1-of-2.safetensors"}) folder.file(left, "");
  {
    train::CheckpointManager manager(checkpoint, folder.path, {.max_to_keep = 2, .async = true, .max_shard_bytes = 80});
    for (i64 step : {1, 2, 3}) manager.save(step, {.metadata = {{"note", "text"}}});
  }
  CHECK(files_in(folder.path) ==
        std::set<std::string>{"ckpt-index.json", "ckpt-1-of-2.safetensors", index(2), index(3),
                              "ckpt-2-00001-of-00002.safetensors", "ckpt-2-00002-of-00002.safetensors",
                              "ckpt-3-00001-of-00002.safetensors", "ckpt-3-00002-of-00002.safetensors"});
  CHECK(train::latest_checkpoint(folder.path) == folder / index(3));
  CHECK(train::read_metadata(folder / index(3)) == io::Metadata{{"note", "text"}});
  for (const Variable& v : {a, b, c}) v.assign(zeros({10}));
  train::CheckpointManager manager(checkpoint, folder.path, {.max_to_keep = 1, .max_shard_bytes = 1000});
  CHECK(manager.restore_or_initialize().step == 3);
  CHECK(c.to_vector<float>()[9] == 3);
  manager.save(3);
  CHECK(files_in(folder.path).contains("ckpt-3-00001-of-00001.safetensors"));
  const auto second = [](int n) { return "ckpt-3-00001-of-0000" + std::to_string(n) + ".2.safetensors"; };
  manager.save(3);
  CHECK(files_in(folder.path) ==
        std::set<std::string>{"ckpt-index.json", "ckpt-1-of-2.safetensors", index(3), second(1)});
  for (const int n : {2, 3}) folder.file(second(n), "of a process that was killed");
  folder.file("ckpt-3-00001-of-00001.safetensors", "the same");
  train::CheckpointManager(checkpoint, folder.path, {.max_to_keep = 2, .max_shard_bytes = 1000}).save(4);
  CHECK(files_in(folder.path) == std::set<std::string>{"ckpt-index.json", "ckpt-1-of-2.safetensors", index(3),
                                                       second(1), index(4), "ckpt-4-00001-of-00001.safetensors"});
  manager.save(3);
  folder.file("ckpt-3-00001-of-00001.safetensors", "torn");
  CHECK_THROWS_AS(manager.restore_or_initialize(), errors::DataLossError);
}

TEST_CASE("two managers with different names share a folder") {
  const testing::TemporaryFolder folder;
  const Weights weights;
  train::CheckpointManager a(weights.checkpoint, folder.path, {.max_to_keep = 1, .checkpoint_name = "a"});
  train::CheckpointManager b(weights.checkpoint, folder.path, {.max_to_keep = 1, .checkpoint_name = "a-1"});
  for (i64 step : {1, 2}) a.save(step), b.save(step);
  CHECK(train::latest_checkpoint(folder.path, "a") == folder / "a-2.safetensors");
  CHECK(train::latest_checkpoint(folder.path, "a-1") == folder / "a-1-2.safetensors");
  CHECK(files_in(folder.path).size() == 4);
}

TEST_CASE("arguments that make no sense are refused before anything is written") {
  const testing::TemporaryFolder folder;
  const Weights weights;
  const auto make = [&](train::CheckpointManagerOptions o) {
    train::CheckpointManager(weights.checkpoint, folder / "x", o);
  };
  CHECK_THROWS_AS(make({.max_to_keep = -1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(make({.keep_checkpoint_every_n_hours = 0}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(make({.max_shard_bytes = -1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(make({.checkpoint_name = ""}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(make({.checkpoint_name = "a/b"}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(make({.checkpoint_name = "\xff"}), errors::InvalidArgumentError);
  train::CheckpointManager manager(weights.checkpoint, folder / "x");
  CHECK_THROWS_AS(manager.save(1, {.metrics = {{"\xff", 1}}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(manager.save(-1), errors::InvalidArgumentError);
  train::CheckpointManager empty({{"model", layers::Dense(2)}}, folder / "x", {.async = true});
  CHECK_THROWS_AS(empty.save(1), errors::FailedPreconditionError);
  CHECK(files_in(folder.path).empty());
}

}  // namespace train_checkpoint_manager_test
