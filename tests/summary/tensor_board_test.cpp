// The callback TensorBoard: what fit has measured is in the event files.
#include "tandem/summary/tensor_board.hpp"

#include <cmath>
#include <map>

#include "tests/summary/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/train/problem.hpp"

namespace tensor_board_test {
using namespace training;
using testing::TemporaryFolder, testing::values_of;

// The scalars of a tag in a folder, by step; TensorBoard drops steps that a later file begins again, which this does
// not.
std::map<i64, double> scalars(const std::string& folder, const std::string& tag) {
  std::map<i64, double> r;
  for (const auto& [step, value] : values_of(folder))
    if (value.tag == tag) r[step] = std::get<double>(value.content);
  return r;
}

TEST_CASE("each epoch is written for training and validation, at its step") {
  const Points points(40);
  const TemporaryFolder folder;
  const layers::Sequential net = network();
  train::Trainer trainer(net, options());
  const train::History h =
      trainer.fit(points.batches(10),
                  {.epochs = 3,
                   .validation_data = points.batches(20),
                   .callbacks = {summary::TensorBoard(folder / "logs", {.update_freq = 2, .histogram_freq = 3})},
                   .progress = {.mode = train::ProgressMode::none}});
  for (const auto& [run, prefix] : {std::pair("train", ""), {"validation", "val_"}}) {
    const auto losses = scalars(folder / "logs/" + run, "loss");
    REQUIRE(losses.size() == 3);
    for (std::size_t epoch = 0; epoch < 3; ++epoch)
      CHECK(losses.at(i64(4 * (epoch + 1))) == Approx(h[std::string(prefix) + "loss"][epoch]).epsilon(1e-6));
  }
  CHECK(scalars(folder / "logs/train", "val_loss").empty());
  const auto steps = scalars(folder / "logs/train", "step_loss");
  CHECK(steps.size() == 6);
  CHECK(steps.at(12) == Approx(h["loss"][2]).epsilon(1e-6));
  int histograms = 0;
  for (const auto& [step, value] : values_of(folder / "logs/train"))
    histograms += value.tag.ends_with("kernel") || value.tag.ends_with("bias");
  CHECK(histograms == 4);
}

TEST_CASE("a run that goes on tells TensorBoard where") {
  const Points points(40);
  const TemporaryFolder folder;
  const auto run = [&](i64 stop) {
    train::Trainer trainer(network(), options());
    train::FitOptions o{.epochs = 3, .progress = {.mode = train::ProgressMode::none}, .directory = folder / "run"};
    o.callbacks = {summary::TensorBoard(folder / "logs"), train::LambdaCallback({.on_step_end = [stop](train::Run& r) {
                     if (r.step() == stop) throw std::runtime_error("stopped");
                   }})};
    trainer.fit(points.batches(10), o);
  };
  CHECK_THROWS_WITH(run(6), "stopped");
  run(-1);
  // The checkpoint of epoch 0 was the latest: step 5 is the first that was done again.
  std::vector<i64> restarts;
  for (const auto& event : summary::read_events(folder / "logs/train"))
    if (event.is_restart) restarts.push_back(event.step);
  CHECK(scalars(folder / "logs/train", "loss").size() == 3);
  REQUIRE(!restarts.empty());
  CHECK(restarts.back() == 5);
}

TEST_CASE("a frequency cannot be negative") {
  CHECK(testing::error_of([] { summary::TensorBoard("x", {.update_freq = -1}); }).find("update_freq") !=
        std::string::npos);
}

}  // namespace tensor_board_test
