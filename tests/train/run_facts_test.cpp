// What Trainer::fit itself compares when the run in a folder goes on: data, optimizer, weights.
#include <filesystem>

#include "tandem/io/file.hpp"
#include "tandem/train/run_directory.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace run_facts_test {
using namespace training;
using testing::error_of;
using testing::TemporaryFolder;

const Points& points() {
  static const Points p(60);
  return p;
}

struct Case {
  train::TrainerOptions trainer = options();
  layers::Sequential net = unbuilt_network();
  i64 rows = 60, epochs = 1;
  train::FitOptions fit = {};
};
// Trains in a folder, a new process as it were; the error of fit.
std::string error_in(const std::string& folder, const Case& c) {
  train::FitOptions o = c.fit;
  o.epochs = c.epochs, o.directory = folder, o.progress.mode = train::ProgressMode::none;
  return error_of<errors::FailedPreconditionError>(
      [&] { train::Trainer(c.net, c.trainer).fit(points().batches(10).take(c.rows / 10), o); });
}
train::Metadata notes_of(const std::string& folder) { return train::RunDirectory(folder).notes(); }
train::TrainerOptions with(Optimizer optimizer) {
  train::TrainerOptions o = options();
  o.optimizer = std::move(optimizer);
  return o;
}

TEST_CASE("run.json has what fit knows of a run") {
  const TemporaryFolder folder;
  CHECK(error_in(folder / "a", {}) == "no error");
  const train::Metadata notes = notes_of(folder / "a");
  CHECK(notes.at("fit.steps_per_epoch") == "6");
  CHECK(notes.at("fit.optimizer") == "adam learning_rate=0.01 beta_1=0.9 beta_2=0.999 epsilon=1e-07");
  CHECK(notes.at("fit.weights").starts_with("4 Variables, 82 numbers, hash "));
  CHECK(notes.at("fit.accumulate_steps") == "1");
  CHECK(notes.at("fit.ema") == "0");

  const auto text_of = [&](const char* name, Optimizer optimizer) {
    CHECK(error_in(folder / name, {.trainer = with(std::move(optimizer))}) == "no error");
    return notes_of(folder / name).at("fit.optimizer");
  };
  CHECK(text_of("b", optimizers::SGD({.learning_rate = 0.5, .momentum = 0.9, .clipnorm = 2})) ==
        "sgd learning_rate=0.5 momentum=0.9 nesterov=0 clipnorm=2");
  CHECK(text_of("c", optimizers::SGD([](const Tensor& step) { return 1 / (step + 1); }))
            .starts_with("sgd learning_rate=schedule "));
  CHECK(text_of("d", optimizers::SGD(Variable(0.25f))).starts_with("sgd learning_rate=variable "));

  // A data set of unknown length; a step of one's own.
  train::Trainer(network(), options())
      .fit(points().batches(10).filter([](const Tensor&, const Tensor&) { return true; }),
           {.progress = {.mode = train::ProgressMode::none}, .directory = folder / "e"});
  CHECK(!notes_of(folder / "e").contains("fit.steps_per_epoch"));
  const Variable w(0.f);
  train::Trainer({{"w", w}}, [w](const Tensor&, const Tensor&) -> train::Outputs {
    return {{"loss", w.assign_add(1)}};
  }).fit(points().batches(10), {.progress = {.mode = train::ProgressMode::none}, .directory = folder / "f"});
  CHECK(notes_of(folder / "f").at("fit.steps_per_epoch") == "6");
  CHECK(!notes_of(folder / "f").contains("fit.optimizer"));
}

TEST_CASE("run.json has the commit of the folder that the program runs in") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / ".git");
  folder.file(".git/HEAD", std::string(40, 'a') + "\n");
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  const std::string in_repository = error_in(folder / "a", {});
  std::filesystem::current_path("/");
  const std::string outside = error_in(folder / "b", {});
  std::filesystem::current_path(here);
  CHECK(in_repository + outside == "no errorno error");
  CHECK(notes_of(folder / "a").at("git commit") == std::string(40, 'a'));
  CHECK(!notes_of(folder / "b").contains("git commit"));
}

TEST_CASE("another optimizer, other data or another model do not go on with a run") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  REQUIRE(error_in(run, {}) == "no error");
  const std::string before = io::read_file(run + "/run.json");

  const std::string rate = error_in(run, {.trainer = with(optimizers::Adam(0.5)), .epochs = 2});
  INFO(rate);
  CHECK(rate.find("fit: " + run + " has a run") != rate.npos);
  CHECK(rate.find("\n  fit.optimizer was \"adam learning_rate=0.01 ") != rate.npos);
  CHECK(rate.find("is \"adam learning_rate=0.5 ") != rate.npos);
  CHECK(rate.find("LearningRateScheduler") != rate.npos);
  CHECK(error_in(run, {.trainer = with(optimizers::Adam({.learning_rate = 0.01, .beta_1 = 0.8})), .epochs = 2})
            .find("beta_1=0.8") != std::string::npos);
  CHECK(error_in(run, {.trainer = with(optimizers::Nadam(0.01)), .epochs = 2}).find("\"nadam ") != std::string::npos);

  const std::string shorter = error_in(run, {.rows = 20, .epochs = 2});
  CHECK(shorter.find("\n  fit.steps_per_epoch was \"6\", is \"2\"") != shorter.npos);
  CHECK(shorter.find(".steps_per_epoch = 6") != shorter.npos);
  CHECK(shorter.find("fit.optimizer") == shorter.npos);

  train::TrainerOptions averaged = options();
  averaged.ema = 0.5;
  CHECK(error_in(run, {.trainer = averaged, .epochs = 2}).find("fit.ema was \"0\", is \"0.5\"") != std::string::npos);

  random::set_seed(1);
  const layers::Sequential wide{layers::Dense(20, nn::relu), layers::Dropout(0.1), layers::Dense(2)};
  const std::string other = error_in(run, {.net = wide, .epochs = 2});
  INFO(other);
  CHECK(other.find("\n  fit.weights was \"4 Variables, 82 numbers, hash ") != other.npos);
  CHECK(other.find("is \"4 Variables, 102 numbers, hash ") != other.npos);
  CHECK(other.find("kernel was float32[2,16], is float32[2,20]") != other.npos);
  CHECK(other.find("kernel was float32[16,2], is float32[20,2]") != other.npos);
  CHECK(other.find("bias was float32[2]") == other.npos);  // the same

  CHECK(io::read_file(run + "/run.json") == before);
  CHECK(error_in(run, {.epochs = 2}) == "no error");
}

TEST_CASE("a rate that callbacks change is no other configuration") {
  const TemporaryFolder folder;
  const auto fit = [&](i64 epochs, train::Trainer& trainer) {
    return trainer.fit(points().batches(10),
                       {.epochs = epochs,
                        .callbacks = {train::ReduceLROnPlateau({.monitor = "loss", .patience = 1, .min_delta = 100}),
                                      train::LearningRateScheduler([](i64, double rate) { return rate * 0.5; })},
                        .progress = {.mode = train::ProgressMode::none},
                        .directory = folder / "run"});
  };
  train::Trainer first(unbuilt_network(), options());
  fit(2, first);
  fit(3, first);  // in the same process, whose optimizer has another rate now
  train::Trainer second(unbuilt_network(), options());
  CHECK(fit(4, second)["learning_rate"].size() == 4);
}

TEST_CASE("a callback changes the rate of a run on purpose") {
  const TemporaryFolder folder;
  REQUIRE(error_in(folder / "run", {}) == "no error");
  train::Trainer trainer(unbuilt_network(), options());
  const train::History h =
      trainer.fit(points().batches(10), {.epochs = 2,
                                         .callbacks = {train::LearningRateScheduler([](i64, double) { return 0.5; })},
                                         .progress = {.mode = train::ProgressMode::none},
                                         .directory = folder / "run"});
  CHECK(h["learning_rate"][0] == Approx(0.01));
  CHECK(h["learning_rate"][1] == 0.5);
}

TEST_CASE("a run of an earlier version, or a note that was removed, is not compared") {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  REQUIRE(error_in(run, {}) == "no error");
  std::filesystem::remove(run + "/run.json");
  { const train::RunDirectory old(run, {}, {.notes = {{"compiler", "x"}}}); }
  CHECK(error_in(run, {.trainer = with(optimizers::Adam(0.5)), .epochs = 2}) == "no error");
  CHECK(notes_of(run) == train::Metadata{{"compiler", "x"}});

  Case c;  // names of the caller are others
  c.fit.configuration = {{"fit.optimizer", "mine"}};
  CHECK(error_in(folder / "other", c) == "no error");
  c.epochs = 2;
  CHECK(error_in(folder / "other", c) == "no error");
}

}  // namespace run_facts_test
