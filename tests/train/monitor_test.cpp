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
