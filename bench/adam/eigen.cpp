// Adam by hand in Eigen.
#include "../support/eigen_adam.hpp"
#include "work.hpp"

namespace {
using namespace bench::adam;

struct State {
  bench::EigenAdam adam{.learning_rate = learning_rate, .epsilon = epsilon};
  std::vector<bench::EigenParameter> parameters;

  explicit State(const Case& c) {
    for (const std::int64_t n : c.parts()) {
      parameters.emplace_back(bench::eigen_normal(1, n, 1));
      parameters.back().gradient = bench::eigen_normal(1, n, 2);
    }
  }

  void step() {
    adam.advance();
    for (auto& p : parameters) p.update(adam);
  }

  std::vector<float> values() const {
    std::vector<float> all;
    for (const auto& p : parameters) all.insert(all.end(), p.value.data(), p.value.data() + p.value.size());
    return all;
  }
};

bench::Work by_hand(const Case& c) {
  auto state = std::make_shared<State>(c);
  return bench::steps([state] { state->step(); },
                      [state] {
                        state->step();
                        return state->values();
                      });
}

bool add_all() {
  for (const Case& c : cases) bench::add(c.name, [&c] { return by_hand(c); });
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
