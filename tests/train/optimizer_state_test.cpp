// Every optimizer, average and plateau: saved after three steps and restored, training goes on with the same values.
#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "tandem/tandem.hpp"
#include "tandem/train.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
namespace fs = std::filesystem;

namespace {

struct File {
  std::string path =
      (fs::temp_directory_path() / ("tandem_optimizer_" + std::to_string(std::random_device()()))).string();
  ~File() { fs::remove(path); }
};
struct Weights : Module {
  Variable a = add_variable("a", constant({{1.f, -2.f}, {3.f, .25f}})), b = add_variable("b", constant(.5f));
};
// Weights with an optimizer and an average of them.
struct Run {
  Weights weights;
  Optimizer optimizer;
  ExponentialMovingAverage ema{.75};
  train::Checkpoint checkpoint{{"weights", weights}, {"optimizer", optimizer}, {"ema", ema}};
  explicit Run(const Optimizer& o) : optimizer(o) {}
  void steps(int n) {
    for (int i = 0; i < n; ++i) {
      optimizer.minimize([&] { return reduce_sum(square(weights.a)) * weights.b + square(weights.b); },
                         {weights.a, weights.b});
      ema.apply({weights.a, weights.b});
    }
  }
  std::vector<float> values() const {
    std::vector<float> all;
    for (const Variable& v : {weights.a, weights.b, ema.average(weights.a), ema.average(weights.b)})
      for (const float x : v.to_vector<float>()) all.push_back(x);
    return all;
  }
};
template <class Make>
void check_resumed(const char* name, const Make& make) {
  for (const bool builds_first : {false, true}) {
    INFO(name << (builds_first ? ", built before" : ""));
    const File file;
    Run whole(make()), first(make()), second(make());
    whole.steps(6);
    first.steps(3);
    first.checkpoint.save(file.path);
    if (builds_first) {
      second.optimizer.build({second.weights.b, second.weights.a});  // in another order
      second.ema.build({second.weights.b, second.weights.a});
    }
    second.checkpoint.restore(file.path);
    CHECK(second.optimizer.iterations().item<i64>() == 3);
    second.steps(3);
    CHECK(second.values() == whole.values());
    CHECK(second.values() != first.values());
  }
}

}  // namespace

TEST_CASE("optimizers: saved after three steps, restored, continued with the same values") {
  using namespace optimizers;
  check_resumed("SGD", [] { return SGD(.01, .9, true); });
  check_resumed("RMSprop", [] { return RMSprop({.learning_rate = .1, .momentum = .5, .centered = true}); });
  check_resumed("Adam", [] { return Adam({.learning_rate = .1, .amsgrad = true, .clipnorm = 1}); });
  check_resumed("AdamW", [] { return AdamW(.1); });
  check_resumed("Adamax", [] { return Adamax(.1); });
  check_resumed("Nadam", [] { return Nadam(.1); });
  check_resumed("Lamb", [] { return Lamb(.1); });
  check_resumed("Lion", [] { return Lion(.1); });
  check_resumed("ScheduleFreeAdamW", [] { return ScheduleFreeAdamW({.learning_rate = .1, .warmup_steps = 4}); });
  check_resumed("Adafactor", [] { return Adafactor({.learning_rate = .1, .weight_decay = .1}); });
  check_resumed("Muon", [] { return Muon(.1); });
  check_resumed("Adagrad", [] { return Adagrad(.1); });
  check_resumed("Adadelta", [] { return Adadelta(1); });
  check_resumed("Ftrl", [] { return Ftrl(.1); });
  check_resumed("schedule", [] { return Adam(schedules::CosineDecay(.1, 10)); });
}

TEST_CASE("optimizers: slots have the paths of their weights in a file") {
  const File file;
  Run run(optimizers::Ftrl(.1));
  run.steps(1);
  run.checkpoint.save(file.path);
  std::vector<std::string> names;
  for (const io::NamedTensor& t : io::load_safetensors(file.path).tensors) names.push_back(t.name);
  for (const char* name : {"optimizer/weights/a/accumulator", "optimizer/weights/b/linear", "optimizer/iterations",
                           "optimizer/learning_rate", "ema/weights/a/average", "ema/iterations"})
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
}

TEST_CASE("ReduceLROnPlateau: its counters are saved") {
  const File file;
  const optimizers::SGD a(1.), b(1.);
  const optimizers::ReduceLROnPlateau first(a, {.patience = 2}), second(b, {.patience = 2});
  first.update(1);
  first.update(1);
  train::Checkpoint({{"plateau", first}, {"sgd", a}}).save(file.path);
  train::Checkpoint({{"plateau", second}, {"sgd", b}}).restore(file.path);
  CHECK(second.update(1));
  CHECK(b.learning_rate().item<float>() == .1f);
}
