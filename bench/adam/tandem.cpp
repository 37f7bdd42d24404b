// Adam in Tandem, eager and (@traced) as a traced function of the gradients.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::adam;

struct State {
  tandem::optimizers::Adam adam{
      {.learning_rate = learning_rate, .beta_1 = beta_1, .beta_2 = beta_2, .epsilon = epsilon}};
  std::vector<tandem::Variable> weights;
  std::vector<tandem::Tensor> gradients;

  explicit State(const Case& c) {
    for (const std::int64_t n : c.parts()) {
      weights.emplace_back(bench::tandem_normal({n}, 1));
      gradients.push_back(bench::tandem_normal({n}, 2));
    }
  }

  void step(const std::vector<tandem::Gradient>& g) { adam.apply_gradients(g, weights); }
};

/// `step` is called with gradients; `state` is what it updates.
template <class Gradients, class Step>
bench::Work update(std::shared_ptr<State> state, const Gradients& gradients, Step step) {
  return bench::steps([=] { step(gradients); },
                      [=] {
                        step(gradients);
                        return bench::values_of({state->weights.begin(), state->weights.end()});
                      });
}
bench::Work eager(const Case& c) {
  const auto state = std::make_shared<State>(c);
  const std::vector<tandem::Gradient> gradients(state->gradients.begin(), state->gradients.end());
  return update(state, gradients, [state](const std::vector<tandem::Gradient>& g) { state->step(g); });
}
bench::Work traced(const Case& c) {
  const auto state = std::make_shared<State>(c);
  const auto step = [state](const std::vector<tandem::Tensor>& g) { state->step({g.begin(), g.end()}); };
  return update(state, state->gradients, tandem::function(step));
}

bool add_all() {
  for (const Case& c : cases) {
    bench::add(c.name, [&c] { return eager(c); });
    bench::add(std::string(c.name) + "@traced", [&c] { return traced(c); });
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
