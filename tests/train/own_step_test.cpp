// A Trainer with a step of its own: what it measures, averages of its weights, runs that go on, errors.
#include "tandem/train/callbacks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace own_step_test {
using namespace training;
using testing::error_of;

const train::ProgressOptions quiet{.mode = train::ProgressMode::none};
constexpr double decay = 0.8;

// A step that does what a Trainer with the model would do.
train::Trainer of_step(const layers::Sequential& net, const optimizers::Adam& adam, double ema) {
  const auto error = [net](const Tensor& x, const Tensor& y) { return loss()(y, net(x)); };
  const auto step = [net, adam, error](const Tensor& x, const Tensor& y) -> train::Outputs {
    GradientTape tape;
    const Tensor value = error(x, y);
    const std::vector<Variable> weights = net.trainable_variables();
    adam.apply_gradients(tape.gradient(value, weights), weights);
    return {{"loss", value}, {"twice", value * 2.f}};
  };
  const auto evaluate = [net, error](const Tensor& x, const Tensor& y) -> train::Outputs {
    const Tensor right = equal(argmax(net(x), 1), y);
    return {{"right", reduce_mean(cast(right, DType::float32))}, {"loss", error(x, y)}};
  };
  return train::Trainer({{"net", net}, {"adam", adam}}, step, {.evaluate = evaluate, .ema = ema});
}
struct Own {
  layers::Sequential net;
  optimizers::Adam adam{0.05};
  train::Trainer trainer;
  explicit Own(const layers::Sequential& n, double ema = 0) : net(n), trainer(of_step(net, adam, ema)) {}
};
train::Trainer of_model(const layers::Sequential& net, double ema) {
  return train::Trainer(net, train::TrainerOptions{.loss = loss(),
                                                   .optimizer = optimizers::Adam(0.05),
                                                   .metrics = {metrics::SparseCategoricalAccuracy({.name = "right"})},
                                                   .ema = ema});
}

TEST_CASE("a step of one's own is validated as a model is, with averages of the weights, too") {
  const Points points(60), test(40, 8);
  for (const double ema : {0., decay}) {
    for (const bool built : {true, false}) {
      INFO(ema << built);
      const auto make = [&] { return built ? network() : unbuilt_network(); };
      const train::FitOptions o{.epochs = 4, .validation_data = test.batches(10), .progress = quiet};
      const layers::Sequential net = make();
      train::Trainer model = of_model(net, ema);
      const train::History expected = model.fit(points.batches(10), o);
      Own own(make(), ema);
      const train::History h = own.trainer.fit(points.batches(10), o);
      CHECK(h.names() == std::vector<std::string>{"loss", "twice", "val_right", "val_loss"});
      for (const char* name : {"loss", "val_loss", "val_right"})
        for (std::size_t i = 0; i < 4; ++i) CHECK(h[name][i] == Approx(expected[name][i]).epsilon(1e-6));
      CHECK(weights_of(own.net) == weights_of(net));
      const auto before = weights_of(own.net);
      const train::Values values = own.trainer.evaluate(test.batches(10)), others = model.evaluate(test.batches(10));
      CHECK(values["loss"] == Approx(others["loss"]).epsilon(1e-6));
      CHECK(values["global_step"] == 24);
      CHECK(weights_of(own.net) == before);
      if (ema == 0) continue;
      const Variable weight = own.net.trainable_variables()[0], other = net.trainable_variables()[0];
      CHECK(own.trainer.ema().average(weight).to_vector<float>() == model.ema().average(other).to_vector<float>());
    }
  }
}

TEST_CASE("an evaluation within an epoch leaves its means, and a monitor sees the validation") {
  const Points points(60);
  Own own(network());
  std::vector<double> means, losses;
  const auto evaluates = train::LambdaCallback({.on_step_end = [&](train::Run& run) {
    losses.push_back(run.loss());
    if (run.step() == 3) own.trainer.evaluate(points.batches(20));
  }});
  const train::History h = own.trainer.fit(
      points.batches(10),
      {.epochs = 9,
       .validation_data = points.batches(30),
       .callbacks = {evaluates, train::EarlyStopping({.monitor = "val_right", .min_delta = 1, .patience = 2})},
       .progress = quiet});
  double sum = 0;
  for (std::size_t i = 0; i < 6; ++i) sum += losses[i];
  CHECK(h["loss"][0] == Approx(sum / 6).epsilon(1e-6));
  CHECK(h["loss"].size() == 3);
}

TEST_CASE("a step of one's own with averages goes on to the same bits, and is restored for evaluation") {
  const testing::TemporaryFolder folder;
  const Points points(60);
  const auto train = [&](const std::string& run, std::vector<i64> ends) {
    std::vector<std::vector<float>> averages;
    for (const i64 end : ends) {
      Own own(unbuilt_network(), decay);
      own.trainer.fit(points.batches(10), {.max_steps = end, .progress = quiet, .directory = folder / run});
      averages.clear();
      for (const Variable& w : own.net.trainable_variables())
        averages.push_back(own.trainer.ema().average(w).to_vector<float>());
    }
    return averages;
  };
  const auto whole = train("whole", {20});
  CHECK(train("parts", {9, 20}) == whole);
  Own trained(unbuilt_network(), decay);
  trained.trainer.fit(points.batches(10), {.max_steps = 20, .progress = quiet, .directory = folder / "whole"});
  const train::Values expected = trained.trainer.evaluate(points.batches(10));
  for (const bool built : {true, false}) {
    Own other(built ? network(2) : unbuilt_network(2), decay);
    other.trainer.restore(folder / "whole");
    const train::Values values = other.trainer.evaluate(points.batches(10));
    CHECK(values["loss"] == expected["loss"]);
    CHECK(values["global_step"] == 20);
    CHECK(weights_of(other.net) == weights_of(trained.net));
  }
}

TEST_CASE("a step of one's own may be a BatchFunction, which a program has chosen") {
  const Points points(8);
  const auto of = [](bool squares) -> train::BatchFunction {
    if (squares) return [](const Tensor& x, const Tensor&) -> train::Outputs { return {{"sum", reduce_sum(x * x)}}; };
    return [](const std::vector<Tensor>& batch) -> train::Outputs { return {{"sum", reduce_sum(batch[0])}}; };
  };
  for (const bool squares : {true, false}) {
    const train::History h = train::Trainer({}, of(squares)).fit(points.batches(8), {.progress = quiet});
    const Tensor x = squares ? points.x * points.x : points.x;
    CHECK(h["sum"][0] == Approx(reduce_sum(x).item<float>()));
  }
}

TEST_CASE("errors of a step of one's own say what to do") {
  const Points points(8);
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != text.npos; };
  const auto step = [](const Tensor& x, const Tensor&) -> train::Outputs { return {{"loss", reduce_sum(x)}}; };
  train::Trainer plain({}, step);
  const auto measures = [&] { plain.evaluate(points.batches(4)); };
  CHECK(has(error_of<errors::FailedPreconditionError>(measures), "give it .evaluate, a function of a batch"));
  CHECK(has(error_of<errors::FailedPreconditionError>(
                [&] { plain.fit(points.batches(4), {.validation_data = points.batches(4), .progress = quiet}); }),
            "give it .evaluate"));
  CHECK(has(error_of<errors::FailedPreconditionError>([&] { plain.predict(points.x); }), "call the model yourself"));
  CHECK(has(error_of<errors::FailedPreconditionError>([&] {
              plain.fit(points.batches(4), {.class_weight = {{1, 2.}}, .progress = quiet});
            }),
            "weight the losses in the step"));
  CHECK(has(error_of<errors::FailedPreconditionError>([&] { plain.ema(); }), ".ema is 0"));
  CHECK(has(error_of([&] { train::Trainer({}, step, {.ema = 1}); }), "ema is a decay in [0, 1)"));
  const Variable own(0.f);
  CHECK(has(error_of([&] { train::Trainer({{"ema", own}}, step, {.ema = 0.9}); }), "the item 'ema' has the name"));
  const auto evaluates = [&](const train::BatchFunction& f) {
    return error_of([&] { train::Trainer({}, step, {.evaluate = f}).evaluate(points.batches(4)); });
  };
  CHECK(has(evaluates([](const Tensor& x) -> train::Outputs {
              return {{"x", reduce_sum(x)}};
            }),
            "a batch has 2 tensors, but .evaluate takes 1 tensor"));
  CHECK(has(evaluates([](const Tensor& x, const Tensor&) -> train::Outputs {
              return {{"x", x}};
            }),
            "the output 'x' of .evaluate must be a scalar, not float32[4,2]"));
  CHECK(
      has(evaluates([](const Tensor&, const Tensor&) -> train::Outputs { return {}; }), ".evaluate returns no output"));
}

}  // namespace own_step_test
