// Tables of ShardedEmbedding in files: in a Trainer's folder, and as weights.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>

#include "tandem/base/warning.hpp"
#include "tandem/data/dataset_sources.hpp"
#include "tandem/distribute/sharded_embedding.hpp"
#include "tandem/distribute/sim_cluster.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/layers/dense.hpp"
#include "tandem/losses.hpp"
#include "tandem/module/model.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optimizers.hpp"
#include "tandem/train.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace sharded_files_test {

using namespace tandem;
using distribute::Communicator;
using distribute::MultiWorkerMirroredStrategy;
using distribute::ShardedEmbedding;
using distribute::SimCluster;
using Floats = std::vector<float>;

struct Words : Model<Words> {
  ShardedEmbedding embedding{10, 4, {.embeddings_initializer = initializers::RandomUniform(-0.05, 0.05, 3)}};
  layers::Dense out{1};
  Tensor operator()(const Tensor& x) const { return out(embedding(x)); }
};

struct Trained {
  Floats table, averages;
  std::vector<double> loss;
};
// Trains in a folder until a step, by as many ranks.
Trained fitted(const std::string& folder, int ranks, i64 steps, train::FitOptions o = {},
               train::Callbacks (*callbacks)() = nullptr) {
  Trained r;
  SimCluster(ranks, {.seed = 6}).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    random::set_seed(2);
    const Words model;
    train::Trainer trainer(model, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::Adam(0.1), .ema = 0.5});
    const Tensor x = range(24) % 10, y = reshape(cast(range(24), DType::float32), {24, 1});
    train::FitOptions options = o;
    if (callbacks) options.callbacks = callbacks();  // each rank has its own
    options.max_steps = steps, options.directory = folder, options.progress.mode = train::ProgressMode::none;
    const train::History h =
        trainer.fit(strategy.distribute_dataset(data::from_tensor_slices(std::pair(x, y)).batch(6)), options);
    const Tensor table = model.embedding.table();
    const Variable average = trainer.ema().average(model.embedding.trainable_variables()[0]);
    const Tensor sum = strategy.reduce(distribute::ReduceOp::sum, average, 0);
    if (w.rank() == ranks - 1) r = {table.to_vector<float>(), sum.to_vector<float>(), h["loss"]};
  });
  return r;
}
TEST_CASE("a table in a Trainer's folder is saved by all ranks, and any number of them goes on with the same bits") {
  const ::testing::TemporaryFolder folder;
  const Trained two = fitted(folder / "run", 2, 5);
  for (const int ranks : {3, 1, 4, 2}) {  // restored, saved by none: the run is complete
    INFO(ranks);
    const Trained again = fitted(folder / "run", ranks, 5);
    CHECK(again.table == two.table);
    REQUIRE(again.averages.size() == two.averages.size());
    for (std::size_t i = 0; i < two.averages.size(); ++i)
      CHECK(again.averages[i] == Approx(two.averages[i]).epsilon(1e-6));
  }
  for (const int ranks : {1, 2, 3}) {  // for evaluation: the model and its averages
    INFO(ranks);
    std::vector<Floats> restored;
    SimCluster(ranks).run([&](const Communicator& w) {
      const MultiWorkerMirroredStrategy strategy;
      const auto scope = strategy.scope();
      const Words model;
      train::Trainer trainer(model, {.loss = losses::MeanSquaredError(), .ema = 0.5});
      trainer.restore(folder / "run");
      const Tensor table = model.embedding.table();
      const Variable average = trainer.ema().average(model.embedding.trainable_variables()[0]);
      const Tensor sum = strategy.reduce(distribute::ReduceOp::sum, average, 0);
      if (w.rank() == ranks - 1) restored = {table.to_vector<float>(), sum.to_vector<float>()};
    });
    CHECK(restored[0] == two.table);
    for (std::size_t i = 0; i < two.averages.size(); ++i)
      CHECK(restored[1][i] == Approx(two.averages[i]).epsilon(1e-6));
  }
  // Each goes on from the other's files, slots included: near an uninterrupted run, whose sums have another order.
  const Trained whole = fitted(folder / "whole", 2, 11);
  const Trained three = fitted(folder / "run", 3, 8), same = fitted(folder / "copy", 2, 8);
  for (std::size_t i = 0; i < same.table.size(); ++i) CHECK(three.table[i] == Approx(same.table[i]).margin(1e-4));
  CHECK(fitted(folder / "run", 1, 8).table == three.table);
  const Trained one = fitted(folder / "run", 1, 11);
  for (std::size_t i = 0; i < whole.table.size(); ++i) CHECK(one.table[i] == Approx(whole.table[i]).margin(1e-4));
  // Interrupted and gone on with as many: the same bits.
  CHECK(fitted(folder / "copy", 2, 11).table == whole.table);
}
// Of an epoch that is the best one, as the loss only grows behind it.
train::Callbacks early_stopping() {
  return {train::LambdaCallback({.on_epoch_end =
                                     [](train::Run& run) {
                                       run.set_value("measured",
                                                     run.epoch() == 1 ? 0. : 1. + static_cast<double>(run.epoch()));
                                     }}),
          train::EarlyStopping({.monitor = "measured", .patience = 9, .restore_best_weights = true})};
}
TEST_CASE("the best rows of a table that EarlyStopping keeps are saved in a Trainer's folder, too") {
  const ::testing::TemporaryFolder folder;
  const auto train_until = [&](const std::string& run, int ranks, i64 steps) {
    return fitted(folder / run, ranks, steps, {}, early_stopping);
  };
  const Trained best = train_until("best", 2, 8);  // an epoch has 4 steps, the second one is the best
  const Trained whole = train_until("whole", 2, 14);
  CHECK(whole.table == best.table);
  for (const int ranks : {2, 3, 1}) {  // interrupted behind the best epoch, and gone on with as many ranks, and others
    INFO(ranks);
    const std::string run = "run" + std::to_string(ranks);
    train_until(run, 2, 10);
    const Trained again = train_until(run, ranks, 14);
    REQUIRE(again.table.size() == best.table.size());
    CHECK(again.table == best.table);
  }
  // A Variable of which each process has its own value, not rows of one, is still refused.
  const std::string error = testing::error_of([&] {
    SimCluster(2).run([&](const Communicator&) {
      const MultiWorkerMirroredStrategy strategy;
      const auto scope = strategy.scope();
      struct Keeps : train::Callback {
        Keeps() {
          kept.add_variables({{.path = "own", .variable = Variable(1.f, {.name = "own", .aggregate = false})}});
        }
        const train::SavedState* state() const override { return &kept; }
        train::SavedState kept;
      };
      const Words model;
      const Tensor x = range(24) % 10, y = reshape(cast(range(24), DType::float32), {24, 1});
      train::Trainer(model, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::SGD(0.1)})
          .fit(strategy.distribute_dataset(data::from_tensor_slices(std::pair(x, y)).batch(6)),
               {.callbacks = {Keeps()}, .progress = {.mode = train::ProgressMode::none}, .directory = folder / "own"});
    });
  });
  CHECK_THAT(error, ContainsSubstring("EarlyStopping's .restore_best_weights"));
}
// The whole table that `ranks` processes load from a file of weights.
Floats loaded(int ranks, const std::string& path) {
  Floats r;
  SimCluster(ranks).run([&](const Communicator& w) {
    const MultiWorkerMirroredStrategy strategy;
    const auto scope = strategy.scope();
    const Words model;
    model(constant({1}));
    const train::RestoreReport report = train::load_weights(model, path);
    const Tensor table = model.embedding.table();
    if (w.rank() != ranks - 1) return;
    r = table.to_vector<float>();
    CHECK(report.restored.size() == 3);
  });
  return r;
}
TEST_CASE("ModelCheckpoint saves the rows of all, which any number of processes loads") {
  const ::testing::TemporaryFolder folder;
  static std::string path;  // of the callback, which no other test uses
  path = folder / "weights-{measured}.safetensors";
  const auto best_and_last = [] {
    train::Callbacks r = early_stopping();
    r.pop_back();
    r.push_back(train::ModelCheckpoint(path, {.monitor = "measured", .save_best_only = true}));
    r.push_back(train::ModelCheckpoint(path.substr(0, path.find("weights")) + "last.safetensors", {.monitor = "loss"}));
    return r;
  };
  const Trained best = fitted(folder / "best", 2, 8);  // an epoch has 4 steps, the second one is the best
  const Trained last = fitted(folder / "run", 2, 16, {}, best_and_last);
  for (const int ranks : {1, 2, 3}) {
    INFO(ranks);
    CHECK(loaded(ranks, folder / "weights-0.safetensors") == best.table);
    CHECK(loaded(ranks, folder / "last.safetensors") == last.table);
  }
  int shards = 0;
  std::string second;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
    const std::string name = entry.path().filename().string();
    shards += name.starts_with("last.shard-");
    if (name.starts_with("weights-0.shard-00001-of-00002-")) second = entry.path().string();
  }
  CHECK(shards == 2);  // those of former epochs are gone
  const std::string file = folder / "weights-0.safetensors";
  struct Other : Model<Other> {
    layers::Dense out{1};
  };
  CHECK_THAT(testing::error_of([&] { train::load_weights(Other(), file); }),
             ContainsSubstring("which no Variable is: build the model first"));
  CHECK(train::load_weights(Other(), file, {.partial = true}).deferred.size() == 2);
  std::filesystem::remove(second);
  CHECK_THAT(testing::error_of([&] { loaded(1, file); }), ContainsSubstring("there is no " + second));
}
// In the place of the file that the first process writes, in some epochs: a link into a folder that does not exist, or
// a folder.
struct InTheWay : train::Callback {
  InTheWay(std::string p, i64 f, i64 l, bool is_folder) : path(std::move(p)), first(f), last(l), folder(is_folder) {}
  bool is_for_first_replica() const override { return true; }
  void on_epoch_begin(train::Run& run) override {
    if (run.epoch() == last) std::filesystem::remove(path);
    if (run.epoch() != first) return;
    std::filesystem::remove(path);
    if (folder) std::filesystem::create_directory(path);
    else std::filesystem::create_symlink("no/such/folder", path);
  }
  std::string path;
  i64 first, last;
  bool folder;
};
TEST_CASE("ModelCheckpoint: what one process cannot write is a warning in all, and all save again") {
  const ::testing::TemporaryFolder folder;
  static std::string path;
  static i64 last;
  static bool is_folder;
  static std::atomic<int> warnings;
  const auto fit = [&](const std::string& name, i64 until, bool is_of_folder) {
    std::filesystem::create_directory(folder / name);
    path = folder / (name + "/w.safetensors"), last = until, is_folder = is_of_folder, warnings = 0;
    set_warning_handler([](const char* text) { warnings += std::string_view(text).find("ModelCheckpoint: ") == 0; });
    Trained r;
    const std::string error = testing::error_of([&] {
      r = fitted(folder / (name + "/run"), 2, 16, {}, [] {
        return train::Callbacks{InTheWay(path, 1, last, is_folder), train::ModelCheckpoint(path, {.monitor = "loss"})};
      });
    });
    set_warning_handler(nullptr);
    return std::pair(error, r);
  };
  const auto [error, trained] = fit("a", 3, false);
  CHECK(error == "no error");
  CHECK(warnings == 2);
  CHECK(loaded(3, path) == trained.table);

  CHECK(fit("b", 9, false).first != "no error");  // to the end
  CHECK(warnings == 2);
  CHECK(train::latest_checkpoint(folder / "b/run/checkpoints").ends_with("ckpt-16.safetensors"));
  CHECK(fit("c", 9, true).first != "no error");  // no matter of the disk: the training ends
  CHECK(warnings == 0);
  CHECK(train::latest_checkpoint(folder / "c/run/checkpoints").ends_with("ckpt-4.safetensors"));
}
TEST_CASE("ModelCheckpoint of rows: a value or a name that rank 0 does not have is an error in all") {
  const ::testing::TemporaryFolder folder;
  static std::string path, folder_of_names;
  struct Case {
    train::Callbacks (*callbacks)();
    const char* of_rank_1;
  };
  // Before the first step; after the first epoch, as a callback might have added the value; the name of a file.
  const Case cases[] = {
      {+[] { return train::Callbacks{train::ModelCheckpoint(path, {.monitor = "nothing", .save_best_only = true})}; },
       "a callback of another process has raised"},
      {+[] {
         return train::Callbacks{train::ModelCheckpoint(path, {.monitor = "nothing", .save_best_only = true}),
                                 train::LambdaCallback({.on_epoch_end = [](train::Run&) {}})};
       },
       "of rank 0 has no value"},
      {+[] {
         return train::Callbacks{
             train::ModelCheckpoint(folder_of_names + "/w-{nothing}.safetensors", {.monitor = "loss"})};
       },
       "rank 0 could not name the file"}};
  for (const Case& c : cases) {
    INFO(c.of_rank_1);
    path = folder / "w.safetensors", folder_of_names = folder.path;
    SimCluster cluster(2);
    testing::error_of([&] {
      cluster.run([&](const Communicator&) {
        const MultiWorkerMirroredStrategy strategy;
        const auto scope = strategy.scope();
        const Words model;
        const Tensor x = range(24) % 10, y = reshape(cast(range(24), DType::float32), {24, 1});
        train::Trainer(model, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::SGD(0.1)})
            .fit(strategy.distribute_dataset(data::from_tensor_slices(std::pair(x, y)).batch(6)),
                 {.callbacks = c.callbacks(), .progress = {.mode = train::ProgressMode::none}});
      });
    });
    CHECK_THAT(cluster.errors()[0], ContainsSubstring("'nothing'"));
    CHECK_THAT(cluster.errors()[1], ContainsSubstring(c.of_rank_1));
  }
}
TEST_CASE("save_weights: what one process cannot write is an error in all, and the former file stays") {
  const ::testing::TemporaryFolder folder;
  const std::string path = folder / "w.safetensors", no_folder = folder.file("no", "");
  const auto save = [&](float value, bool fails) {
    return testing::error_of([&] {
      SimCluster(2).run([&](const Communicator& w) {
        const MultiWorkerMirroredStrategy strategy;
        const auto scope = strategy.scope();
        const Words model;
        model(constant({1}));
        model.embedding.assign(zeros({10, 4}) + value);
        train::save_weights(model, fails && w.rank() == 1 ? no_folder + "/w.safetensors" : path);
      });
    });
  };
  CHECK(save(1, false) == "no error");
  CHECK_THAT(save(2, true), ContainsSubstring("could not save its part") || ContainsSubstring(no_folder));
  CHECK(loaded(2, path) == Floats(40, 1.f));
}
TEST_CASE("files with rows: old ones are removed, a missing or foreign one is an error in all ranks") {
  const ::testing::TemporaryFolder folder;
  const auto files = [&](const std::string& run) {
    std::vector<std::string> r;
    for (const auto& entry : std::filesystem::directory_iterator(run + "/checkpoints"))
      if (const std::string name = entry.path().filename().string(); name.find(".shard-") != name.npos)
        r.push_back(name);
    std::sort(r.begin(), r.end());
    return r;
  };
  const std::string run = folder / "run";
  fitted(run, 3, 9, {.save_steps = 1, .max_to_keep = 1});
  const std::vector<std::string> left = files(run);
  CHECK(left.size() <= 3 * 2);  // the last step is saved twice: where it is due, and at the end
  const auto path = [&](const std::string& of, int rank) {
    const std::vector<std::string> names = files(of);
    const auto at = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
      return name.find("ckpt-9.shard-0000" + std::to_string(rank) + "-of-00003-") == 0;
    });
    REQUIRE(at != names.end());
    return of + "/checkpoints/" + *at;
  };
  const std::string second = path(run, 1), third = path(run, 2);
  const auto error = [&](int ranks) { return testing::error_of([&] { fitted(run, ranks, 10); }); };
  std::filesystem::rename(second, second + ".kept");
  CHECK_THAT(error(2), ContainsSubstring("there is no " + second));
  std::filesystem::copy_file(third, second);
  CHECK_THAT(error(2), ContainsSubstring(second + " does not belong to "));
  std::filesystem::remove(second);
  const std::string other = folder / "other";
  fitted(other, 3, 9);
  std::filesystem::copy_file(path(other, 1), second);
  CHECK_THAT(error(2), ContainsSubstring(second + " does not belong to "));
  CHECK_THAT(error(3), ContainsSubstring("could not restore its rows") || ContainsSubstring("does not belong to "));
  std::filesystem::remove(second);
  std::filesystem::rename(second + ".kept", second);
  CHECK(error(2) == "no error");
}

}  // namespace sharded_files_test
