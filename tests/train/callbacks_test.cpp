// Callbacks: when they are called, and what those of the library do.
#include "tandem/train/callbacks.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "tandem/base/warning.hpp"
#include "tandem/io/file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/small_files.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace callbacks_test {
using namespace training;
using testing::error_of;
using testing::TemporaryFolder;

// Writes down what is called.
struct Recorder : train::Callback {
  std::string log;
  void on_begin(train::Run&) override { log += "begin "; }
  void on_epoch_begin(train::Run& run) override { log += "epoch" + std::to_string(run.epoch()) + " "; }
  void on_step_end(train::Run& run) override { log += "step" + std::to_string(run.step()) + " "; }
  void on_evaluate(train::Run& run) override { log += run.values().contains("val_loss") ? "evaluate " : "? "; }
  void on_epoch_end(train::Run&) override { log += "end_epoch "; }
  void on_exception(train::Run&, std::exception_ptr e) override {
    try {
      std::rethrow_exception(e);
    } catch (const std::exception& x) {
      log += std::string("exception ") + x.what();
    }
  }
  void on_end(train::Run&) override { log += "end"; }
};

// Gives the epochs these values of "score", and sees the rate of each.
struct Scores : train::Callback {
  std::vector<double> scores;
  explicit Scores(std::vector<double> s) : scores(std::move(s)) {}
  void on_epoch_end(train::Run& run) override {
    run.set_value("score", scores.at(static_cast<std::size_t>(run.epoch())));
  }
};

TEST_CASE("callbacks are called in order, also when something throws") {
  const Points points(8);
  const auto recorder = std::make_shared<Recorder>();
  train::Trainer trainer(network(), options());
  trainer.fit(points.batches(4),
              {.epochs = 2, .validation_data = points.batches(4), .validation_freq = 2, .callbacks = {recorder}});
  CHECK(recorder->log == "begin epoch0 step1 step2 end_epoch epoch1 step3 step4 evaluate end_epoch end");

  recorder->log.clear();
  const auto thrower = train::LambdaCallback({.on_step_end = [](train::Run& run) {
    if (run.step() == 5) throw std::runtime_error("here");
  }});
  CHECK_THROWS_WITH(trainer.fit(points.batches(4), {.callbacks = {recorder, thrower}}), "here");
  CHECK(recorder->log == "begin epoch0 step5 exception here");

  // on_exception that throws keeps neither the error nor the others from their turn.
  recorder->log.clear();
  const auto worse = train::LambdaCallback(
      {.on_exception = [](train::Run&, std::exception_ptr) { throw std::runtime_error("worse"); }});
  const auto failing = train::LambdaCallback({.on_step_end = [](train::Run&) { throw std::runtime_error("here"); }});
  static std::string warning;
  set_warning_handler([](const char* text) { warning += text; });
  CHECK_THROWS_WITH(trainer.fit(points.batches(4), {.callbacks = {worse, recorder, failing}}), "here");
  set_warning_handler(nullptr);
  CHECK(recorder->log == "begin epoch0 step6 exception here");
  CHECK(warning == "fit: on_exception of a callback has raised: worse");
}

TEST_CASE("a callback sees running means and may end training after a step") {
  const Points points(40);
  std::vector<double> losses, means;
  train::Trainer trainer(network(), options());
  const train::History h = trainer.fit(
      points.batches(10), {.epochs = 5, .callbacks = {train::LambdaCallback({.on_step_end = [&](train::Run& run) {
                                          losses.push_back(run.loss()), means.push_back(run.values()["loss"]);
                                          CHECK(run.steps_per_epoch() == 4);
                                          if (run.step() == 6) run.stop("enough");
                                        }})}});
  CHECK(h.stop_reason == "enough");
  REQUIRE(losses.size() == 6);
  CHECK(h.epochs().size() == 2);
  CHECK(means[3] == Approx((losses[0] + losses[1] + losses[2] + losses[3]) / 4).epsilon(1e-6));
  CHECK(means[5] == Approx((losses[4] + losses[5]) / 2).epsilon(1e-6));
}

TEST_CASE("EarlyStopping waits, compares in the right direction and restores the best weights") {
  const Points points(16);
  const layers::Sequential net = network();
  std::vector<std::vector<std::vector<float>>> weights;
  const auto keep = train::LambdaCallback({.on_epoch_end = [&](train::Run&) { weights.push_back(weights_of(net)); }});
  const auto early = std::make_shared<train::EarlyStopping>(
      train::EarlyStoppingOptions{.monitor = "score", .min_delta = 0.1, .patience = 2, .restore_best_weights = true});
  train::Trainer trainer(net, options());
  const train::History h = trainer.fit(
      points.batches(8), {.epochs = 9, .callbacks = {Scores({.5, .7, .75, .79, 1, 1, 1, 1, 1}), keep, early}});
  CHECK(h.epochs().size() == 4);  // .75 and .79 are not 0.1 better than .7
  CHECK(h.stop_reason == "EarlyStopping: score has not improved on 0.7 for 2 epochs");
  CHECK(early->best_epoch() == 1);
  CHECK(weights_of(net) == weights[1]);
  CHECK(weights[1] != weights[3]);

  const auto stops_after = [&](train::EarlyStoppingOptions o, std::vector<double> scores) {
    return train::Trainer(network(), options())
        .fit(points.batches(8), {.epochs = i64(scores.size()), .callbacks = {Scores(scores), train::EarlyStopping(o)}})
        .epochs()
        .size();
  };
  CHECK(stops_after({.monitor = "score", .mode = train::Mode::min}, {3, 2, 1, 2, 0}) == 4);
  CHECK(stops_after({.monitor = "score"}, {1, 1, 1}) == 2);
  CHECK(stops_after({.monitor = "score", .patience = 1, .baseline = 5}, {4, 4, 6}) == 1);
  CHECK(stops_after({.monitor = "score", .start_from_epoch = 2}, {3, 2, 1, 2, 1}) == 5);
  CHECK(stops_after({.monitor = "score"}, {NAN, NAN, NAN}) == 1);
  const std::string message = error_of([&] { stops_after({}, {1, 1}); });
  CHECK(message.find("no value 'val_loss' to monitor; it has: loss") != std::string::npos);
  CHECK(message.find(".validation_data") != std::string::npos);
  CHECK(error_of([] { train::EarlyStopping({.patience = -1}); }).find("patience") != std::string::npos);
}

TEST_CASE("a callback that has served one model serves the next") {
  const Points points(16);
  const auto early = std::make_shared<train::EarlyStopping>(
      train::EarlyStoppingOptions{.monitor = "score", .patience = 5, .restore_best_weights = true});
  const auto plateau = std::make_shared<train::ReduceLROnPlateau>(
      train::ReduceLROnPlateauOptions{.monitor = "score", .factor = .5, .patience = 1});
  std::vector<std::vector<std::vector<float>>> results;
  for (int fold = 0; fold < 2; ++fold) {
    const layers::Sequential net = network();
    const train::History h =
        train::Trainer(net, {.loss = loss(), .optimizer = optimizers::SGD(1.0)})
            .fit(points.batches(8), {.epochs = 3, .callbacks = {Scores({2, 1, 1}), early, plateau}});
    CHECK(h["learning_rate"] == std::vector<double>{1, 1, .5});
    results.push_back(weights_of(net));
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("epochs without validation do not count for its values") {
  const Points points(16);
  const train::History h = train::Trainer(network(), options())
                               .fit(points.batches(8), {.epochs = 6,
                                                        .validation_data = points.batches(8),
                                                        .validation_freq = 2,
                                                        .callbacks = {train::EarlyStopping({.patience = 1})}});
  CHECK(h.epochs().size() == 6);  // the loss becomes smaller

  const TemporaryFolder folder;
  const auto saved = std::make_shared<train::ModelCheckpoint>(folder / "w-{epoch}-{val_loss}.safetensors");
  train::Trainer(network(), options())
      .fit(points.batches(8),
           {.epochs = 5, .validation_data = points.batches(8), .validation_freq = 2, .callbacks = {saved}});
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 2);
  CHECK(saved->latest().find("/w-3-") != std::string::npos);
}

TEST_CASE("ModelCheckpoint saves each epoch, the best, or every so many steps") {
  const Points points(16);
  const TemporaryFolder folder;
  const layers::Sequential net = network();
  train::Trainer trainer(net, options());
  const auto each = std::make_shared<train::ModelCheckpoint>(folder / "w-{epoch}-{score}.safetensors");
  const auto best = std::make_shared<train::ModelCheckpoint>(
      folder / "best.safetensors", train::ModelCheckpointOptions{.monitor = "score", .save_best_only = true});
  const auto steps = train::ModelCheckpoint(folder / "step-{step}.safetensors", {.save_freq = 4});
  std::vector<std::vector<float>> at_best;
  const auto keep = train::LambdaCallback({.on_epoch_end = [&](train::Run& run) {
    if (run.epoch() == 1) at_best = weights_of(net);
  }});
  trainer.fit(points.batches(8), {.epochs = 3, .callbacks = {Scores({.5, .75, .25}), each, best, steps, keep}});
  for (const char* name : {"w-0-0.5", "w-1-0.75", "w-2-0.25", "best", "step-4"})
    CHECK(std::filesystem::exists(folder / (std::string(name) + ".safetensors")));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 5);
  CHECK(best->best() == .75);
  CHECK(each->latest() == folder / "w-2-0.25.safetensors");
  const layers::Sequential restored = network(2);
  train::load_weights(restored, folder / "best.safetensors");
  restored.build({none, 2});
  CHECK(weights_of(restored) == at_best);
  CHECK(error_of([&] {
          trainer.fit(points.batches(8), {.callbacks = {train::ModelCheckpoint(folder / "{nothing}")}});
        }).find("ModelCheckpoint: the epoch has no value 'nothing' for the path") != std::string::npos);
}

TEST_CASE("the learning rate follows a plateau or a function of the epoch") {
  const Points points(16);
  const auto rates = [&](std::vector<double> scores, train::AnyCallback callback) {
    return train::Trainer(network(), {.loss = loss(), .optimizer = optimizers::SGD(1.0)})
        .fit(points.batches(8),
             {.epochs = i64(scores.size()), .callbacks = {Scores(scores), callback}})["learning_rate"];
  };
  // The rate of an epoch is the one that it was trained with.
  CHECK(rates({1, 1, 1, 2, 2}, train::ReduceLROnPlateau({.monitor = "score", .factor = .5, .patience = 2})) ==
        std::vector<double>{1, 1, 1, .5, .5});
  CHECK(rates({0, 0, 0}, train::LearningRateScheduler([](i64 epoch, double rate) {
                return epoch < 1 ? rate : rate / 4;
              })) == std::vector<double>{1, .25, .0625});
  CHECK(error_of([&] {
          rates({0}, train::LearningRateScheduler([](i64, double) { return NAN; }));
        }).find("not a learning rate") != std::string::npos);
}

TEST_CASE("CSVLogger has a row for each epoch and a column for each value") {
  const Points points(16);
  const TemporaryFolder folder;
  const auto late = train::LambdaCallback({.on_epoch_end = [](train::Run& run) {
    if (run.epoch() == 1) run.set_value("extra", 0.25);
  }});
  train::Trainer(network(), {.loss = loss(), .optimizer = optimizers::SGD(0.5)})
      .fit(points.batches(8),
           {.epochs = 2, .callbacks = {Scores({1, 2}), late, train::CSVLogger(folder / "log.csv", ';')}});
  const std::string text = io::read_file(folder / "log.csv");
  CHECK(text.starts_with("epoch;loss;learning_rate;score;extra\n0;"));
  CHECK(text.find(";0.5;1;\n1;") != text.npos);
  CHECK(text.ends_with(";0.5;2;0.25\n"));
  CHECK_THROWS_AS(train::Trainer(network(), options())
                      .fit(points.batches(8), {.callbacks = {train::CSVLogger(folder / "no/log.csv")}}),
                  errors::OpError);
}

// Files cannot grow in some epochs. Before the callbacks that write.
train::LambdaCallback full_in(std::vector<i64> epochs) {
  return train::LambdaCallback(
      {.on_epoch_end = [=, small = std::shared_ptr<testing::SmallFiles>()](train::Run& run) mutable {
        const bool full = std::find(epochs.begin(), epochs.end(), run.epoch()) != epochs.end();
        if (full && !small) small = std::make_shared<testing::SmallFiles>(20);
        if (!full) small.reset();
      }});
}
std::vector<std::string>& warnings() {
  static std::vector<std::string> all;
  return all;
}
// Trains for four epochs with these scores; returns the error of fit.
std::string fit_on_full_disk(std::vector<i64> full, train::AnyCallback callback, const layers::Sequential& net) {
  const Points points(16);
  warnings().clear();
  set_warning_handler([](const char* text) { warnings().push_back(text); });
  train::Trainer trainer(net, options());
  const std::string error = error_of([&] {
    trainer.fit(points.batches(8), {.epochs = 4,
                                    .callbacks = {Scores({.5, .75, .6, .25}), full_in(std::move(full)), callback},
                                    .progress = {.mode = train::ProgressMode::none}});
  });
  set_warning_handler(nullptr);
  CHECK(trainer.step() == 8);  // training goes on
  return error;
}

TEST_CASE("ModelCheckpoint: a full disk is one warning, and an error if the last file could not be written") {
  const TemporaryFolder folder;
  const layers::Sequential net = network();
  const std::string file = folder / "w.safetensors";
  const auto each = std::make_shared<train::ModelCheckpoint>(file, train::ModelCheckpointOptions{.monitor = "loss"});
  CHECK(fit_on_full_disk({0, 1, 2}, each, net) == "no error");
  REQUIRE(warnings().size() == 1);
  CHECK(warnings()[0].find("ModelCheckpoint: ") == 0);
  CHECK(warnings()[0].find("training goes on") != std::string::npos);
  CHECK(warnings()[0].find(file) != std::string::npos);
  const layers::Sequential restored = network(2);
  train::load_weights(restored, file);
  CHECK(weights_of(restored) == weights_of(net));

  const std::string error = fit_on_full_disk({1, 3}, each, network());
  CHECK(error.find(file) != error.npos);
  CHECK(warnings().size() == 1);
  CHECK(fit_on_full_disk({}, each, network()) == "no error");  // the next fit begins anew
  CHECK(warnings().empty());
}

TEST_CASE("ModelCheckpoint: the best value is that of a file that could be written") {
  const TemporaryFolder folder;
  const train::ModelCheckpointOptions best_of_scores{.monitor = "score", .save_best_only = true};
  const auto best = std::make_shared<train::ModelCheckpoint>(folder / "{score}.safetensors", best_of_scores);
  CHECK(fit_on_full_disk({1}, best, network()) == "no error");
  CHECK(best->best() == .6);  // .75 is not in a file
  CHECK(best->latest() == folder / "0.6.safetensors");
  CHECK(fit_on_full_disk({1, 2, 3}, best, network()).find("0.6.safetensors") != std::string::npos);
  CHECK(best->best() == .5);
}

TEST_CASE("CSVLogger: a full disk is one warning, and an error if the last table could not be written") {
  const TemporaryFolder folder;
  const std::string file = folder / "log.csv";
  CHECK(fit_on_full_disk({0, 1}, train::CSVLogger(file), network()) == "no error");
  REQUIRE(warnings().size() == 1);
  CHECK(warnings()[0].find("CSVLogger: ") == 0);
  CHECK(warnings()[0].find(file) != std::string::npos);
  const std::string rows = io::read_file(file);
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 5);
  CHECK(fit_on_full_disk({2, 3}, train::CSVLogger(file), network()).find(file) != std::string::npos);
  CHECK(warnings().size() == 1);
}

TEST_CASE("the best weights and those of checkpoints are the averages that were measured") {
  const TemporaryFolder folder;
  const Points points(64), held_out(32, 8);
  train::TrainerOptions o = options();
  o.ema = 0.9;
  const layers::Sequential net = network();
  train::Trainer trainer(net, o);
  const auto best_is_2 = train::LambdaCallback(
      {.on_epoch_end = [](train::Run& run) { run.set_value("val_score", run.epoch() == 2 ? 1 : 0); }});
  const train::History history = trainer.fit(
      points.shuffled(8),
      {.epochs = 6,
       .validation_data = held_out.batches(32),
       .callbacks = {best_is_2,
                     train::EarlyStopping({.monitor = "val_score", .patience = 9, .restore_best_weights = true}),
                     train::ModelCheckpoint(folder / "{epoch}.safetensors"),
                     train::ModelCheckpoint(folder / "raw.safetensors", {.monitor = "loss"})}});
  const std::vector<double> measured = history["val_loss"];
  const layers::Sequential saved = network(5);
  const auto loss_of_file = [&](const std::string& name) {
    train::load_weights(saved, folder / name);
    return train::Trainer(saved, options()).evaluate(held_out.batches(32))["loss"];
  };
  CHECK(loss_of_file("2.safetensors") == measured[2]);
  CHECK(loss_of_file("5.safetensors") == measured[5]);
  CHECK(loss_of_file("raw.safetensors") != measured[5]);

  // In the end the weights and the averages are those that were measured in the best epoch.
  CHECK(measured[2] != measured[5]);
  CHECK(trainer.evaluate(held_out.batches(32))["loss"] == measured[2]);
  CHECK(train::Trainer(net, options()).evaluate(held_out.batches(32))["loss"] == measured[2]);
}

struct Root : Model<Root> {
  layers::Dense out{2};
  Tensor operator()(const Tensor& x) const { return out(sqrt(x)); }
};

TEST_CASE("TerminateOnNaN names the op and leaves the weights") {
  const Points points(16);
  const Tensor x = where(reshape(range(32) < 20, {16, 2}), abs(points.x), -1.f);  // rows 10 on are negative
  const auto ds = data::from_tensor_slices({x, points.y}).batch(5);
  const Root net;
  train::Trainer trainer(net, options());
  std::vector<std::vector<float>> before;
  const auto keep = train::LambdaCallback({.on_step_end = [&](train::Run&) { before = weights_of(net); }});
  const std::string message = error_of([&] { trainer.fit(ds, {.callbacks = {train::TerminateOnNaN(), keep}}); });
  INFO(message);
  CHECK(message.find("fit: step 3 of epoch 1") != message.npos);
  CHECK(message.find("Sqrt") != message.npos);
  CHECK(weights_of(net) == before);
  CHECK(trainer.step() == 2);

  const Root other;
  train::Trainer(other, options()).fit(ds);  // without it training goes on
  CHECK(std::isnan(weights_of(other)[0][0]));
}

TEST_CASE("functions are called around checkpoints, and for an exception") {
  const Points points(20);
  const testing::TemporaryFolder folder;
  std::string calls;
  const auto says = [&](const char* what) {
    return [&calls, what](train::Run& run) { calls += what + std::to_string(run.step()) + " "; };
  };
  const auto fit = [&](i64 stop) {
    calls.clear();
    const train::LambdaCallback log({.on_begin = says("begin "),
                                     .on_step_end = says("step "),
                                     .on_checkpoint_begin = says("saving "),
                                     .on_checkpoint = says("saved "),
                                     .on_exception =
                                         [&](train::Run& run, std::exception_ptr e) {
                                           says("exception ")(run);
                                           CHECK_THROWS_WITH(std::rethrow_exception(e), "stopped");
                                         },
                                     .on_end = says("end ")});
    const train::LambdaCallback thrower({.on_step_end = [stop](train::Run& run) {
      if (run.step() == stop) throw std::runtime_error("stopped");
    }});
    train::Trainer(unbuilt_network(), options())
        .fit(points.batches(10), {.callbacks = {log, thrower},
                                  .progress = {.mode = train::ProgressMode::none},
                                  .directory = folder / ("run" + std::to_string(stop)),
                                  .save_steps = 1});
  };
  fit(0);
  CHECK(calls == "begin 0 step 1 saving 1 saved 1 step 2 saving 2 saved 2 end 2 saving 2 saved 2 ");
  CHECK_THROWS_WITH(fit(2), "stopped");
  CHECK(calls == "begin 0 step 1 saving 1 saved 1 step 2 exception 2 ");
}

}  // namespace callbacks_test
