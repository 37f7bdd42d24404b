// Trainer: the same as loops by hand; what batches may be; options; errors.
#include "tandem/train/trainer.hpp"

#include <array>
#include <tuple>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sim.hpp"
#include "tests/train/problem.hpp"

namespace trainer_test {
using namespace training;
using testing::error_of;

TEST_CASE("fit trains as a loop by hand does, bit for bit") {
  const Points points(100);  // the last of 4 batches is smaller
  const auto ds = points.shuffled(32);

  const layers::Sequential by_hand = network();
  const optimizers::Adam adam(0.01);
  const losses::Loss loss = training::loss();
  const auto step = function([&](const Tensor& x, const Tensor& y) {
    const training_scope training(true);
    GradientTape tape;
    const Tensor value = loss(y, by_hand(x));
    const std::vector<Variable> weights = by_hand.trainable_variables();
    adam.apply_gradients(tape.gradient(value, weights), weights);
    return value;
  });
  std::vector<double> expected;
  for (i64 epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (const auto& [x, y] : ds.epoch(epoch)) sum += double(step(x, y).item<float>()) * double(x.shape()[0]);
    expected.push_back(sum / 100);
  }

  const layers::Sequential net = unbuilt_network();
  train::Trainer trainer(net, options());
  const train::History history = trainer.fit(ds, {.epochs = 3});
  CHECK(weights_of(net) == weights_of(by_hand));
  CHECK(trainer.step() == 12);
  const std::vector<double> losses = history["loss"];
  REQUIRE(losses.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(losses[i] == Approx(expected[i]).epsilon(1e-12));
  CHECK(history.names() == std::vector<std::string>{"loss", "sparse_categorical_accuracy", "learning_rate"});
  CHECK(history["learning_rate"] == std::vector<double>(3, double(0.01f)));
  CHECK(history.stop_reason.empty());
}

TEST_CASE("evaluate and predict agree with the model") {
  const Points points(50);
  const layers::Sequential net = network();
  train::Trainer trainer(net, options());
  trainer.fit(points.batches(20), {.epochs = 2});
  const auto before = weights_of(net);

  const Tensor logits = net(points.x);
  const train::Values values = trainer.evaluate(points.batches(16));
  const metrics::SparseCategoricalAccuracy accuracy;
  CHECK(values["sparse_categorical_accuracy"] == accuracy(points.y, logits).item<double>());
  CHECK(values["loss"] == Approx(training::loss()(points.y, logits).item<float>()).epsilon(1e-6));
  CHECK(trainer.evaluate(points.x, points.y)["loss"] == Approx(values["loss"]).epsilon(1e-6));

  const Tensor predictions = trainer.predict(points.x, 16);
  CHECK(predictions.shape() == Shape{50, 2});
  CHECK(reduce_max(abs(predictions - logits)).item<float>() < 1e-6f);
  const Tensor ignoring_labels = trainer.predict(points.batches(16));
  CHECK(ignoring_labels.to_vector<float>() == predictions.to_vector<float>());
  CHECK(weights_of(net) == before);
}

TEST_CASE("validation is measured after each epoch, or every second one, and changes nothing") {
  const Points points(64), test(40, 8);
  const layers::Sequential a = network();
  const train::History with =
      train::Trainer(a, options()).fit(points.batches(16), {.epochs = 4, .validation_data = test.batches(16)});
  const layers::Sequential b = network();  // which sets the seed anew
  const train::History without = train::Trainer(b, options()).fit(points.batches(16), {.epochs = 4});
  CHECK(with["loss"] == without["loss"]);
  CHECK(weights_of(a) == weights_of(b));
  CHECK(with["val_loss"].back() == train::Trainer(a, options()).evaluate(test.batches(16))["loss"]);

  const train::History some =
      train::Trainer(network(), options())
          .fit(points.batches(16), {.epochs = 4, .validation_data = test.batches(16), .validation_freq = 2});
  const std::vector<double> values = some["val_loss"];
  CHECK(std::isnan(values[0]));
  CHECK(values[1] == with["val_loss"][1]);
  CHECK(std::isnan(values[2]));
  CHECK(values[3] == with["val_loss"][3]);
}

TEST_CASE("the five lines learn") {
  const Points train_points(400), test(200, 9);
  const layers::Sequential net = network();
  train::Trainer trainer(net, options());
  const train::History history =
      trainer.fit(train_points.x, train_points.y, {.epochs = 20, .validation_data = test.batches(50)});
  CHECK(history["loss"].back() < 0.5 * history["loss"].front());
  CHECK(trainer.evaluate(test.x, test.y)["sparse_categorical_accuracy"] > 0.95);
}

TEST_CASE("batches may be pairs, tuples, arrays and vectors of tensors; weights of 0 leave examples out") {
  const Points points(40);
  const Tensor weights = cast(range(40) < 20, DType::float32);
  const auto trained = [&](const train::Batches& batches) {
    const layers::Sequential net = network(1, 0);
    train::TrainerOptions o = options();
    o.weighted_metrics = {metrics::SparseCategoricalAccuracy({.name = "weighted"})};
    const train::History h = train::Trainer(net, o).fit(batches, {.epochs = 2});
    return std::pair(weights_of(net), h);
  };
  const auto rows = data::from_tensor_slices({points.x, points.y, weights});
  const auto [expected, history] = trained(rows.batch(40));
  CHECK(history["weighted"] != history["sparse_categorical_accuracy"]);
  using T = const Tensor&;
  const auto tuples = rows.map([](T x, T y, T w) { return std::tuple(x, y, w); }).batch(40);
  const auto nested = rows.map([](T x, T y, T w) { return std::pair(x, std::array{y, w}); }).batch(40);
  const auto vectors = rows.map([](T x, T y, T w) { return std::vector{x, y, w}; }).batch(40);
  CHECK(trained(tuples).first == expected);
  CHECK(trained(nested).first == expected);
  CHECK(trained(vectors).first == expected);

  // The second half of the labels does not count.
  const Tensor other = where(weights > 0.f, points.y, 1 - points.y);
  CHECK(trained(data::from_tensor_slices({points.x, other, weights}).batch(40)).first == expected);
  CHECK(trained(data::from_tensor_slices({points.x, other}).batch(40)).first != expected);
}

TEST_CASE("loss_scale needs weights that are not in float16") {
  const layers::Dense layer(1, {.dtype = DType::float16});
  const layers::Sequential net{layer};
  const auto ds =
      data::from_tensor_slices({ones({8, 1}, {.dtype = DType::float16}), ones({8, 1}, {.dtype = DType::float16})});
  train::Trainer trainer(
      net, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::SGD(0.1), .loss_scale = train::LossScale()});
  CHECK(error_of([&] { trainer.fit(ds.batch(4)); }).find("/kernel' is float16") != std::string::npos);
}

TEST_CASE("gradients of half precision are accumulated in float32") {
  const layers::Dense layer(1,
                            {.use_bias = false, .kernel_initializer = initializers::Zeros(), .dtype = DType::bfloat16});
  const layers::Sequential net{layer};
  // The first batch has the gradient 256, the 15 others 1 each, which bfloat16 loses beside it.
  std::vector<float> x(16, 1);
  x[0] = 256;
  const auto ds = data::from_tensor_slices(
      {cast(reshape(constant(x), {16, 1}), DType::bfloat16), ones({16, 1}, {.dtype = DType::bfloat16})});
  train::Trainer(net, {.loss = losses::MeanAbsoluteError(), .optimizer = optimizers::SGD(16), .accumulate_steps = 16})
      .fit(ds.batch(1));
  CHECK(cast(net.trainable_variables()[0].value(), DType::float32).item<float>() > 268);  // 271, rounded; not 256
}

TEST_CASE("gradients of several batches are one update") {
  const Points points(64);
  const auto trained = [&](i64 batch, i64 accumulate) {
    const layers::Sequential net = network(1, 0);
    train::Trainer trainer(net,
                           {.loss = loss(), .optimizer = optimizers::SGD(0.1, 0.9), .accumulate_steps = accumulate});
    trainer.fit(points.batches(batch), {.epochs = 3});
    return weights_of(net);
  };
  const auto expected = trained(32, 1), sums = trained(8, 4);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::size_t j = 0; j < expected[i].size(); ++j) CHECK(sums[i][j] == Approx(expected[i][j]).margin(2e-6));
}

TEST_CASE("the sum of a weight that is frozen before the update does not count in the next one") {
  const layers::DenseOptions one{.use_bias = false, .kernel_initializer = initializers::Ones()};
  const layers::Dense first(1, one), second(1, one);
  train::Trainer trainer(
      layers::Sequential{first, second},
      {.loss = losses::MeanSquaredError(), .optimizer = optimizers::SGD(0.1), .accumulate_steps = 2});
  const auto freeze = [&](train::Run& run) { first.set_trainable(run.step() != 1); };  // in the second of four steps
  trainer.fit(data::from_tensor_slices({ones({4, 1}), fill({4, 1}, 3.f)}).batch(1),
              {.callbacks = {train::LambdaCallback({.on_step_end = freeze})}});
  // second: 1 + 0.4 alone, then both by the gradients of the last two steps, 2 (1.4 - 3) times the other weight.
  CHECK(first.variables()[0].item<float>() == Approx(1 + 0.32 * 1.4));
  CHECK(second.variables()[0].item<float>() == Approx(1.4 + 0.32));
}

TEST_CASE("evaluate measures with the moving averages, and the weights come back") {
  const Points points(64);
  const layers::Sequential net = network();
  train::TrainerOptions o = options();
  o.ema = 0.9;
  train::Trainer trainer(net, o);
  trainer.fit(points.batches(16), {.epochs = 3});
  const auto weights = weights_of(net);
  const double measured = trainer.evaluate(points.batches(64))["loss"];
  CHECK(weights_of(net) == weights);
  trainer.ema().assign_averages();
  CHECK(weights_of(net) != weights);
  CHECK(measured == Approx(loss()(points.y, net(points.x)).item<float>()).epsilon(1e-6));
}

TEST_CASE("a step whose scaled gradients are infinite changes no weight and halves the scale") {
  const Points points(32);
  const layers::Sequential net = network(1, 0);
  const train::LossScale scale({.initial = 1e30});  // times the gradients of float32 stays finite
  train::Trainer fine(net, {.loss = loss(), .optimizer = optimizers::SGD(0.1), .loss_scale = scale});
  fine.fit(points.batches(32));
  const layers::Sequential plain = network(1, 0);
  train::Trainer(plain, {.loss = loss(), .optimizer = optimizers::SGD(0.1)}).fit(points.batches(32));
  const auto a = weights_of(net), b = weights_of(plain);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) CHECK(a[i][j] == Approx(b[i][j]).margin(1e-6));
  CHECK(scale.value().item<float>() == 1e30f);

  // Inputs so large that gradients overflow.
  const auto large = data::from_tensor_slices({points.x * 1e20f, points.y}).batch(32);
  const auto before = weights_of(net);
  fine.fit(large);
  CHECK(weights_of(net) == before);
  CHECK(scale.value().item<float>() == 5e29f);
  CHECK(scale.skipped().item<i64>() == 1);

  const train::LossScale growing({.initial = 8, .growth_steps = 3});
  const auto update = [&](bool finite) { growing.update(constant(finite)); };
  update(true), update(true);
  CHECK(growing.value().item<float>() == 8);
  update(true);
  CHECK(growing.value().item<float>() == 16);
  update(true), update(false), update(true), update(true);
  CHECK(growing.value().item<float>() == 8);
  update(true);
  CHECK(growing.value().item<float>() == 16);
  CHECK(error_of([] { train::LossScale({.initial = 0}); }).find("initial must be from 1") != std::string::npos);
}

TEST_CASE("a batch whose gradients overflow leaves out the update of all that are accumulated") {
  const Points points(32);
  const layers::Sequential net = network(1, 0);
  const train::LossScale scale({.initial = 1e10});
  train::Trainer trainer(
      net, {.loss = loss(), .optimizer = optimizers::SGD(0.1), .accumulate_steps = 2, .loss_scale = scale});
  const auto before = weights_of(net);
  const Tensor x = concat({points.x(Slice(none, 16)) * 1e25f * 1e10f, points.x(Slice(16, none))}, 0);
  trainer.fit(data::from_tensor_slices({x, points.y}).batch(16));  // the first of two overflows
  CHECK(weights_of(net) == before);
  CHECK(scale.value().item<float>() == 5e9f);
  trainer.fit(points.batches(16));  // nothing is left of it
  const layers::Sequential plain = network(1, 0);
  train::Trainer(plain, {.loss = loss(), .optimizer = optimizers::SGD(0.1)}).fit(points.batches(32));
  const auto a = weights_of(net), b = weights_of(plain);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) CHECK(a[i][j] == Approx(b[i][j]).margin(1e-6));
}

struct Joined : Model<Joined> {
  layers::Dense out{2};
  Tensor operator()(const std::vector<Tensor>& x) const { return out(concat(x, 1)); }
};
struct Two : Model<Two> {
  layers::Dense out{2};
  Tensor operator()(const Tensor& a, const Tensor& b) const { return out(concat({a, b}, 1)); }
};

TEST_CASE("models of several inputs and of a list of them") {
  const Points points(40);
  const Tensor a = points.x(Ellipsis, Slice(none, 1)), b = points.x(Ellipsis, Slice(1, none));
  const auto ds = data::from_tensor_slices({a, b, points.y}).batch(8);
  random::set_seed(1);
  const Two two;
  train::Trainer first(two, options());
  const train::History h = first.fit(ds, {.epochs = 3});
  random::set_seed(1);
  const Joined joined;
  train::Trainer second(joined, options());
  CHECK(second.fit(ds, {.epochs = 3})["loss"] == h["loss"]);
  CHECK(weights_of(two) == weights_of(joined));
  CHECK(first.predict(ds).to_vector<float>() ==
        second.predict(data::from_tensor_slices({a, b}).batch(8)).to_vector<float>());
  CHECK(error_of([&] { second.fit(ds, {.class_weight = {{1, 2}}}); }).find("one to four tensors") != std::string::npos);
}

TEST_CASE("a step of one's own, with two optimizers") {
  const Points points(64);
  random::set_seed(1);
  const layers::Dense a(1), b(1);
  const optimizers::SGD slow(0.01), fast(0.1);
  const auto step = [&](const Tensor& x, const Tensor& y) -> train::Outputs {
    const Tensor target = cast(expand_dims(y, 1), DType::float32);
    const auto fit_one = [&](const layers::Dense& layer, const Optimizer& optimizer) {
      GradientTape tape;
      const Tensor value = reduce_mean(square(layer(x) - target));
      const std::vector<Variable> weights = layer.trainable_variables();
      optimizer.apply_gradients(tape.gradient(value, weights), weights);
      return value;
    };
    const Tensor first = fit_one(a, slow);
    return {{"slow", first}, {"loss", fit_one(b, fast)}};
  };
  train::Trainer trainer({{"a", a}, {"b", b}, {"slow", slow}, {"fast", fast}}, step);
  double last = 0;
  const train::History h =
      trainer.fit(points.batches(16),
                  {.epochs = 10,
                   .callbacks = {train::LambdaCallback({.on_step_end = [&](train::Run& run) { last = run.loss(); }})}});
  CHECK(h.names() == std::vector<std::string>{"slow", "loss"});
  CHECK(h["loss"].back() < h["slow"].back());
  CHECK(last < h["slow"].back());  // the output "loss", not the first
  CHECK(error_of([&] { trainer.evaluate(points.batches(16)); }).find("a step of its own") != std::string::npos);
}

TEST_CASE("epochs of a fixed number of steps go on where the last one has ended") {
  const Points points(30);
  std::vector<float> seen;
  const layers::Sequential net = network();
  train::Trainer trainer(net, options());
  const auto see = train::LambdaCallback(
      {.on_step_end = [&](train::Run& run) { seen.push_back(run.batch()[0].to_vector<float>()[0]); }});
  trainer.fit(points.batches(10), {.epochs = 2, .steps_per_epoch = 4, .callbacks = {see}});
  const std::vector<float> x = points.x.to_vector<float>();
  const float first[] = {x[0], x[20], x[40]};
  REQUIRE(seen.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) CHECK(seen[i] == first[i % 3]);

  seen.clear();
  trainer.fit(points.batches(10).repeat(), {.steps_per_epoch = 5, .callbacks = {see}});
  CHECK(seen.size() == 5);
  CHECK(trainer.step() == 13);
}

TEST_CASE("errors of training say what is wrong") {
  const Points points(20);
  const layers::Sequential net = network();
  train::Trainer trainer(net, options());
  const auto fails = [&](const std::string& part, auto&& f) {
    const std::string message = error_of(f);
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
  };
  fails("a batch has 1 tensor, but the model takes 1 input, behind which the labels come",
        [&] { trainer.fit(data::from_tensor_slices(points.x).batch(4)); });
  fails("the data set is empty", [&] { trainer.fit(points.batches(4).take(0)); });
  fails("the data set has no end", [&] { trainer.fit(points.batches(4).repeat()); });
  fails("the data set has no end", [&] { trainer.evaluate(points.batches(4).repeat()); });
  fails("the data set is empty", [&] { trainer.evaluate(points.batches(4).take(0)); });
  fails("epochs must be at least 0, not -1", [&] { trainer.fit(points.batches(4), {.epochs = -1}); });
  fails("needs the Trainer's option .optimizer", [&] { train::Trainer(net, {.loss = loss()}).fit(points.batches(4)); });
  fails("need the option .loss",
        [&] { train::Trainer(net, {.optimizer = optimizers::SGD(0.1)}).fit(points.batches(4)); });
  fails("ema is a decay in [0, 1)",
        [&] { train::Trainer(net, {.loss = loss(), .optimizer = optimizers::SGD(0.1), .ema = 1}); });
  fails("Reduction::none",
        [&] { train::Trainer(net, {.loss = losses::MeanSquaredError({.reduction = losses::Reduction::none})}); });
  fails("two values have the name 'loss'",
        [&] { train::Trainer(net, {.metrics = {metrics::SparseCategoricalAccuracy({.name = "loss"})}}); });
  fails("two values have the name 'sparse_categorical_accuracy'", [&] {
    train::Trainer(net, {.metrics = {metrics::SparseCategoricalAccuracy()},
                         .weighted_metrics = {metrics::SparseCategoricalAccuracy()}});
  });
  fails("there is no data set", [&] { trainer.fit(train::Batches()); });
  fails("a callback is a null pointer",
        [&] { trainer.fit(points.batches(4), {.callbacks = {std::shared_ptr<train::EarlyStopping>()}}); });
  fails("the data set has no end: take()",
        [&] { trainer.fit(points.batches(4), {.validation_data = points.batches(4).repeat()}); });
  fails(".ema is 0", [&] { trainer.ema(); });
  fails("no value 'accuracy'; there are: loss, sparse_categorical_accuracy",
        [&] { trainer.evaluate(points.batches(4))["accuracy"]; });
  // An error of a step leaves the trainer usable.
  fails("labels must be integers", [&] { trainer.fit(data::from_tensor_slices({points.x, points.x}).batch(4)); });
  trainer.fit(points.batches(4));
}

TEST_CASE("a history is read back from its text") {
  train::History h;
  train::Values a, b;
  a.set("loss", 0.1), a.set("val loss", std::numeric_limits<double>::quiet_NaN());
  b.set("loss", -1e-300), b.set("accuracy", std::numeric_limits<double>::infinity());
  h.add(a), h.add(b), h.add({});
  const train::History r = train::History::parse(h.to_text());
  CHECK(r.to_text() == h.to_text());
  CHECK(r.names() == h.names());
  CHECK(r["loss"][1] == -1e-300);
  CHECK(std::isnan(r["val loss"][0]));
  CHECK(r.epochs().size() == 3);
  CHECK(error_of([&] { a.set("a\tb", 1); }).find("control characters") != std::string::npos);
  for (const char* damaged : {"loss 1", "loss\n", "loss 1x\n", " \n"})
    CHECK(error_of([&] { train::History::parse(damaged); }).find("not a history") != std::string::npos);
}

TEST_CASE("in the scope of a device, batches that were made on the host are copied there") {
  const sim::Installed installed;
  const Points points(40);
  const DeviceScope scope(sim::device);
  const layers::Sequential net = network();
  train::Trainer trainer(net, options());
  const train::History history = trainer.fit(points.batches(16), {.epochs = 3});
  CHECK(history["loss"].back() < history["loss"].front());
  CHECK(trainer.predict(points.x, 16).device() == sim::device);
}

}  // namespace trainer_test
