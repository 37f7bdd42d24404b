// The callback TensorBoard: what fit has measured is in the event files.
#include "tandem/summary/tensor_board.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "tandem/base/warning.hpp"
#include "tandem/summary/plugin_data.hpp"
#include "tandem/summary/report.hpp"
#include "tandem/train/run_directory.hpp"
#include "tests/summary/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/small_files.hpp"
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

TEST_CASE("a validation within an epoch is written at its step, once") {
  const Points points(40);
  const TemporaryFolder folder;
  train::Trainer trainer(network(), options());
  const train::History h =
      trainer.fit(points.batches(10), {.max_steps = 7,
                                       .validation_data = points.batches(20),
                                       .validation_every = 3,
                                       .callbacks = {summary::TensorBoard(folder / "logs", {.update_freq = 1})},
                                       .progress = {.mode = train::ProgressMode::none}});
  const auto losses = scalars(folder / "logs/validation", "loss");
  std::vector<i64> steps;
  for (const auto& [step, loss] : losses) steps.push_back(step);
  CHECK(steps == std::vector<i64>{3, 6, 7});
  CHECK(losses.at(3) == Approx(h["val_loss"][0]).epsilon(1e-6));
  CHECK(losses.at(7) == Approx(h["val_loss"][1]).epsilon(1e-6));
  CHECK(scalars(folder / "logs/train", "step_val_loss").empty());
  CHECK(scalars(folder / "logs/train", "loss").size() == 1);
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

TEST_CASE("hyper-parameters and the end of a run are in its folder") {
  const Points points(40);
  const TemporaryFolder folder;
  const train::HParams h{{"lr", 0.1}, {"units", 16}, {"layers", {8, 4}}, {"augment", true}, {"optimizer", "adam"}};
  const auto run = [&](const char* name, bool fails) {
    train::Trainer(network(), options())
        .fit(points.batches(10),
             {.callbacks = {summary::TensorBoard(folder / name, {.hparams = summary::to_hparams(h)}),
                            train::LambdaCallback({.on_epoch_end =
                                                       [fails](train::Run&) {
                                                         if (fails) throw std::runtime_error("stopped");
                                                       }})},
              .progress = {.mode = train::ProgressMode::none}});
  };
  run("good", false);
  CHECK_THROWS_WITH(run("bad", true), "stopped");
  for (const auto& [name, status] : {std::pair("good", 1), {"bad", 2}}) {
    const auto written = values_of(folder / name);
    REQUIRE(written.size() == 2);
    summary::HParamsRecord record;
    REQUIRE(summary::parse_hparams(written[0].value.plugin_content, record));
    CHECK(record.hparams ==
          summary::HParams{{"lr", 0.1}, {"units", 16}, {"layers", "[8,4]"}, {"augment", true}, {"optimizer", "adam"}});
    CHECK(written[1].value.tag == "_hparams_/session_end_info");
    CHECK(written[1].value.plugin_content.substr(2, 2) == std::string("\x08") + static_cast<char>(status));
  }
}

// How a run has ended, as TensorBoard reads it: the first end of several.
std::optional<summary::Status> status_of(const std::string& folder) {
  for (const auto& [step, value] : values_of(folder)) {
    summary::HParamsRecord record;
    if (value.plugin == "hparams") CHECK(summary::parse_hparams(value.plugin_content, record));
    if (record.status) return record.status;
  }
  return {};
}

TEST_CASE("the end of a run is that of its last process, whatever has ended those before") {
  const Points points(40);
  const TemporaryFolder folder;
  const auto run = [&](const train::LambdaCallback& callback) {
    return train::Trainer(network(), options())
        .fit(points.batches(10),
             {.epochs = 3,
              .callbacks = {summary::TensorBoard(folder / "logs", {.hparams = {{"lr", 0.1}}}), callback},
              .progress = {.mode = train::ProgressMode::none},
              .directory = folder / "run"});
  };
  const auto at_step = [](i64 step, const auto& f) {
    return train::LambdaCallback({.on_step_end = [=](train::Run& r) {
      if (r.step() == step) f();
    }});
  };
  CHECK(run(at_step(5, [] { ::raise(SIGINT); })).exit_status == 130);
  CHECK(status_of(folder / "logs") == summary::Status::failure);
  std::optional<summary::Status> during;
  const auto fail = [&] {
    during = status_of(folder / "logs");
    throw std::runtime_error("stopped");
  };
  CHECK_THROWS_WITH(run(at_step(6, fail)), "stopped");
  CHECK(!during);
  CHECK(status_of(folder / "logs") == summary::Status::failure);
  CHECK_THROWS_WITH(run(train::LambdaCallback({.on_end = [](train::Run&) { throw std::runtime_error("at the end"); }})),
                    "at the end");
  CHECK(status_of(folder / "logs") == summary::Status::failure);
  CHECK(run(train::LambdaCallback({})).exit_status == 0);  // complete
  CHECK(status_of(folder / "logs") == summary::Status::success);
  CHECK(summary::report_html(folder / "logs").find(">success<") != std::string::npos);
}

TEST_CASE("a run that is refused leaves the events of the one that has the folder") {
  const Points points(40);
  const TemporaryFolder folder;
  const auto files = [&] {
    std::map<std::string, std::string> r;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "logs"))
      if (entry.is_regular_file()) r[entry.path().string()] = testing::bytes_of_file(entry.path().string());
    return r;
  };
  const auto run = [&](const std::string& batch) {
    train::Trainer(network(), options())
        .fit(points.batches(10), {.callbacks = {summary::TensorBoard(folder / "logs", {.hparams = {{"lr", 0.1}}})},
                                  .progress = {.mode = train::ProgressMode::none},
                                  .directory = folder / "run",
                                  .configuration = {{"batch", batch}}});
  };
  run("10");
  const auto before = files();
  CHECK(testing::error_of([&] { run("20"); }).find("batch was \"10\", is \"20\"") != std::string::npos);
  CHECK(files() == before);
  const train::RunDirectory other(folder / "run", {{"batch", "10"}});
  CHECK(testing::error_of([&] { run("10"); }).find("is in use by") != std::string::npos);
  CHECK(files() == before);
}

// The bytes of the file for the page "Profile", in the folder of a run.
std::string xplane(const std::string& run) {
  std::string bytes;
  for (const auto& entry : std::filesystem::directory_iterator(run))
    bytes = testing::bytes_of_file(entry.path().string());
  return bytes;
}
// Whether a profile has this call; not also one whose name is longer.
bool has_call(const std::string& xplane, const std::string& name) { return xplane.find("call " + name) != xplane.npos; }
// The numbers of its steps, which are below 128: values of the name "step_num", whose entry is 8: ID, 18: NAME.
std::vector<int> steps_in(const std::string& xplane) {
  const std::size_t name = xplane.find("step_num");
  if (name == xplane.npos) return {};
  std::vector<int> steps;
  const std::string value = {0x22, 0x04, 0x08, xplane[name - 3], 0x20};  // a message of 4 bytes: the ID, and a number
  for (std::size_t at = xplane.find(value); at != xplane.npos; at = xplane.find(value, at + 1))
    steps.push_back(xplane[at + value.size()]);
  return steps;
}

TEST_CASE("the profile of a step has its ops, and not those of a validation before it") {
  const Points points(40);
  const TemporaryFolder folder;
  for (const i64 step : {3, 5}) {  // within an epoch, and the first of one; a validation comes before both
    train::Trainer(network(), options())
        .fit(points.batches(10), {.epochs = 2,
                                  .validation_data = points.batches(20),
                                  .validation_every = step == 3 ? 2 : 0,
                                  .callbacks = {summary::TensorBoard(folder / "logs", {.profile_steps = {step}})},
                                  .progress = {.mode = train::ProgressMode::none}});
    const std::string number = std::to_string(step);
    const std::string json = testing::bytes_of_file(folder / "logs/profile_step_" + number + ".json");
    CHECK(json.find("\"traceEvents\"") != json.npos);
    CHECK(json.find("\"train\"") != json.npos);
    CHECK(json.find("\"test\"") == json.npos);
    const std::string profile = xplane(folder / "logs/plugins/profile/steps_" + number + "_" + number);
    CHECK(has_call(profile, "train"));
    CHECK(!has_call(profile, "test"));
    CHECK(steps_in(profile) == std::vector{static_cast<int>(step)});
    const Profiler free;  // raises if another one is active
  }
  CHECK(!std::filesystem::exists(folder / "logs/profile_step_4.json"));
  for (const summary::ProfileSteps& steps : {summary::ProfileSteps{1, 0}, {1, 5}, {-1, 0}, {5, 4}, {0, 3}})
    CHECK(testing::error_of([&] { summary::TensorBoard("x", {.profile_steps = steps}); }).find("at least 2") !=
          std::string::npos);
}

TEST_CASE("a profile of several steps leaves out a validation between them, and ends with the training") {
  const Points points(40);
  const TemporaryFolder folder;
  const auto fit = [&](const std::string& logs, summary::ProfileSteps steps) {
    train::Trainer(network(), options())
        .fit(points.batches(10), {.epochs = 2,
                                  .validation_data = points.batches(20),
                                  .callbacks = {summary::TensorBoard(logs, {.profile_steps = steps})},
                                  .progress = {.mode = train::ProgressMode::none}});
    const Profiler free;
  };
  fit(folder / "a", {3, 6});
  const std::string a = xplane(folder / "a/plugins/profile/steps_3_6");
  CHECK(steps_in(a) == std::vector{3, 4, 5, 6});
  CHECK(!has_call(a, "test"));
  fit(folder / "b", {7, 30});
  CHECK(steps_in(xplane(folder / "b/plugins/profile/steps_7_8")) == std::vector{7, 8});
  CHECK(std::filesystem::exists(folder / "b/profile_step_8.json"));
  CHECK(!std::filesystem::exists(folder / "b/profile_step_9.json"));
  fit(folder / "c", {9, 10});  // never
  CHECK(!std::filesystem::exists(folder / "c/plugins"));
}

TEST_CASE("what cannot be written is one warning, and an error when training has ended") {
  const Points points(40);
  const TemporaryFolder folder;
  const std::string file = folder.file("logs", "a file in the place of the folder");
  static int warnings;
  warnings = 0;
  set_warning_handler([](const char* text) {
    warnings += std::string_view(text).find("does not end the training") != std::string_view::npos;
  });
  train::Trainer trainer(network(), options());
  const std::string error = testing::error_of<errors::UnavailableError>([&] {
    trainer.fit(points.batches(10),
                {.epochs = 3,
                 .validation_data = points.batches(20),
                 .callbacks = {summary::TensorBoard(
                     file, {.update_freq = 1, .histogram_freq = 1, .profile_steps = {3}, .hparams = {{"lr", 0.1}}})},
                 .progress = {.mode = train::ProgressMode::none},
                 .directory = folder / "run"});
  });
  set_warning_handler(nullptr);
  CHECK(error.find(file) != error.npos);
  CHECK(warnings == 1);
  CHECK(trainer.step() == 12);
  CHECK(train::latest_checkpoint(folder / "run/checkpoints").ends_with("ckpt-12.safetensors"));
}
// Runs 18 steps in which files cannot grow beyond 50 bytes after the steps first ... last - 1. Returns the warnings;
// the error of fit is in `error`.
std::vector<std::string> fit_on_full_disk(const std::string& run, i64 first, i64 last, std::string& error) {
  static std::vector<std::string> warnings;
  warnings.clear();
  set_warning_handler([](const char* text) { warnings.push_back(text); });
  const Points points(60);
  const auto full =
      train::LambdaCallback({.on_step_end = [=, small = std::shared_ptr<testing::SmallFiles>()](train::Run& r) mutable {
        const bool is_full = r.step() >= first && r.step() < last;
        if (is_full && !small) small = std::make_shared<testing::SmallFiles>(50);
        if (!is_full) small.reset();
      }});
  error = testing::error_of([&] {
    train::Trainer(network(), options())
        .fit(points.batches(10),
             {.epochs = 3,
              .validation_data = points.batches(20),
              .callbacks = {full, summary::TensorBoard(run + "/events", {.update_freq = 1, .hparams = {{"lr", 0.1}}})},
              .progress = {.mode = train::ProgressMode::none},
              .directory = run,
              .save_steps = 3});
  });
  set_warning_handler(nullptr);
  return warnings;
}
i64 files_in(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

TEST_CASE("a full disk is one warning of the callback, whose files are tried again, and leaves no part of one") {
  const TemporaryFolder folder;
  const auto of_callback = [](const std::vector<std::string>& warnings) {
    return std::count_if(warnings.begin(), warnings.end(),
                         [](const std::string& w) { return w.find("/events/") != w.npos; });
  };
  std::string error;
  const std::vector<std::string> for_a_while = fit_on_full_disk(folder / "a", 5, 14, error);
  CHECK(of_callback(for_a_while) == 1);
  CHECK(for_a_while.size() == 2);  // the other one of checkpoints
  CHECK(error.find("/events/validation") != error.npos);
  CHECK(files_in(folder / "a/events/validation") == 1);
  CHECK(scalars(folder / "a/events/validation", "loss").size() == 1);  // that of step 18
  CHECK(scalars(folder / "a/events/train", "step_loss").size() == 18);
  CHECK(scalars(folder / "a/events/train", "loss").size() == 3);

  const std::vector<std::string> to_the_end = fit_on_full_disk(folder / "b", 5, 1000, error);
  CHECK(of_callback(to_the_end) == 1);
  CHECK(to_the_end.size() == 2);
  CHECK(error != "no error");
  CHECK(files_in(folder / "b/events/validation") == 0);
}
TEST_CASE("a callback that throws when training has ended takes nothing back of what was written") {
  const Points points(40);
  const TemporaryFolder folder;
  const auto thrower = train::LambdaCallback({.on_end = [](train::Run&) { throw std::runtime_error("at the end"); }});
  train::Trainer trainer(network(), options());
  CHECK_THROWS_WITH(trainer.fit(points.batches(10), {.epochs = 3,
                                                     .callbacks = {summary::TensorBoard(folder / "logs"), thrower},
                                                     .progress = {.mode = train::ProgressMode::none}}),
                    "at the end");
  const std::string page = summary::report_html(folder / "logs");
  CHECK(page.find("at the end") != page.npos);
  CHECK(page.find(">loss<") != page.npos);  // the curve
}

TEST_CASE("after a loss that is not a number, the report says where, and the last good checkpoint is there") {
  Points points(40);
  points.x = points.x + reshape(where(range(40) == 25, std::nanf(""), 0.f), {40, 1});  // in the third batch
  const TemporaryFolder folder;
  const layers::Sequential net = network();
  const std::string error = testing::error_of([&] {
    train::Trainer(net, options())
        .fit(points.batches(10), {.callbacks = {train::TerminateOnNaN(), summary::TensorBoard(folder / "run/events")},
                                  .progress = {.mode = train::ProgressMode::none},
                                  .directory = folder / "run",
                                  .save_steps = 1});
  });
  CHECK(error.find("step 3") != error.npos);
  const std::string page = summary::report_html(folder / "run/events");
  CHECK(page.find("exception of train, step 2") != page.npos);
  CHECK(page.find("step 3 of epoch 1") != page.npos);
  CHECK(train::latest_checkpoint(folder / "run/checkpoints").ends_with("ckpt-2.safetensors"));
  for (const auto& weights : weights_of(net))
    for (const float w : weights) CHECK(std::isfinite(w));
}

TEST_CASE("a frequency cannot be negative") {
  CHECK(testing::error_of([] { summary::TensorBoard("x", {.update_freq = -1}); }).find("update_freq") !=
        std::string::npos);
}

}  // namespace tensor_board_test
