// Adam in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::adam;

struct State {
  tandem::optimizers::Adam adam{
      {.learning_rate = learning_rate, .beta_1 = beta_1, .beta_2 = beta_2, .epsilon = epsilon}};
  std::vector<tandem::Variable> weights;
  std::vector<tandem::Gradient> gradients;

  explicit State(const Case& c) {
    for (const std::int64_t n : c.parts()) {
      weights.emplace_back(bench::tandem_normal({n}, 1));
      gradients.push_back(bench::tandem_normal({n}, 2));
    }
  }

  void step() { adam.apply_gradients(gradients, weights); }
};

bench::Work update(const Case& c) {
  auto state = std::make_shared<State>(c);
  return bench::steps([state] { state->step(); },
                      [state] {
                        state->step();
                        return bench::values_of({state->weights.begin(), state->weights.end()});
                      });
}

bool add_all() {
  for (const Case& c : cases) bench::add(c.name, [&c] { return update(c); });
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
