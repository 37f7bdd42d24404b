// Trainer::fit in the folder of a run: killed, interrupted and started again, it ends with the same bits.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tandem/train/trainer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
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
    const auto interrupt = train::LambdaCallback({.on_step_end = [step](train::Run& run) {
      if (run.step() == step) ::raise(SIGINT);
    }});
    const train::History h = first.trainer.fit(points().shuffled(8), first.fit_options(folder / "run", {interrupt}));
    CHECK(h.exit_status == 130);
    CHECK(first.trainer.step() == step);
    INFO("step " << step);
    CHECK(Training().result(folder / "run") == uninterrupted());
  }
}

TEST_CASE("kill -9 at random moments loses nothing that was saved", "[slow]") {
  const std::string expected = uninterrupted();
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
  }
}

TEST_CASE("another configuration is refused, and names what differs") {
  const TemporaryFolder folder;
  Training().result(folder / "run");
  Training other;
  train::FitOptions o = other.fit_options(folder / "run");
  o.configuration = {{"batch", "16"}};
  const std::string message = error_of([&] { other.trainer.fit(points().shuffled(8), o); });
  CHECK(message.find("batch") != message.npos);
  CHECK(message.find("16") != message.npos);
}

TEST_CASE("a disk that is full is a warning until the last save") {
  const TemporaryFolder folder;
  static std::string warnings;
  warnings.clear();
  set_warning_handler([](const char* text) { warnings += std::string(text) + "\n"; });
  Training t;
  train::FitOptions o = t.fit_options(folder / "run");
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  o.callbacks.push_back(train::LambdaCallback({.on_step_end = [&](train::Run& run) {
    const rlimit none{200, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, run.step() >= 10 && run.step() < 30 ? &none : &before);
  }}));
  t.trainer.fit(points().shuffled(8), o);
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK(warnings.find("a checkpoint could not be saved; training goes on") != warnings.npos);
  CHECK(warnings.find('\n') == warnings.size() - 1);  // once
  CHECK(Training().result(folder / "run") == uninterrupted());

  const TemporaryFolder other;
  Training full;
  o = full.fit_options(other / "run");
  o.callbacks.push_back(train::LambdaCallback({.on_step_end = [&](train::Run&) {
    const rlimit none{200, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &none);
  }}));
  CHECK_THROWS_AS(full.trainer.fit(points().shuffled(8), o), errors::OpError);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, ignored);
  set_warning_handler([](const char* text) { std::fputs(text, stderr); });
}

}  // namespace resume_test
