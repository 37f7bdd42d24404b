// What a step of one's own has in the place of options of the Trainer: GradientAccumulator, LossScale.
#include <limits>
#include <optional>

#include "tandem/train/gradient_accumulator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace step_optimizer_test {
using namespace training;
using testing::error_of;

const train::ProgressOptions quiet{.mode = train::ProgressMode::none};

// A step of one's own that sums gradients over some batches, and scales the loss if there is a scale.
auto step_of(const layers::Sequential& net, const train::GradientAccumulator& sums,
             const std::optional<train::LossScale>& scale) {
  return [=](const Tensor& x, const Tensor& y) -> train::Outputs {
    GradientTape tape;
    const Tensor value = loss()(y, net(x)), scaled = scale ? scale->scaled(value) : value;
    const std::vector<Variable> weights = net.trainable_variables();
    const std::vector<Gradient> gradients = tape.gradient(scaled, weights);
    if (scale) scale->apply_gradients(sums, gradients, weights);
    else sums.apply_gradients(gradients, weights);
    return {{"loss", value}};
  };
}
struct Own {
  optimizers::Adam adam{0.05};
  train::GradientAccumulator sums;
  train::Trainer trainer;
  Own(const layers::Sequential& net, i64 steps, const std::optional<train::LossScale>& scale = {})
      : sums(adam, steps), trainer(items(net, scale), step_of(net, sums, scale)) {}

 private:
  std::vector<train::CheckpointItem> items(const layers::Sequential& net,
                                           const std::optional<train::LossScale>& scale) const {
    std::vector<train::CheckpointItem> r{{"net", net}, {"adam", adam}, {"sums", sums}};
    if (scale) r.push_back({"scale", *scale});
    return r;
  }
};
void check_close(const layers::Sequential& net, const layers::Sequential& other) {
  const auto a = weights_of(net), b = weights_of(other);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) CHECK(a[i][j] == Approx(b[i][j]).margin(1e-5));
}

TEST_CASE("a step of one's own sums gradients as accumulate_steps does, also of a model without Variables") {
  const Points points(64);
  const layers::Sequential expected = network(1, 0);
  train::Trainer(expected, {.loss = loss(), .optimizer = optimizers::Adam(0.05), .accumulate_steps = 4})
      .fit(points.batches(8), {.epochs = 2, .progress = quiet});
  for (const layers::Sequential& net : {network(1, 0), unbuilt_network(1, 0)}) {
    Own own(net, 4);
    own.trainer.fit(points.batches(8), {.epochs = 2, .progress = quiet});
    check_close(net, expected);
    CHECK(own.adam.iterations().item<i64>() == 4);
  }
}

TEST_CASE("sums of gradients are in checkpoints: a run goes on to the same bits in the middle of an update") {
  const testing::TemporaryFolder folder;
  const Points points(64);
  const auto trained = [&](const std::string& run, std::vector<i64> ends) {
    std::vector<std::vector<float>> r;
    for (const i64 end : ends) {
      const layers::Sequential net = unbuilt_network();
      Own own(net, 4, train::LossScale({.initial = 1024, .growth_steps = 5}));
      own.trainer.fit(points.batches(8), {.max_steps = end, .progress = quiet, .directory = folder / run});
      CHECK(own.sums.batches().item<i64>() == end % 4);
      r = weights_of(net);
    }
    return r;
  };
  CHECK(trained("parts", {6, 11, 16}) == trained("whole", {16}));
}

TEST_CASE("a loss scale in a step of one's own: as the Trainer's, and a batch that overflows does not count") {
  const Points points(32);
  const layers::Sequential net = network(1, 0), expected = network(1, 0);
  const train::LossScale scale({.initial = 1e30});
  train::Trainer(expected, {.loss = loss(), .optimizer = optimizers::Adam(0.05), .accumulate_steps = 2})
      .fit(points.batches(16), {.progress = quiet});
  Own own(net, 2, scale);
  own.trainer.fit(points.batches(16), {.progress = quiet});
  check_close(net, expected);

  own.trainer.fit(points.batches(16), {.steps = 1, .progress = quiet});
  const auto before = weights_of(net);
  own.trainer.fit(data::from_tensor_slices({points.x * 1e20f, points.y}).batch(32), {.progress = quiet});
  CHECK(weights_of(net) == before);
  CHECK(scale.value().item<float>() == 5e29f);
  CHECK(scale.skipped().item<i64>() == 1);
  CHECK(own.sums.batches().item<i64>() == 1);

  const Variable w(1.f);
  const optimizers::SGD sgd(0.5);
  const train::LossScale plain({.initial = 8});
  plain.apply_gradients(sgd, {constant(16.f)}, {w});
  CHECK(w.item<float>() == 0);
  plain.apply_gradients(sgd, {constant(std::numeric_limits<float>::infinity())}, {w});
  CHECK(w.item<float>() == 0);
  CHECK(plain.value().item<float>() == 4);
}

TEST_CASE("gradients of half precision are summed in float32, and unset ones stay unset") {
  const Variable w(cast(constant(0.f), DType::bfloat16)), other(1.f);
  const optimizers::SGD sgd(16);
  const train::GradientAccumulator sums(sgd, 16);
  for (int i = 0; i < 16; ++i)
    sums.apply_gradients({cast(constant(i == 0 ? 256.f : 1.f), DType::bfloat16), Gradient()}, {w, other});
  CHECK(cast(w.value(), DType::float32).item<float>() < -268);  // 271, rounded; not 256
  CHECK(other.item<float>() == 1);
}

TEST_CASE("sums: a gradient that is not set counts as zeros, and a checkpoint of more steps goes on") {
  const Variable w(0.f), v(0.f);
  const optimizers::SGD sgd(1);
  const train::GradientAccumulator sums(sgd, 2);
  const auto add = [&](const Gradient& of_w) { sums.apply_gradients({of_w, constant(2.f)}, {w, v}); };
  add(constant(16.f)), add(Gradient());
  CHECK(w.item<float>() == -8);
  add(constant(0.f)), add(constant(0.f));
  CHECK(w.item<float>() == -8);
  CHECK(v.item<float>() == -4);
  sums.batches().assign(constant(i64{3}));  // of an update of 4 or more
  add(constant(8.f));
  CHECK(w.item<float>() == -10);
  CHECK(sums.batches().item<i64>() == 0);
}

TEST_CASE("errors of sums of gradients") {
  const optimizers::SGD sgd(1);
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != text.npos; };
  CHECK(has(error_of([&] { train::GradientAccumulator(sgd, 0); }), "steps must be at least 1, not 0"));
  const train::GradientAccumulator sums(sgd, 2);
  const Variable w(1.f), counter(constant(1));
  CHECK(has(error_of([&] { sums.apply_gradients({constant(1.f)}, {w, w}); }), "1 gradients of 2 variables"));
  CHECK(has(error_of([&] { sums.apply_gradients({constant(1)}, {counter}); }), "int32[], not floating"));
}

}  // namespace step_optimizer_test
