// What Trainer::fit costs, in Tandem: the loop by hand, and the same steps by fit, "@fit", also with the checks of
// gradients and losses that TerminateOnNaN asks for, "@fit_checked".
#include <tandem/train.hpp>

#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::fit;

constexpr std::int64_t checked_steps = 4;
// Each call of fit() begins an epoch: with the character RNN, of which a sample would have one step alone, the cost of
// that is divided among as many.
constexpr std::int64_t steps_of_a_run = 8;

bench::Work by_hand(const Problem& p) {
  random::set_seed(2);
  const auto loop = std::make_shared<ByHand>(p, p.batches(p.steps));
  bench::Work work;
  work.run = [loop](std::int64_t n) { loop->run(n * steps_of_a_run); };
  work.units = steps_of_a_run;
  work.result = [loop] {
    loop->run(checked_steps);
    return std::vector<float>{static_cast<float>(loop->loss())};
  };
  return work;
}
bench::Work by_fit(const Problem& p, bool checked) {
  random::set_seed(2);
  const Batches batches = p.batches(p.steps);
  const auto trainer = std::make_shared<train::Trainer>(
      built(p, batches), train::TrainerOptions{.loss = p.loss, .optimizer = optimizer()});
  const auto fit = [=](std::int64_t steps) {
    train::FitOptions o{.steps = steps, .progress = {.mode = train::ProgressMode::none}};
    if (checked) o.callbacks = {train::TerminateOnNaN()};
    return trainer->fit(batches, o);
  };
  bench::Work work;
  work.run = [fit](std::int64_t n) { fit(n * steps_of_a_run); };
  work.units = steps_of_a_run;
  work.result = [fit] { return std::vector<float>{static_cast<float>(fit(checked_steps)["loss"].back())}; };
  return work;
}
void add(const Problem& p) {
  const std::string name = std::string("fit_step/") + p.name;
  bench::add(name, [p] { return by_hand(p); });
  bench::add(name + "@fit", [p] { return by_fit(p, false); });
  bench::add(name + "@fit_checked", [p] { return by_fit(p, true); });
}
bool add_all() {
  add(tiny_problem());
  add(rnn_problem());
  return true;
}

[[maybe_unused]] const bool added = add_all();
}  // namespace
