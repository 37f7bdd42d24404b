// A run with checkpoints and events that is killed again and again: it ends with the same bits, and its event files
// have the same values as those of a run that nobody has killed.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "tandem/io/file.hpp"
#include "tandem/summary/reader.hpp"
#include "tandem/summary/tensor_board.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/train/problem.hpp"

namespace kill_test {
using namespace training;
using testing::TemporaryFolder;

const Points& points() {
  static const Points p(60);
  return p;
}
// Trains in a folder, or goes on there, and writes what is left of the run to the file "result": weights, averages and
// history.
void train_in(const std::string& folder) {
  const layers::Sequential net = unbuilt_network();
  train::TrainerOptions o = options();
  o.ema = 0.9;
  o.accumulate_steps = 2;
  train::Trainer trainer(net, o);
  const train::History h = trainer.fit(
      points().shuffled(8), {.epochs = 5,
                             .validation_data = points().batches(30),
                             .callbacks = {train::EarlyStopping({.patience = 10, .restore_best_weights = true}),
                                           summary::TensorBoard(folder + "/events", {.update_freq = 1}),
                                           train::ReduceLROnPlateau({.factor = 0.5, .patience = 1, .min_delta = 0.05})},
                             .progress = {.mode = train::ProgressMode::none},
                             .directory = folder + "/run",
                             .save_steps = 3});
  std::string result = h.to_text();
  trainer.ema().assign_averages();
  for (const auto& w : weights_of(net)) result.append(reinterpret_cast<const char*>(w.data()), 4 * w.size());
  io::write_file(folder + "/result", result);
}
// The scalars of a folder that TensorBoard shows: from the step of a restart on, those of earlier files do not count.
using Scalars = std::map<std::pair<i64, std::string>, double>;
Scalars scalars_of(const std::string& events) {
  Scalars r;
  for (const summary::Event& event : summary::read_events(events)) {  // raises for a torn record that is not the last
    if (event.is_restart) std::erase_if(r, [&](const auto& entry) { return entry.first.first >= event.step; });
    for (const summary::Value& value : event.values) {
      const double x = std::get<double>(value.content);
      const auto [at, is_new] = r.try_emplace({event.step, value.tag}, x);
      CHECK(at->second == x);
    }
  }
  return r;
}

void kill_at_random_moments(int wanted) {
  const TemporaryFolder whole;
  const auto begin = std::chrono::steady_clock::now();
  train_in(whole.path);
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin;
  const std::string expected = io::read_file(whole / "result");
  const Scalars training = scalars_of(whole / "events/train"), validation = scalars_of(whole / "events/validation");
  REQUIRE(training.size() == 40 * 2 + 5 * 3);  // loss and accuracy of each step; these and the rate of each epoch
  REQUIRE(validation.size() == 5 * 2);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> moment(0, 0.7 * duration.count());
  int runs = 0;
  for (int kills = 0; kills < wanted; ++runs) {
    const TemporaryFolder folder;
    for (bool complete = false; !complete;) {
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        ::alarm(60);  // ends a child that hangs
        train_in(folder.path);
        ::_exit(0);
      }
      std::this_thread::sleep_for(std::chrono::duration<double>(moment(random)));
      if (kills < wanted) ::kill(child, SIGKILL);
      int status = 0;
      ::waitpid(child, &status, 0);
      complete = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      REQUIRE((complete || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)));
      kills += !complete;
    }
    INFO("run " << runs << ", after " << kills << " kills");
    CHECK(io::read_file(folder / "result") == expected);
    CHECK(scalars_of(folder / "events/train") == training);
    CHECK(scalars_of(folder / "events/validation") == validation);
  }
}

TEST_CASE("killed at 20 random moments, runs with checkpoints and events end as those that are not") {
  kill_at_random_moments(20);
}
TEST_CASE("the same at 200 moments", "[.thorough]") { kill_at_random_moments(200); }

}  // namespace kill_test
