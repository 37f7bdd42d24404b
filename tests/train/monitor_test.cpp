// Names of values that callbacks monitor: one that no epoch will have raises before the first step.
#include <memory>

#include "tandem/train/callbacks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace monitor_test {
using namespace training;
using ::testing::error_of;

struct CountSteps : train::Callback {
  std::shared_ptr<i64> steps;
  bool adds;
  CountSteps(std::shared_ptr<i64> s, bool a) : steps(std::move(s)), adds(a) {}
  void on_step_end(train::Run&) override { ++*steps; }
  bool may_set_values() const override { return adds; }
};

TEST_CASE("a name to monitor that no epoch will have raises before the first step") {
  const Points points(16);
  const auto steps = std::make_shared<i64>(0);
  const ::testing::TemporaryFolder folder;
  const auto message = [&](const train::AnyCallback& callback, bool validates = true, bool adds = false) {
    *steps = 0;
    train::FitOptions fit{.epochs = 2, .callbacks = {callback, CountSteps(steps, adds)}};
    if (validates) fit.validation_data = points.batches(8);
    return error_of([&] { train::Trainer(network(), options()).fit(points.batches(8), fit); });
  };
  const std::string values = "it has: loss, sparse_categorical_accuracy, learning_rate, val_loss";
  for (const train::AnyCallback& callback : std::initializer_list<train::AnyCallback>{
           train::EarlyStopping({.monitor = "val_los"}), train::ReduceLROnPlateau({.monitor = "val_los"}),
           train::ModelCheckpoint(folder / "w", {.monitor = "val_los", .save_best_only = true})}) {
    const std::string text = message(callback);
    CHECK(text.find("may_set_values()") != std::string::npos);
    CHECK(text.find("no value 'val_los' to monitor; " + values) != std::string::npos);
    CHECK(*steps == 0);
    // Another callback may add it: known after the first epoch.
    CHECK(message(callback, true, true).find("no value 'val_los' to monitor; it has: loss") != std::string::npos);
    CHECK(*steps == 2);
  }
  CHECK(message(train::EarlyStopping(), false).find(".validation_data") != std::string::npos);
  CHECK(*steps == 0);
  for (const char* name : {"loss", "learning_rate", "val_loss"})
    CHECK(message(train::EarlyStopping({.monitor = name, .patience = 9})) == "no error");
  CHECK(message(train::ModelCheckpoint(folder / "each", {.monitor = "val_los"})) == "no error");  // unused
}

struct StopOnGap : train::EarlyStopping {
  StopOnGap() : EarlyStopping({.monitor = "gap", .patience = 9}) {}
  void on_epoch_end(train::Run& run) override {
    run.set_value("gap", run.values()["val_loss"] - run.values()["loss"]);
    EarlyStopping::on_epoch_end(run);
  }
};
struct Saying : train::Callback {
  bool adds;
  explicit Saying(bool a) : adds(a) {}
  void on_epoch_end(train::Run& run) override { run.set_value("gap", 1); }
  bool may_set_values() const override { return adds; }
};
template <class C>
struct Derived : C {
  using C::C;
};

TEST_CASE("may_set_values: true for what is derived from a callback of the library; false is held to") {
  const Points points(16);
  const auto fit = [&](train::Callbacks callbacks) {
    return train::Trainer(network(), options())
        .fit(points.batches(8), {.epochs = 2, .validation_data = points.batches(8), .callbacks = std::move(callbacks)});
  };
  CHECK(fit({StopOnGap()})["gap"].size() == 2);
  CHECK(fit({Saying(true), train::EarlyStopping({.monitor = "gap", .mode = train::Mode::max})})["gap"].size() == 2);
  for (const bool alone : {true, false}) {
    train::Callbacks callbacks{Saying(false)};
    if (!alone) callbacks.push_back(StopOnGap());
    CHECK_THROWS_WITH(fit(callbacks), Catch::Matchers::ContainsSubstring("value 'gap'") &&
                                          Catch::Matchers::ContainsSubstring("may_set_values() must return true"));
  }

  CHECK(!train::EarlyStopping().may_set_values());
  CHECK(!train::ModelCheckpoint("w").may_set_values());
  CHECK(!train::ReduceLROnPlateau().may_set_values());
  CHECK(!train::CSVLogger("log").may_set_values());
  CHECK(!train::TerminateOnNaN().may_set_values());
  CHECK(!train::LearningRateScheduler([](i64, double rate) { return rate; }).may_set_values());
  CHECK(!train::LambdaCallback({.on_end = [](train::Run&) {}}).may_set_values());
  CHECK(train::LambdaCallback({.on_epoch_end = [](train::Run&) {}}).may_set_values());
  CHECK(Derived<train::EarlyStopping>().may_set_values());
  CHECK(Derived<train::ModelCheckpoint>("w").may_set_values());
  CHECK(Derived<train::TerminateOnNaN>().may_set_values());
  CHECK(Derived<train::LambdaCallback>(train::LambdaCallbackOptions()).may_set_values());
}

TEST_CASE("LambdaCallback: values may be set where there is no epoch, and stay out of the history") {
  const Points points(16);
  const auto set = [](train::Run& run) { run.set_value("gap", 1); };
  std::vector<double> seen;
  const auto look = [&](train::Run& run) { seen.push_back(run.values()["gap"]); };
  const auto fit = [&](train::LambdaCallbackOptions sets, train::LambdaCallbackOptions looks) {
    return train::Trainer(network(), options())
        .fit(points.batches(8), {.epochs = 2,
                                 .validation_data = points.batches(8),
                                 .callbacks = {train::LambdaCallback(std::move(sets)),
                                               train::LambdaCallback(std::move(looks)), train::EarlyStopping()}});
  };
  const std::vector<std::string> usual = fit({}, {}).names();
  CHECK(fit({.on_begin = set}, {.on_begin = look}).names() == usual);
  CHECK(fit({.on_end = set}, {.on_end = look}).names() == usual);
  CHECK(seen == std::vector<double>{1, 1});
  const auto fails = [](train::Run&) { throw std::runtime_error("enough"); };
  CHECK_THROWS_WITH(
      fit({.on_exception = [&](train::Run& run, std::exception_ptr) { set(run), look(run); }}, {.on_step_end = fails}),
      "enough");
  CHECK(seen.size() == 3);
  CHECK(train::LambdaCallback({.on_checkpoint = set}).may_set_values());
}

TEST_CASE("a metric that is not a scalar has no value, and so no name to monitor") {
  const Points points(16);
  const auto batches = data::from_tensor_slices({points.x, one_hot(points.y, 2)}).batch(8);
  const auto message = [&](const char* name) {
    const train::TrainerOptions with{.loss = losses::CategoricalCrossentropy({.from_logits = true}),
                                     .optimizer = optimizers::Adam(0.01),
                                     .metrics = {metrics::F1Score(), metrics::CategoricalAccuracy()}};
    const train::FitOptions fit{.epochs = 1, .callbacks = {train::EarlyStopping({.monitor = name})}};
    return error_of([&] { train::Trainer(network(), with).fit(batches, fit); });
  };
  CHECK(message("f1_score").find("'f1_score' to monitor; it has: loss, categorical_accuracy, learning_rate") !=
        std::string::npos);
  CHECK(message("categorical_accuracy") == "no error");
  debugging::enable_check_numerics();  // nothing is computed before the first step
  CHECK(message("categorical_accuracy") == "no error");
  debugging::disable_check_numerics();
}

TEST_CASE("a step of the user's own: the names of its outputs are known once it was traced") {
  const Points points(16);
  const auto message = [&](const train::AnyCallback& callback, bool validates) {
    const auto net = network();
    const auto steps = [net](const Tensor& x, const Tensor& y) {
      return train::Outputs{{"loss", loss()(y, net(x))}, {"size", reduce_sum(square(net(x)))}};
    };
    train::FitOptions fit{.epochs = 1, .callbacks = {callback}};
    if (validates) fit.validation_data = points.batches(8);
    return error_of([&] { train::Trainer({{"net", net}}, steps, {.evaluate = steps}).fit(points.batches(8), fit); });
  };
  CHECK(message(train::EarlyStopping({.monitor = "siz"}), false).find("it has: loss, size") != std::string::npos);
  CHECK(message(train::EarlyStopping({.monitor = "size"}), false) == "no error");
  CHECK(message(train::EarlyStopping({.monitor = "val_size"}), true) == "no error");
  CHECK(message(train::EarlyStopping({.monitor = "val_siz"}), true).find("val_loss, val_size") != std::string::npos);
}

}  // namespace monitor_test
