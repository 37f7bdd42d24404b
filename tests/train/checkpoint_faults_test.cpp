// Checkpoints where something goes wrong: killed processes, full disks, folders that cannot be written, damaged files.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include "tandem/base/warning.hpp"
#include "tandem/tandem.hpp"
#include "tandem/train/checkpoint_manager.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/small_files.hpp"

namespace train_checkpoint_faults_test {
using namespace tandem;
using testing::error_of;

struct Weights {
  explicit Weights(i64 n) : a(zeros({n}), {.name = "a"}), b(zeros({n}), {.name = "b"}) {}
  void set(i64 x) const {
    for (const Variable& v : {a, b}) v.assign(fill({v.size()}, static_cast<float>(x)));
  }
  Variable a, b;
  train::Checkpoint checkpoint{{"a", a}, {"b", b}};
};
int files_in(const std::string& path) {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(path), {}));
}
std::string warning;
struct KeptWarnings {
  KeptWarnings() {
    set_warning_handler([](const char* text) { warning = text; });
  }
  ~KeptWarnings() { set_warning_handler(nullptr); }
};

TEST_CASE("a process that is killed at any moment of saving leaves a latest checkpoint that can be restored") {
  const testing::TemporaryFolder folder;
  std::mt19937 random(7);
  const Weights weights(2000);
  int resumed = 0;
  for (int moment = 0; moment < 100; ++moment) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      train::CheckpointManager manager(weights.checkpoint, folder.path,
                                       {.max_to_keep = 2, .async = true, .max_shard_bytes = moment % 2 * 8000});
      for (i64 step = manager.restore_or_initialize().step + 1;; ++step) {
        weights.set(step);
        manager.save(step);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    const Weights found(2000);
    train::CheckpointManager manager(found.checkpoint, folder.path, {.max_to_keep = 2});
    const train::RestoredCheckpoint restored = manager.restore_or_initialize();
    for (const std::string& path : manager.checkpoints()) found.checkpoint.restore(path);
    if (!restored) continue;
    ++resumed;
    for (const Variable& v : {found.a, found.b}) {
      const auto values = v.to_vector<float>();
      REQUIRE(std::vector<float>(values.size(), static_cast<float>(restored.step)) == values);
    }
  }
  CHECK(resumed > 0);
  train::CheckpointManager manager(weights.checkpoint, folder.path, {.max_to_keep = 2});
  manager.save(1'000'000), manager.save(1'000'001);
  CHECK(files_in(folder.path) == 3);  // what was left unfinished is gone
}

TEST_CASE("a full disk leaves the checkpoints that are there, and says so") {
  const testing::TemporaryFolder folder;
  const Weights weights(50'000);
  for (const bool async : {false, true}) {
    const std::string dir = folder / (async ? "async" : "sync");
    train::CheckpointManager manager(weights.checkpoint, dir, {.max_to_keep = 2, .async = async});
    for (i64 step : {1, 2, 3}) weights.set(step), manager.save(step);
    manager.wait();
    {
      const testing::SmallFiles limit(100'000);
      weights.set(4);
      const std::string error = error_of<errors::ResourceExhaustedError>([&] {
        manager.save(4);
        manager.wait();
      });
      CHECK_THAT(error,
                 ContainsSubstring(dir + "/ckpt-4.safetensors") && ContainsSubstring("previous file is untouched"));
    }
    CHECK(files_in(dir) == 3);
    CHECK(manager.restore_or_initialize().step == 3);
    CHECK(weights.a.to_vector<float>()[0] == 3);
    weights.set(4);
    manager.save(4);
    manager.close();
    CHECK(train::latest_checkpoint(dir) == dir + "/ckpt-4.safetensors");
    CHECK(files_in(dir) == 3);
  }
}

TEST_CASE("where the index cannot be written, the new checkpoint is removed") {
  const testing::TemporaryFolder folder;
  const Weights weights(2);
  train::CheckpointManager manager(weights.checkpoint, folder.path);
  manager.save(1);
  std::filesystem::remove(folder / "ckpt-index.json");
  std::filesystem::create_directory(folder / "ckpt-index.json");
  CHECK_THROWS_AS(manager.save(2), errors::FailedPreconditionError);
  CHECK_FALSE(std::filesystem::exists(folder / "ckpt-2.safetensors"));
  CHECK_THROWS_AS(manager.save(1), errors::FailedPreconditionError);
  CHECK(std::filesystem::exists(folder / "ckpt-1.safetensors"));
  CHECK(manager.checkpoints().size() == 1);
}

TEST_CASE("errors of the thread reach the next save(), wait() or close()") {
  const testing::TemporaryFolder folder;
  const Weights weights(2);
  const std::string file = folder.file("file", "");
  train::CheckpointManager manager(weights.checkpoint, file, {.async = true});
  const auto save_later = [&] {
    for (;;) manager.save(1), std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  CHECK_THROWS_AS(save_later(), errors::UnavailableError);
  CHECK_THROWS_AS((manager.save(2), manager.wait()), errors::UnavailableError);
  CHECK_NOTHROW(manager.wait());
  CHECK_THROWS_AS((manager.save(3), manager.close()), errors::UnavailableError);
  CHECK_NOTHROW(manager.close());
}

TEST_CASE("a folder that only others may write is refused, with its name") {
  const testing::TemporaryFolder folder;
  const Weights weights(2);
  train::CheckpointManager(weights.checkpoint, folder.path).save(1);
  std::filesystem::permissions(folder.path, std::filesystem::perms(0555));
  const uid_t user = ::geteuid();
  if (user == 0) REQUIRE(::seteuid(65534) == 0);
  std::string error, restored;
  {
    train::CheckpointManager manager(weights.checkpoint, folder.path);
    error = error_of<errors::UnavailableError>([&] { manager.save(2); });
    restored = manager.restore_or_initialize().path;
  }
  if (user == 0) REQUIRE(::seteuid(0) == 0);
  std::filesystem::permissions(folder.path, std::filesystem::perms(0755));
  CHECK_THAT(error, ContainsSubstring(folder / "ckpt-2.safetensors"));
  CHECK(restored == folder / "ckpt-1.safetensors");
}

TEST_CASE("a damaged checkpoint raises, naming file and tensor; .fall_back goes on to the one before") {
  const testing::TemporaryFolder folder;
  const Weights weights(8);
  train::CheckpointManager manager(weights.checkpoint, folder.path);
  for (i64 step : {1, 2, 3}) weights.set(step), manager.save(step);
  const std::string path = folder / "ckpt-3.safetensors", good = testing::content_of(path);
  std::string flipped = good;
  flipped.back() ^= 1;
  folder.file("ckpt-3.safetensors", flipped);
  const std::string error = error_of<errors::DataLossError>([&] { manager.restore_or_initialize(); });
  CHECK_THAT(error, ContainsSubstring(path) && ContainsSubstring("\"b\""));
  CHECK(weights.a.to_vector<float>()[0] == 3);
  const KeptWarnings kept;
  const train::RestoredCheckpoint restored = manager.restore_or_initialize({.fall_back = true});
  CHECK(restored.step == 2);
  CHECK(restored.path == folder / "ckpt-2.safetensors");
  REQUIRE(restored.errors.size() == 1);
  CHECK_THAT(restored.errors[0], ContainsSubstring(path));
  CHECK_THAT(warning, ContainsSubstring(path) && ContainsSubstring("the checkpoint before it"));
  CHECK(weights.a.to_vector<float>()[0] == 2);

  folder.file("ckpt-3.safetensors", good.substr(0, good.size() / 2));
  CHECK(manager.restore_or_initialize({.fall_back = true}).step == 2);
  std::filesystem::remove(path);
  CHECK_THROWS_AS(manager.restore_or_initialize(), errors::NotFoundError);
  CHECK(manager.restore_or_initialize({.fall_back = true}).step == 2);
  for (const char* name : {"ckpt-1.safetensors", "ckpt-2.safetensors"}) std::filesystem::remove(folder / name);
  CHECK_THROWS_AS(manager.restore_or_initialize({.fall_back = true}), errors::NotFoundError);
  // Another model is not a damage.
  train::CheckpointManager(weights.checkpoint, folder.path).save(9);
  const Weights wider(9);
  train::CheckpointManager other(wider.checkpoint, folder.path);
  CHECK_THROWS_AS(other.restore_or_initialize({.fall_back = true}), errors::InvalidArgumentError);
}

TEST_CASE("a damaged index raises, or lists what exists") {
  const testing::TemporaryFolder folder;
  const Weights weights(1);
  train::CheckpointManager manager(weights.checkpoint, folder.path, {.max_to_keep = 1, .best_metric = "loss"});
  manager.save(1, {.metrics = {{"loss", 1}}});
  manager.save(2, {.metrics = {{"loss", 2}}});
  const std::string path = folder / "ckpt-index.json", good = testing::content_of(path);
  int n = 0;
  testing::for_each_damage(good, [&](const std::string& bytes, bool) {
    if (n++ % 11) return;
    folder.file("ckpt-index.json", bytes);
    const std::string error = error_of([&] { train::latest_checkpoint(folder.path); });
    CHECK((error == "no error" || error.find(path) != std::string::npos));
  });
  for (const char* name : {"../other", "/etc/passwd", "ckpt-1", "notes.txt"}) {
    std::string bad = good;
    bad.replace(bad.find("ckpt-1.safetensors"), 18, name);
    folder.file("ckpt-index.json", bad);
    CHECK_THROWS_AS(train::CheckpointManager(weights.checkpoint, folder.path), errors::DataLossError);
  }
}

TEST_CASE("every bit of a checkpoint counts") {
  const testing::TemporaryFolder folder;
  const Weights weights(2);
  weights.set(3);
  weights.checkpoint.save(folder / "a", {{"note", "text"}});
  const std::string good = testing::content_of(folder / "a");
  testing::for_each_damage(good, [&](const std::string& bytes, bool) {
    INFO(bytes);
    CHECK_THROWS_AS(io::parse_safetensors(bytes.data(), bytes.size(), "file"), errors::DataLossError);
  });
}

}  // namespace train_checkpoint_faults_test
