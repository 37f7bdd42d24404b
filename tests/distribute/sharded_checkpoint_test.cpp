// Checkpoint and CheckpointManager of a ShardedEmbedding: all processes save their rows, and any number restores them.
#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/distribute/sharded_embedding.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/module/model.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optimizers.hpp"
#include "tandem/train.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sharded_checkpoint_test {

using namespace tandem;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::ShardedEmbedding;
using distribute::SimCluster;
using ::testing::TemporaryFolder;
using Floats = std::vector<float>;
using Manager = train::CheckpointManager;
using ManagerOptions = train::CheckpointManagerOptions;

struct Words : Model<Words> {
  ShardedEmbedding embedding{10, 3, {.embeddings_initializer = initializers::RandomUniform(-0.05, 0.05, 3)}};
};

// A training whose rows, of the table and of the momentum, the processes divide.
struct Training {
  explicit Training(const Communicator& world) : own(constant(ids)(Slice(world.rank(), none, world.size()))) {
    sgd.build(model.trainable_variables());
  }
  void step() const {
    sgd.minimize([&] { return reduce_sum(square(model.embedding(own) - 1.f)); }, model.trainable_variables());
    steps.assign_add(1);
  }

  const std::vector<int> ids{5, 1, 5, 0, 9, 1, 2, 5, 9, 9, 3, 0};
  const Tensor own;
  const Words model;
  const optimizers::SGD sgd{0.02, 0.9};
  const Variable steps{0.f, {.trainable = false}};
  const train::Checkpoint checkpoint{{"model", model}, {"optimizer", sgd}, {"steps", steps}};
};
// Calls f(training, rank) in so many processes; returns the table at the end, and the number of steps.
template <class F>
Floats in(int ranks, const F& f) {
  Floats r;
  SimCluster(ranks, {.seed = 6}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Training training(w);
    f(training, w.rank());
    const Tensor table = training.model.embedding.table();
    if (w.rank() != ranks - 1) return;
    r = table.to_vector<float>();
    r.push_back(training.steps.item<float>());
  });
  return r;
}
void check_near(const Floats& a, const Floats& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-5));
}
std::vector<std::string> files_with(const std::string& folder, const std::string& part) {
  std::vector<std::string> r;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (const std::string name = entry.path().filename().string(); name.find(part) != name.npos) r.push_back(name);
  return r;
}

TEST_CASE("a checkpoint with rows of a table: any number of processes goes on from that of any number") {
  const Floats whole = in(1, [](const Training& t, int) { t.step(), t.step(), t.step(); });
  CHECK(whole.back() == 3);
  for (const int before : {1, 2, 3}) {
    const TemporaryFolder folder;
    const std::string path = folder / "a.safetensors", plain = folder / "plain", async = folder / "async";
    const Floats saved = in(before, [&](const Training& t, int) {
      t.step(), t.step();
      t.checkpoint.save(path, {{"note", "two steps"}});
      Manager(t.checkpoint, plain).save(2);
      Manager later(t.checkpoint, async, {.async = true});
      later.save(2);
      later.close();
    });
    CHECK(train::read_metadata(path).at("note") == "two steps");
    CHECK(files_with(folder.path, "a.shard-").size() == (before == 1 ? 0U : static_cast<std::size_t>(before)));
    for (const int after : {1, 2, 3}) {
      INFO(before << " and then " << after);
      std::vector<std::string> restored;
      CHECK(in(after, [&](const Training& t, int rank) {
              const train::RestoreReport report = t.checkpoint.restore(path);
              if (rank == 0) restored = report.restored;
            }) == saved);
      CHECK(restored.size() == 5);  // the rows, their momentum, the optimizer's rate and iterations, the steps
      for (const std::string& run : {plain, async})
        check_near(in(after,
                      [&](const Training& t, int) {
                        Manager manager(t.checkpoint, run);
                        if (manager.restore_or_initialize().step == 2) t.step();
                      }),
                   whole);
    }
  }
}

TEST_CASE("a manager of several processes removes the files with rows of old checkpoints, and what killed ones left") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  std::filesystem::create_directory(run);
  for (const char* left : {"ckpt-0.shard-00000-of-00002-7.safetensors", "ckpt-3.shard-00001-of-00002-7.safetensors"})
    folder.file(std::string("run/") + left, "of a killed process");
  const Floats last = in(2, [&](const Training& t, int) {
    Manager manager(t.checkpoint, run, {.max_to_keep = 2});
    for (const i64 step : {1, 2, 3, 3}) {
      t.step();
      manager.save(step);
    }
  });
  CHECK(files_with(run, ".shard-").size() == 2 * 2);
  CHECK(files_with(run, "ckpt-2.shard-").size() == 2);
  CHECK(files_with(run, "ckpt-3.shard-").size() == 2);
  std::vector<std::string> listed;
  CHECK(in(3, [&](const Training& t, int rank) {
          Manager manager(t.checkpoint, run, {.max_to_keep = 2});
          manager.restore_or_initialize();
          manager.save(4);
          if (rank == 2) listed = manager.checkpoints();
        }) == last);
  CHECK(listed == std::vector<std::string>{run + "/ckpt-3.safetensors", run + "/ckpt-4.safetensors"});
  CHECK(files_with(run, ".shard-").size() == 2 + 3);
}

TEST_CASE("a manager of several processes, .async: a further save finds the one before it complete") {
  for (const i64 second : {7, 5}) {
    const TemporaryFolder folder;
    const std::string run = folder / "run";
    const Floats saved = in(2, [&](const Training& t, int) {
      const Variable large(zeros({2'000'000}));  // takes a while to write
      Manager manager({{"model", t.model}, {"large", large}}, run, {.async = true});
      t.step();
      manager.save(7);
      t.step();
      manager.save(second);
      manager.close();
    });
    INFO("7, then " << second);
    const std::string file = run + "/ckpt-" + std::to_string(second) + ".safetensors";
    const Floats read = in(2, [&](const Training& t, int) {
      const Variable large(zeros({2'000'000}));
      train::Checkpoint({{"model", t.model}, {"large", large}}).restore(file);
    });
    CHECK(Floats(read.begin(), read.end() - 1) == Floats(saved.begin(), saved.end() - 1));
  }
}
TEST_CASE("a manager of several processes: .max_shard_bytes where all is in tables") {
  const TemporaryFolder folder;
  const Floats saved = in(2, [&](const Training& t, int) {
    t.step();
    Manager(train::Checkpoint{{"model", t.model}}, folder / "run", {.max_shard_bytes = 1000}).save(1);
  });
  const Floats read = in(3, [&](const Training& t, int) {
    CHECK(Manager(train::Checkpoint{{"model", t.model}}, folder / "run").restore_or_initialize().step == 1);
  });
  CHECK(Floats(read.begin(), read.end() - 1) == Floats(saved.begin(), saved.end() - 1));
}
TEST_CASE("a part of a table is not saved as the whole outside of the strategy's scope") {
  const TemporaryFolder folder;
  SimCluster(2, {.seed = 6}).run([&](const Communicator& w) {
    std::optional<Training> training;
    {
      const MultiWorkerMirroredStrategy strategy;
      const auto scope = strategy.scope();
      training.emplace(w);
    }
    const std::string text = testing::error_of<errors::FailedPreconditionError>(
        [&] { training->checkpoint.save(folder / (std::to_string(w.rank()) + ".safetensors")); });
    if (w.rank() == 0) CHECK_THAT(text, Catch::Matchers::ContainsSubstring("a part of the 10 rows"));
  });
}

TEST_CASE("a manager of several processes: what fails in one is an error in all, and all fall back together") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  const Floats first = in(2, [&](const Training& t, int) {
    t.step();
    Manager(t.checkpoint, run).save(1);
  });
  in(2, [&](const Training& t, int) { Manager(t.checkpoint, run).save(2); });
  for (const std::string& file : files_with(run, "ckpt-2.shard-00001")) std::filesystem::remove(run + "/" + file);
  std::vector<std::string> errors(2);
  in(2, [&](const Training& t, int rank) {
    Manager manager(t.checkpoint, run);
    errors[static_cast<std::size_t>(rank)] = testing::error_of([&] { manager.restore_or_initialize(); });
  });
  CHECK_THAT(errors[0], ContainsSubstring("another process could not restore its part of " + run + "/ckpt-2"));
  CHECK_THAT(errors[1], ContainsSubstring("there is no " + run + "/ckpt-2.shard-00001-of-00002-"));
  set_warning_handler([](const char*) {});
  CHECK(in(2, [&](const Training& t, int) { Manager(t.checkpoint, run).restore_or_initialize({.fall_back = true}); }) ==
        first);
  set_warning_handler(nullptr);

  const std::string file = folder.file("file", "");  // no folder
  in(2, [&](const Training& t, int rank) {
    Manager manager(t.checkpoint, rank == 1 ? file : run);
    errors[static_cast<std::size_t>(rank)] = testing::error_of([&] { manager.save(5); });
  });
  CHECK_THAT(errors[0], ContainsSubstring("another process could not save its part of " + run + "/ckpt-5"));
  CHECK_THAT(errors[1], ContainsSubstring(file));
  CHECK(files_with(run, "ckpt-5.safetensors").empty());
}

// What each of two processes raises in f(manager, rank).
template <class F>
std::vector<std::string> errors_in(const std::string& run, const ManagerOptions& options, const F& f) {
  std::vector<std::string> errors(2);
  in(2, [&](const Training& t, int rank) {
    Manager manager(t.checkpoint, run, options);
    errors[static_cast<std::size_t>(rank)] = testing::error_of([&] { f(t, manager, rank); });
  });
  return errors;
}
TEST_CASE("a manager of several processes: rank 0 reads the index, and an error of it is one in all") {
  const TemporaryFolder folder;
  const std::string run = folder / "run", torn = folder / "torn";
  in(2, [&](const Training& t, int) { Manager(t.checkpoint, run).save(1); });
  std::filesystem::create_directory(torn);
  folder.file("torn/ckpt-index.json", "{");
  std::array<std::string, 2> errors, latest;
  in(2, [&](const Training& t, int rank) {
    const auto at = static_cast<std::size_t>(rank);
    errors[at] = testing::error_of([&] { Manager(t.checkpoint, rank == 0 ? torn : run); });
    const Manager manager(t.checkpoint, rank == 1 ? torn : run);
    latest[at] = manager.latest_checkpoint();
  });
  CHECK_THAT(errors[0], ContainsSubstring("ckpt-index.json is damaged"));
  CHECK_THAT(errors[1], ContainsSubstring("another process could not restore its part of " + run));
  CHECK(latest[0] == run + "/ckpt-1.safetensors");
  CHECK(latest[1] == torn + "/ckpt-1.safetensors");
}
TEST_CASE("a manager of several processes: any exception of one is an error in all") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  in(2, [&](const Training& t, int) {
    Manager(t.checkpoint, run, {.best_metric = "loss"}).save(1, {.metrics = {{"loss", 1}}});
  });
  // What is wrong in one process before anything is written, and steps that differ.
  std::vector<std::string> e = errors_in(run, {.best_metric = "loss"}, [](const Training&, Manager& m, int rank) {
    if (rank == 0) m.save(2, {.metrics = {{"loss", 1}}});
    else m.save(2);
  });
  CHECK_THAT(e[0], ContainsSubstring("another process could not save"));
  CHECK_THAT(e[1], ContainsSubstring("the best checkpoint is kept by 'loss'"));
  e = errors_in(run, {}, [](const Training&, Manager& m, int rank) { m.save(2 + rank); });
  for (const std::string& text : e) CHECK_THAT(text, ContainsSubstring("processes save different steps: 2 and 3"));
  CHECK(files_with(run, "ckpt-2").empty());
}
TEST_CASE("a manager of several processes, .async: all know the newest checkpoint when it is written") {
  const TemporaryFolder folder;
  const std::string run = folder / "run", file = run + "/ckpt-3.safetensors";
  std::vector<std::string> latest(2), best(2), closed(2);
  in(2, [&](const Training& t, int rank) {
    const auto at = static_cast<std::size_t>(rank);
    const Variable large(zeros({2'000'000}));  // takes a while to write
    Manager manager({{"model", t.model}, {"large", large}}, run, {.best_metric = "loss", .async = true});
    manager.save(2, {.metrics = {{"loss", 2}}});
    manager.save(3, {.metrics = {{"loss", 1}}});
    manager.wait();
    latest[at] = manager.latest_checkpoint(), best[at] = manager.best_checkpoint();
    manager.save(4, {.metrics = {{"loss", 3}}});
    manager.close();
    closed[at] = manager.latest_checkpoint();
  });
  CHECK(latest == std::vector(2, file));
  CHECK(best == std::vector(2, file));
  CHECK(closed == std::vector(2, run + "/ckpt-4.safetensors"));
}

TEST_CASE("slots of a table that one process has saved are restored before the optimizer has made them") {
  const TemporaryFolder folder;
  const std::string whole = folder / "whole.safetensors", parts = folder / "parts.safetensors";
  struct Untrained {
    const Words model;
    const optimizers::SGD sgd{0.02, 0.9};
    const Variable steps{0.f, {.trainable = false}};
    const train::Checkpoint checkpoint{{"model", model}, {"optimizer", sgd}, {"steps", steps}};
  };
  const auto save = [](const std::string& path) {
    return [path](const Training& t, int) {
      t.step(), t.step();
      t.checkpoint.save(path);
      t.step();
    };
  };
  const Floats trained = in(1, save(whole));
  in(2, save(parts));
  std::array<Floats, 2> tables;
  std::array<std::string, 2> errors;
  SimCluster(2, {.seed = 6}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Training t(w);
    const Untrained late;
    CHECK(late.checkpoint.restore(whole).deferred.size() == 1);
    late.sgd.minimize([&] { return reduce_sum(square(late.model.embedding(t.own) - 1.f)); },
                      late.model.trainable_variables());
    const Tensor table = late.model.embedding.table();
    tables[static_cast<std::size_t>(w.rank())] = table.to_vector<float>();
    // Rows that processes have saved need the slots.
    errors[static_cast<std::size_t>(w.rank())] = testing::error_of([&] { Untrained().checkpoint.restore(parts); });
  });
  for (const Floats& table : tables) check_near(table, Floats(trained.begin(), trained.end() - 1));
  for (const std::string& e : errors) CHECK_THAT(e, ContainsSubstring("build() the optimizer of its weights"));
}

TEST_CASE("a checkpoint without tables that processes divide is saved by the process that calls save") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.safetensors";
  in(2, [&](const Training& t, int rank) {
    if (rank == 0) train::Checkpoint({{"steps", t.steps}}).save(path);
    if (rank == 0) Manager(train::Checkpoint({{"steps", t.steps}}), folder / "run").save(1);
  });
  CHECK(train::read_metadata(path).count("shards") == 0);
}

}  // namespace sharded_checkpoint_test
