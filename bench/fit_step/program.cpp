// What Trainer::fit costs: its steps against those of a loop by hand, in turns within one process, by the time of the
// processor, so that other programs disturb both alike. The character RNN is that of char_rnn_step/work.hpp; the tiny
// network shows what fit adds to any step. "watched" has a progress line, and TensorBoard's values every 100 steps, of
// the RNN every 20.
//   build/release/bench/fit_step [ROUNDS]
// Each round has networks of its own; figures are medians of the rounds, with their quartiles. The exit status is 1 if
// fit takes half a percent longer with the character RNN. By default it takes some four minutes of one processor.
#include <fmt/format.h>
#include <unistd.h>

#include <tandem/summary.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "work.hpp"

namespace {
using namespace tandem;
using bench::fit::Batches, bench::fit::built, bench::fit::ByHand, bench::fit::optimizer;

struct Problem : bench::fit::Problem {
  i64 turn;   // steps that are measured together
  i64 turns;  // of a round
};

double processor_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// After each turn of fit, one by hand.
struct Turns : train::Callback {
  Turns(ByHand& loop, i64 steps) : by_hand(loop), turn(steps) {}
  void on_begin(train::Run&) override { begin = processor_seconds(); }
  void on_step_end(train::Run& run) override {
    if (run.step() % turn != 0) return;
    const double middle = processor_seconds();
    by_hand.run(turn);
    const double end = processor_seconds();
    if (run.step() / turn > unmeasured) fit += middle - begin, hand += end - middle;
    begin = processor_seconds();
  }
  static constexpr i64 unmeasured = 2;  // the first ones, which have the traces
  ByHand& by_hand;
  const i64 turn;
  double begin = 0, fit = 0, hand = 0;  // seconds
};

struct Seconds {
  double fit, hand;  // of a step
};
// A folder that exists as long as the object.
struct Folder {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("bench_fit" + std::to_string(::getpid()))).string();
  ~Folder() { std::filesystem::remove_all(path); }
};
// With networks of its own: where these lie in memory makes a difference, too.
Seconds round(const Problem& p, bool watched, bool hand_first) {
  random::set_seed(2);
  const Batches batches = p.batches(p.steps);
  std::optional<ByHand> by_hand;
  if (hand_first) by_hand.emplace(p, batches);
  train::Trainer trainer(built(p, batches), train::TrainerOptions{.loss = p.loss, .optimizer = optimizer()});
  if (!hand_first) by_hand.emplace(p, batches);
  const Folder folder;
  std::ofstream progress("/dev/null");
  const auto turns = std::make_shared<Turns>(*by_hand, p.turn);
  train::FitOptions o{.steps = (p.turns + Turns::unmeasured) * p.turn, .progress = {.mode = train::ProgressMode::none}};
  if (watched) {
    o.callbacks = {summary::TensorBoard(folder.path, {.update_freq = std::min<i64>(100, p.turns * p.turn)})};
    o.progress = {.mode = train::ProgressMode::terminal, .output = &progress, .columns = 100};
  }
  o.callbacks.push_back(turns);
  const train::History history = trainer.fit(batches, o);
  const double loss = history["loss"].front();
  if (!(std::fabs(loss - by_hand->first_loss()) <= 1e-4 * std::fabs(loss)))
    throw std::runtime_error(fmt::format("{}: losses differ: {} and {}", p.name, loss, by_hand->first_loss()));
  const double steps = static_cast<double>(p.turns * p.turn);
  return {turns->fit / steps, turns->hand / steps};
}

double quantile(std::vector<double> x, double q) {
  std::sort(x.begin(), x.end());
  return x[static_cast<std::size_t>(q * static_cast<double>(x.size() - 1) + 0.5)];
}
// Returns the median of the rounds' ratios.
double compare(const Problem& p, bool watched, int rounds) {
  std::vector<double> ratios, differences, times;
  for (int i = 0; i < rounds; ++i) {
    const auto [fit, hand] = round(p, watched, i % 2 == 0);
    ratios.push_back(fit / hand), differences.push_back(fit - hand), times.push_back(hand);
  }
  const auto percent = [&](double q) { return 100 * (quantile(ratios, q) - 1); };
  fmt::print("{:9} {:8} {:10.2f} us by hand {:+8.2f} us {:+7.3f} % ({:+.3f} to {:+.3f})\n", p.name,
             watched ? "watched" : "fit", 1e6 * quantile(times, 0.5), 1e6 * quantile(differences, 0.5), percent(0.5),
             percent(0.25), percent(0.75));
  std::fflush(stdout);
  return quantile(ratios, 0.5);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 15;
  config::set_intra_op_parallelism_threads(1);
  const Problem problems[] = {{bench::fit::tiny_problem(), 100, 100}, {bench::fit::rnn_problem(), 1, 20}};
  double most = 0;
  for (const Problem& p : problems)
    for (const bool watched : {false, true}) {
      const double ratio = compare(p, watched, rounds);
      if (p.name == std::string("char_rnn")) most = std::max(most, ratio);
    }
  return most > 1.005;
}
