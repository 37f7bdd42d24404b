// Training by numbers of steps, restore for evaluation, and Experiment with its schedules.
#include "tandem/train/experiment.hpp"

#include <cmath>
#include <sstream>

#include "tandem/train/callbacks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace experiment_test {
using namespace training;
using testing::error_of, testing::TemporaryFolder;

const train::ProgressOptions quiet{.mode = train::ProgressMode::none};
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

/// A model in a process of its own, as it were: only the folder is shared.
struct Process {
  layers::Sequential net = network();
  train::Trainer trainer;
  explicit Process(train::TrainerOptions o = options()) : trainer(net, std::move(o)) {}
  train::History train(const train::Batches& data, train::FitOptions o) {
    o.progress = quiet;
    return trainer.train(data, std::move(o));
  }
};
// 7 batches an epoch: neither 100 nor 200 steps end one.
data::Dataset<std::array<Tensor, 2>> input_fn() { return Points(100).shuffled(16); }
// The same, of which nobody knows how many there are.
data::Dataset<std::array<Tensor, 2>> uncounted() {
  return input_fn().filter([](const std::array<Tensor, 2>&) { return true; });
}

TEST_CASE("200 steps are 100 steps and, in a new process, up to 200, bit for bit") {
  for (const bool counted : {true, false}) {
    INFO(counted);
    const auto data = counted ? input_fn : uncounted;
    const TemporaryFolder folder;
    Process whole;
    whole.train(data, {.max_steps = 200, .directory = folder / "whole"});
    CHECK(whole.trainer.step() == 200);
    Process in_memory;
    in_memory.train(data, {.max_steps = 200});
    CHECK(weights_of(in_memory.net) == weights_of(whole.net));

    Process first, second, third, fourth;
    first.train(data, {.steps = 100, .directory = folder / "parts"});
    CHECK(first.trainer.step() == 100);
    CHECK(weights_of(first.net) != weights_of(whole.net));
    const train::History history = second.train(data, {.max_steps = 200, .directory = folder / "parts"});
    CHECK(second.trainer.step() == 200);
    CHECK(weights_of(second.net) == weights_of(whole.net));
    CHECK(history.epochs().size() == 29);  // 28 of 7 steps, and one of 4

    // Counts from zero: nothing to do.
    const train::History again = third.train(data, {.max_steps = 200, .directory = folder / "parts"});
    CHECK(again.to_text() == history.to_text());
    CHECK(third.trainer.step() == 200);
    CHECK(weights_of(third.net) == weights_of(whole.net));
    fourth.train(data, {.steps = 5, .directory = folder / "parts"});  // counts on
    CHECK(fourth.trainer.step() == 205);
    CHECK(weights_of(fourth.net) != weights_of(whole.net));
  }
}

TEST_CASE("steps that end with an epoch end it") {
  Process process;
  int epochs = 0;
  const train::History history = process.train(
      input_fn,
      {.max_steps = 14,
       .validation_data = Points(20).batches(20),
       .callbacks = {train::LambdaCallback({.on_epoch_end = [&](train::Run& run) { epochs += run.epochs() == 2; }})}});
  CHECK(epochs == 2);
  CHECK(history.epochs().size() == 2);
  CHECK(history.epochs().back().contains("val_loss"));
  CHECK(process.train(input_fn, {.max_steps = 14}).epochs().empty());
  CHECK(process.trainer.step() == 14);
  const train::History part = process.train(input_fn, {.steps = 3});
  CHECK(process.trainer.step() == 17);
  CHECK(part.epochs().size() == 1);
  CHECK(part.epochs().back().contains("loss"));
}

TEST_CASE("steps that end within an epoch end with a validation") {
  const train::Batches test = Points(20, 8).batches(20);
  Process process;
  std::vector<i64> measured;
  const auto note = train::LambdaCallback({.on_evaluate = [&](train::Run& run) { measured.push_back(run.step()); }});
  const train::History history =
      process.train(input_fn, {.max_steps = 10, .validation_data = test, .callbacks = {note}});
  CHECK(measured == std::vector<i64>{7, 10});
  REQUIRE(history.epochs().size() == 2);
  CHECK(history.epochs().back()["val_loss"] == process.trainer.evaluate(test)["loss"]);
  CHECK(history["val_loss"][0] != history["val_loss"][1]);

  measured.clear();  // also where an epoch ends that would not be measured
  const train::History rare =
      process.train(input_fn, {.steps = 7, .validation_data = test, .validation_freq = 2, .callbacks = {note}});
  CHECK(measured == std::vector<i64>{17});
  CHECK(rare.epochs().back().contains("val_loss"));
}

TEST_CASE("a run of steps that is complete returns its last validation, and goes on without it") {
  const train::Batches test = Points(20, 8).batches(20);
  const auto train = [&](const std::string& path, i64 steps) {
    Process process;
    int measured = 0;
    const auto note = train::LambdaCallback({.on_evaluate = [&](train::Run&) { ++measured; }});
    const std::string text = process
                                 .train(input_fn, {.max_steps = steps,
                                                   .validation_data = test,
                                                   .validation_freq = 2,
                                                   .callbacks = {note},
                                                   .directory = path})
                                 .to_text();
    return std::pair(text, measured);
  };
  const TemporaryFolder folder;
  const auto part = train(folder / "run", 10);
  CHECK(part.second == 1);
  const auto again = train(folder / "run", 10);
  CHECK(again.first == part.first);
  CHECK(again.second == 0);
  CHECK(train(folder / "run", 25).first == train(folder / "whole", 25).first);
}

TEST_CASE("validation every so many steps is part of its epoch, also in a run that goes on") {
  const train::Batches test = Points(20, 8).batches(20);
  std::vector<i64> measured;
  const auto fit = [&](const std::string& path, i64 stop) {
    Process process;
    train::FitOptions o{.epochs = 3, .validation_data = test, .validation_every = 5, .directory = path};
    o.callbacks = {train::LambdaCallback({.on_step_end =
                                              [&](train::Run& run) {
                                                if (run.step() == stop) throw std::runtime_error("stopped");
                                              },
                                          .on_evaluate =
                                              [&](train::Run& run) {
                                                measured.push_back(run.step());
                                                CHECK(run.is_validated());
                                                CHECK(run.values().contains("loss"));
                                              }})};
    o.save_steps = 1;
    return process.train(input_fn, o);
  };
  const TemporaryFolder folder;
  const train::History whole = fit(folder / "whole", -1);
  CHECK(measured == std::vector<i64>{5, 10, 15, 20});
  REQUIRE(whole.epochs().size() == 3);
  for (const train::Values& epoch : whole.epochs()) CHECK(epoch.contains("val_loss"));
  for (const i64 stop : {4, 6, 7, 8, 10, 11, 20, 21}) {
    INFO("stopped at " << stop);
    const std::string path = folder / std::to_string(stop);
    CHECK_THROWS_WITH(fit(path, stop), "stopped");
    CHECK(fit(path, -1).to_text() == whole.to_text());
  }
  const std::string error =
      error_of<errors::InvalidArgumentError>([] { Process().train(input_fn, {.validation_every = -1}); });
  CHECK(has(error, "validation_every must be at least 0, not -1"));
}

TEST_CASE("a loss that is not finite ends train, and the weights are as they were") {
  Process process;
  const Tensor x = ones({4, 2}) * NAN, y = constant({0, 1, 0, 1});
  const auto before = weights_of(process.net);
  CHECK(has(error_of<errors::InvalidArgumentError>([&] {
              process.train(data::from_tensor_slices({x, y}).batch(4), {.steps = 1});
            }),
            "step 1 of epoch 1"));
  CHECK(weights_of(process.net) == before);
  CHECK(process.trainer.step() == 0);
}

TEST_CASE("evaluate returns the loss, the metrics and the step, and changes nothing") {
  const layers::Sequential net{layers::Dense(16), layers::BatchNormalization(), layers::Dense(2)};
  train::TrainerOptions o = options();
  o.ema = 0.9;
  train::Trainer trainer(net, o);
  trainer.train(input_fn, {.steps = 10, .progress = quiet});
  const auto averages_of = [&] {
    std::vector<std::vector<float>> r;
    for (const Tensor& t : trainer.ema().get_weights()) r.push_back(cast(t, float32).to_vector<float>());
    return r;
  };
  const auto before = weights_of(net), averages = averages_of();
  REQUIRE(averages.size() > 4);
  const train::Values values = trainer.evaluate(input_fn);
  CHECK(values.size() == 3);
  CHECK(values["loss"] > 0);
  CHECK(values.contains("sparse_categorical_accuracy"));
  CHECK(values["global_step"] == 10);
  CHECK(weights_of(net) == before);  // the means and variances of the normalization, too
  CHECK(averages_of() == averages);
  CHECK(trainer.step() == 10);
  CHECK(trainer.predict(input_fn).shape() == Shape{100, 2});
}

TEST_CASE("another process evaluates and predicts with the latest checkpoint") {
  const TemporaryFolder folder;
  const Points points(40);
  for (const double ema : {0., 0.9}) {
    INFO(ema);
    train::TrainerOptions o = options();
    o.ema = ema;
    const std::string run = folder / ("run" + std::to_string(ema));
    Process trained(o);
    trained.train(input_fn, {.steps = 20, .directory = run});
    const train::Values expected = trained.trainer.evaluate(points.batches(16));
    const auto predictions = trained.trainer.predict(points.x).to_vector<float>();

    for (const bool built : {true, false}) {
      INFO(built);
      const layers::Sequential net = built ? network(2) : unbuilt_network(2);
      train::Trainer trainer(net, o);
      trainer.restore(run);
      CHECK(trainer.step() == 20);
      const train::Values values = trainer.evaluate(points.batches(16));
      CHECK(values["loss"] == expected["loss"]);
      CHECK(values["global_step"] == 20);
      CHECK(trainer.predict(points.x).to_vector<float>() == predictions);
    }
  }
  Process process;
  CHECK(has(error_of<errors::NotFoundError>([&] { process.trainer.restore(folder / "none"); }),
            "none has no checkpoint"));
  const layers::Sequential other{layers::Dense(3)};
  other.build({none, 2});
  CHECK_THROWS_AS(train::Trainer(other, options()).restore(folder / "run0.000000"), errors::InvalidArgumentError);
}

TEST_CASE("a schedule picks what is run") {
  const TemporaryFolder folder;
  const auto experiment = [&] {
    return train::Experiment{train::Trainer(network(), options()),
                             input_fn,
                             [] { return Points(20).batches(20); },
                             {.max_steps = 14, .progress = quiet, .directory = folder / "run"}};
  };
  train::Experiment early = experiment();
  CHECK(has(error_of<errors::NotFoundError>([&] { train::run(early, {.schedule = "evaluate"}); }), "no checkpoint"));

  const train::ExperimentResult trained = train::run(experiment, {.schedule = "train"});
  CHECK(trained.history.epochs().size() == 2);
  CHECK(!trained.history.epochs().back().contains("val_loss"));
  CHECK(trained.evaluation.empty());

  train::Experiment second = experiment();
  const train::ExperimentResult evaluated = train::run(second, {.schedule = "evaluate"});
  CHECK(evaluated.history.epochs().empty());
  CHECK(evaluated.evaluation["global_step"] == 14);
  CHECK(second.trainer.step() == 14);

  train::Experiment both = experiment();
  both.options.max_steps = 21;
  const train::ExperimentResult r = train::train_and_evaluate(both);
  CHECK(r.history.epochs().size() == 3);
  CHECK(r.history.epochs().back()["val_loss"] == r.evaluation["loss"]);
  CHECK(r.evaluation["global_step"] == 21);

  CHECK(error_of<errors::InvalidArgumentError>([&] { train::run(both, {.schedule = "test"}); }) ==
        "run: there is no schedule \"test\"; there are: train, evaluate, train_and_evaluate");
}

TEST_CASE("the options of tracing reach the steps") {
  const Points points(40);
  train::TrainerOptions o = options();
  o.function.input_signature = {Spec({4, 2}, float32)};
  CHECK(has(error_of([&] { train::Trainer(network(), o); }), ".function has an input signature"));
  // A step that counts how often it is traced: for each batch size, unless sizes become unknown.
  const auto traces = [&](bool reduce) {
    int n = 0;
    const layers::Dense net(1);
    net.build(2);
    train::Trainer trainer({{"net", net}},
                           [&](const Tensor& x) -> train::Outputs {
                             ++n;
                             return {{"loss", reduce_mean(net(x))}};
                           },
                           {.function = {.reduce_retracing = reduce}});
    for (const i64 size : {4, 5, 8, 10, 20})
      trainer.fit(data::from_tensor_slices(points.x).batch(size), {.progress = quiet});
    return n;
  };
  CHECK(traces(true) < traces(false));
}

TEST_CASE("a seed makes a run repeatable, weights and dropout, and is that of the first step") {
  const auto train = [](std::optional<i64> seed) {
    const layers::Sequential net = unbuilt_network();
    random::set_seed(99);  // before the model makes its Variables
    train::Trainer trainer(net, options());
    const train::FitOptions o{.steps = 3, .progress = quiet, .seed = seed};
    trainer.fit(Points(40).batches(10), o);
    const auto first = weights_of(net);
    trainer.fit(Points(40).batches(10), o);
    const Tensor next = random::uniform({1});
    return std::pair(first, next.item<float>());
  };
  const auto with = train(5);
  CHECK(train(5) == with);
  CHECK(train(6) != with);
  CHECK(train({}).first != with.first);
  random::set_seed(5);
  const layers::Sequential net{layers::Dense(16, nn::relu), layers::Dropout(0.1), layers::Dense(2)};
  train::Trainer trainer(net, options());
  trainer.fit(Points(40).batches(10), {.steps = 3, .progress = quiet});
  CHECK(weights_of(net) == with.first);
  trainer.fit(Points(40).batches(10), {.steps = 3, .progress = quiet});
  CHECK(random::uniform({1}).item<float>() == with.second);  // the second call has not begun again
}

TEST_CASE("a line every so many steps has the loss and the rate") {
  std::ostringstream out;
  train::Trainer trainer(network(), options());
  std::vector<double> losses;
  const auto keep = train::LambdaCallback({.on_step_end = [&](train::Run& run) { losses.push_back(run.loss()); }});
  trainer.fit(Points(40).batches(10), {.epochs = 2,
                                       .callbacks = {keep},
                                       .progress = {.mode = train::ProgressMode::lines, .output = &out},
                                       .log_step_count_steps = 3});
  const std::string text = out.str();
  for (const i64 step : {3, 6}) {
    const std::size_t at = text.find("  step " + std::to_string(step) + "  ");
    REQUIRE(at != text.npos);
    const std::string line = text.substr(at, text.find('\n', at) - at);
    CHECK(has(line, "/s"));
    CHECK(std::stod(line.substr(line.find("loss ") + 5)) ==
          Approx(losses[static_cast<std::size_t>(step - 1)]).epsilon(1e-3));
  }
  CHECK(!has(text, "  step 4  "));
  CHECK(has(error_of([&] { trainer.fit(Points(8).batches(8), {.log_step_count_steps = -1}); }),
            "log_step_count_steps must be at least 0"));
}

TEST_CASE("options that do not go together raise") {
  Process process;
  CHECK(has(error_of([&] { process.train(input_fn, {.steps = 1, .max_steps = 1}); }), "give one of them"));
  CHECK(has(error_of([&] { process.train(input_fn, {.steps = -1}); }), "steps must be at least 0"));
  train::TrainerOptions o = options();
  o.metrics = {metrics::SparseCategoricalAccuracy({.name = "global_step"})};
  CHECK(has(error_of([&] { train::Trainer(network(), o); }), "'global_step'"));
}

}  // namespace experiment_test
