// Trainer::fit in the folder of a run: killed, interrupted and started again, it ends with the same bits.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tandem/io/file.hpp"
#include "tandem/train/run_directory.hpp"
#include "tandem/train/trainer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/small_files.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace resume_test {
using namespace training;
using testing::error_of;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

const Points& points() {
  static const Points p(60);
  return p;
}

// A run with all kinds of state: dropout, moving averages, accumulated gradients, a plateau, early stopping.
struct Training {
  layers::Sequential net = unbuilt_network();
  train::Trainer trainer{net, [] {
                           train::TrainerOptions o = options();
                           o.optimizer = optimizers::Adam({.learning_rate = 0.05});
                           o.ema = 0.9;
                           o.accumulate_steps = 3;
                           return o;
                         }()};
  train::FitOptions fit_options(const std::string& folder, train::Callbacks more = {}) const {
    train::FitOptions o;
    o.epochs = 5;
    o.validation_data = points().batches(30);
    o.callbacks = std::move(more);
    o.callbacks.push_back(train::EarlyStopping({.patience = 10, .restore_best_weights = true}));
    o.callbacks.push_back(train::ReduceLROnPlateau({.factor = 0.5, .patience = 1, .min_delta = 0.05}));
    o.callbacks.push_back(train::LearningRateScheduler([](i64, double rate) { return rate * 0.9; }));
    o.progress.mode = train::ProgressMode::none;
    o.directory = folder;
    o.configuration = {{"batch", "8"}};
    o.save_steps = 3;
    return o;
  }
  // What is left of a run: weights, averages, and the history.
  std::string result(const std::string& folder, train::Callbacks more = {}) {
    const train::History h = trainer.fit(points().shuffled(8), fit_options(folder, std::move(more)));
    std::string r = h.to_text() + h.stop_reason;
    trainer.ema().assign_averages();
    for (const auto& w : weights_of(net)) r.append(reinterpret_cast<const char*>(w.data()), 4 * w.size());
    return r;
  }
};

const std::string& uninterrupted() {
  static const std::string r = Training().result("");
  return r;
}

TEST_CASE("a run in a folder is the same as one without") {
  const TemporaryFolder folder;
  CHECK(Training().result(folder / "run") == uninterrupted());
  // Complete: nothing is trained again.
  Training again;
  CHECK(again.result(folder / "run") == uninterrupted());
  CHECK(again.trainer.step() == 40);
}

TEST_CASE("a run that an exception ends goes on from its latest checkpoint", "[slow]") {
  for (const i64 step : {1, 3, 4, 8, 9, 17, 31, 39, 40}) {
    const TemporaryFolder folder;
    const auto fail = train::LambdaCallback({.on_step_end = [step](train::Run& run) {
      if (run.step() == step) throw std::runtime_error("stopped");
    }});
    CHECK_THROWS_WITH(Training().result(folder / "run", {fail}), "stopped");
    INFO("step " << step);
    CHECK(Training().result(folder / "run") == uninterrupted());
  }
}

TEST_CASE("Ctrl-C saves after the step, and the same call goes on") {
  for (const i64 step : {1, 8, 13, 40}) {
    const TemporaryFolder folder;
    Training first;
    struct Interrupt : train::Callback {
      explicit Interrupt(i64 at) : step(at) {}
      void on_step_end(train::Run& run) override {
        if (run.step() == step) ::raise(SIGINT);
      }
      void on_checkpoint(train::Run&) override { ++saved; }
      void on_interrupt(train::Run&) override { told = saved; }
      i64 step;
      int saved = 0, told = 0;
    };
    const auto interrupt = std::make_shared<Interrupt>(step);
    const train::History h = first.trainer.fit(points().shuffled(8), first.fit_options(folder / "run", {interrupt}));
    CHECK(h.exit_status == 130);
    CHECK(interrupt->told > 0);
    CHECK(interrupt->told == interrupt->saved);
    CHECK(first.trainer.step() == step);
    INFO("step " << step);
    CHECK(Training().result(folder / "run") == uninterrupted());
  }
}

TEST_CASE("SIGUSR1 saves after the step, and training goes on") {
  const TemporaryFolder folder;
  std::vector<i64> saved;
  const train::LambdaCallback asks({.on_step_end =
                                        [](train::Run& run) {
                                          if (run.step() == 5) ::raise(SIGUSR1);
                                        },
                                    .on_checkpoint = [&](train::Run& run) { saved.push_back(run.step()); }});
  Training t;
  train::FitOptions o = t.fit_options(folder / "run", {asks});
  o.save_steps = 0;
  const train::History h = t.trainer.fit(points().shuffled(8), o);
  CHECK(h.exit_status == 0);
  CHECK(saved == std::vector<i64>{5, 8, 16, 24, 32, 40});  // the others at the ends of epochs
  CHECK(h.epochs().size() == 5);

  const auto asks_and_fails = train::LambdaCallback({.on_step_end = [](train::Run& run) {
    if (run.step() == 5) ::raise(SIGUSR1);
    if (run.step() == 7) throw std::runtime_error("stopped");
  }});
  Training second;
  o = second.fit_options(folder / "second", {asks_and_fails});
  o.save_steps = 0;
  CHECK_THROWS_WITH(second.trainer.fit(points().shuffled(8), o), "stopped");
  CHECK(train::latest_checkpoint(folder / "second/checkpoints").ends_with("ckpt-5.safetensors"));
  CHECK(Training().result(folder / "second") == uninterrupted());
}

TEST_CASE("kill -9 at random moments loses nothing that was saved", "[slow]") {
  const std::string expected = uninterrupted();
  int kills = 0;
  for (int run = 0; run < 12; ++run) {
    const TemporaryFolder folder;
    int killed = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const pid_t child = ::fork();
      if (child == 0) {
        Training().result(folder / "run");
        ::_exit(0);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + 23 * run + 61 * attempt));
      ::kill(child, SIGKILL);
      int status = 0;
      ::waitpid(child, &status, 0);
      killed += WIFSIGNALED(status);
    }
    INFO("killed " << killed << " times");
    CHECK(Training().result(folder / "run") == expected);
    kills += killed;
  }
  CHECK(kills > 0);
}

TEST_CASE("a signal between two steps, or at the end of an epoch, ends the run there") {
  // The data set sends it when the loop asks for what comes behind the last batch, or for the second one.
  for (const i64 at : {1, 8}) {
    const TemporaryFolder folder;
    static i64 signal_at;
    static int epoch;
    signal_at = at, epoch = 0;
    const auto generated = data::from_generator([] {
      const bool sends = epoch++ == 1;  // the first epoch is that of the look at the first batch
      return [sends, it = points().shuffled(8).iterator({}), i = i64{0}]() mutable {
        if (sends && i++ == signal_at) ::raise(SIGINT);
        return it.next();
      };
    });
    const auto fit = [&](const std::string& path) {
      Training t;
      train::FitOptions o = t.fit_options(path);
      o.save_steps = 0;
      const train::History h = t.trainer.fit(generated, o);
      return std::pair(h.exit_status, h.to_text());
    };
    INFO("batch " << at);
    CHECK(fit(folder / "run").first == 130);
    epoch = 100;  // no more signals
    const auto resumed = fit(folder / "run"), whole = fit(folder / "other");
    CHECK(resumed.first == 0);
    CHECK(resumed.second == whole.second);
  }
}

TEST_CASE("metrics whose state depends on the number of classes go on, too") {
  const auto run = [](const std::string& folder, i64 stop) {
    train::TrainerOptions o = options();
    o.metrics = {metrics::F1Score({.average = metrics::FScoreAverage::macro, .name = "f1"})};
    o.loss = losses::CategoricalCrossentropy({.from_logits = true});
    train::Trainer trainer(unbuilt_network(), o);
    const auto ds = data::from_tensor_slices({points().x, one_hot(points().y, 2)}).batch(8);
    const auto fail = train::LambdaCallback({.on_step_end = [stop](train::Run& r) {
      if (r.step() == stop) throw std::runtime_error("stopped");
    }});
    return trainer
        .fit(ds, {.epochs = 3,
                  .validation_data = ds,
                  .callbacks = {fail},
                  .progress = {.mode = train::ProgressMode::none},
                  .directory = folder,
                  .save_steps = 1})
        .to_text();
  };
  const TemporaryFolder folder;
  const std::string expected = run(folder / "whole", -1);
  for (const i64 stop : {4, 9}) {
    const std::string path = folder / ("run" + std::to_string(stop));
    CHECK_THROWS_WITH(run(path, stop), "stopped");
    CHECK(run(path, -1) == expected);
  }
}

TEST_CASE("a stop within an epoch is remembered, and CSV files keep their rows") {
  const TemporaryFolder folder;
  const auto run = [&](train::Callbacks callbacks) {
    train::Trainer trainer(unbuilt_network(), options());
    train::FitOptions o{
        .epochs = 4, .progress = {.mode = train::ProgressMode::none}, .directory = folder / "run", .save_steps = 1};
    o.callbacks = std::move(callbacks);
    o.callbacks.push_back(train::CSVLogger(folder / "log.csv"));
    return trainer.fit(points().batches(10), o);
  };
  const auto stop = train::LambdaCallback({.on_step_end = [](train::Run& r) {
    if (r.step() == 8) r.stop("");
  }});
  const train::History h = run({stop});
  CHECK(h.epochs().size() == 2);
  const std::string rows = io::read_file(folder / "log.csv");
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 3);
  CHECK(run({}).to_text() == h.to_text());  // over: also without the callback
  CHECK(io::read_file(folder / "log.csv") == rows);
  train::Trainer other(unbuilt_network(), options());
  CHECK_THROWS(other.fit(points().batches(10), {.callbacks = {train::CSVLogger(folder / "log.csv")},
                                                .directory = folder / "run",
                                                .configuration = {{"other", "1"}}}));
  CHECK(io::read_file(folder / "log.csv") == rows);
}

TEST_CASE("another configuration is refused, and names what differs") {
  const TemporaryFolder folder;
  Training().result(folder / "run");
  {
    const train::RunDirectory run(folder / "run", {{"batch", "8"}});
    for (const char* name : {"tandem", "compiler", "machine"}) CHECK(!run.notes().at(name).empty());
    CHECK(run.notes().at("seed of the global generator") == "1");  // as unbuilt_network() sets it
  }
  Training other;
  train::FitOptions o = other.fit_options(folder / "run");
  o.configuration = {{"batch", "16"}};
  int calls = 0;  // of callbacks, of which a refused run calls none
  o.callbacks = {train::LambdaCallback(
      {.on_begin = [&](train::Run&) { ++calls; }, .on_exception = [&](train::Run&, std::exception_ptr) { ++calls; }})};
  const std::string message = error_of([&] { other.trainer.fit(points().shuffled(8), o); });
  CHECK(message.find("batch") != message.npos);
  CHECK(message.find("16") != message.npos);
  CHECK(calls == 0);
}

TEST_CASE("a disk that is full is a warning until the last save") {
  static std::string warnings;
  warnings.clear();
  set_warning_handler([](const char* text) { warnings += std::string(text) + "\n"; });
  const auto full_from = [](i64 first, i64 last) {  // steps in which files cannot grow
    return train::LambdaCallback(
        {.on_step_end = [=, small = std::shared_ptr<testing::SmallFiles>()](train::Run& run) mutable {
          const bool full = run.step() >= first && run.step() < last;
          if (full && !small) small = std::make_shared<testing::SmallFiles>(200);
          if (!full) small.reset();
        }});
  };
  const TemporaryFolder folder;
  Training t;
  t.trainer.fit(points().shuffled(8), t.fit_options(folder / "run", {full_from(10, 30)}));
  set_warning_handler(nullptr);
  CHECK(warnings.find("a checkpoint could not be saved; training goes on") != warnings.npos);
  CHECK(warnings.find('\n') == warnings.size() - 1);  // once
  CHECK(Training().result(folder / "run") == uninterrupted());

  Training full;
  CHECK_THROWS_AS(full.trainer.fit(points().shuffled(8), full.fit_options(folder / "other", {full_from(1, 1000)})),
                  errors::OpError);
}

TEST_CASE("a folder that cannot be written for a while is a warning, and the run goes on as it was") {
  static std::string warnings;
  warnings.clear();
  set_warning_handler([](const char* text) { warnings += std::string(text) + "\n"; });
  const TemporaryFolder folder;
  const std::string checkpoints = folder / "run/checkpoints", away = folder / "away";
  // The thread that writes may make a folder of that name at any moment.
  const auto swap = train::LambdaCallback({.on_step_end = [&](train::Run& run) {
    std::error_code error;
    if (run.step() == 10) {
      fs::rename(checkpoints, away);
      while (!std::ofstream(checkpoints)) fs::remove_all(checkpoints, error);
    } else if (run.step() == 30) {
      do {
        fs::remove_all(checkpoints, error);
        fs::rename(away, checkpoints, error);
      } while (error);
    }
  }});
  CHECK(Training().result(folder / "run", {swap}) == uninterrupted());
  set_warning_handler(nullptr);
  CHECK(warnings.find("a checkpoint could not be saved; training goes on") != warnings.npos);
  CHECK(warnings.find('\n') == warnings.size() - 1);  // once
  CHECK(Training().result(folder / "run") == uninterrupted());
}

}  // namespace resume_test
