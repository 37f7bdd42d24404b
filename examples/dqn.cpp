// dqn: a network learns to balance a pole on a cart by trying, and draws how long it stays up.
//   dqn                       half a minute
// Q-learning with a network, a memory of what happened, and a second network that follows slowly (Mnih et al. 2015,
// "Human-level control through deep reinforcement learning"; van Hasselt et al. 2015 for the double estimate).
#include <fmt/core.h>
#include <cmath>
#include <random>

#include <tandem/plot.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/training.hpp"

using namespace tandem;

namespace {

struct Options {
  std::string picture = "dqn.svg", device = "CPU:0";
  i64 steps = 40'000, seed = 1;  // steps: of the carts, all together
};

using State = std::array<float, 4>;  // place and speed of the cart, angle and angular speed of the pole

// A pole on a cart, which is pushed to the left or to the right (Barto, Sutton and Anderson 1983, "Neuronlike adaptive
// elements that can solve difficult learning control problems"). An episode ends when the pole leans by more than 12
// degrees or the cart leaves its track; or after 500 steps.
class Cart {
 public:
  explicit Cart(std::uint64_t seed) : random_(seed) { begin(); }
  const State& state() const { return state_; }
  i64 steps() const { return steps_; }
  bool has_failed() const { return std::abs(state_[0]) > 2.4f || std::abs(state_[2]) > 0.2095f; }
  bool is_over() const { return has_failed() || steps_ >= 500; }
  void begin() {
    std::uniform_real_distribution<float> near(-0.05f, 0.05f);
    for (float& x : state_) x = near(random_);
    steps_ = 0;
  }
  void push(bool right) {
    constexpr float gravity = 9.8f, pole_mass = 0.1f, mass = 1.1f, half_length = 0.5f, seconds = 0.02f;
    auto& [place, speed, angle, turn] = state_;
    const float s = std::sin(angle), c = std::cos(angle);
    const float force = ((right ? 10.f : -10.f) + pole_mass * half_length * turn * turn * s) / mass;
    const float turning = (gravity * s - c * force) / (half_length * (4.f / 3 - pole_mass * c * c / mass));
    const float pushing = force - pole_mass * half_length * turning * c / mass;
    place += seconds * speed, speed += seconds * pushing, angle += seconds * turn, turn += seconds * turning;
    ++steps_;
  }

 private:
  std::mt19937_64 random_;
  State state_{};
  i64 steps_ = 0;
};

// The latest moves: states [n, 4], moves int32 [n], whether the pole stayed up [n], the states after them [n, 4].
class Memory {
 public:
  void add(const State& before, int move, bool stays, const State& after) {
    const Move m{before, after, move, stays ? 1.f : 0.f};
    if (moves_.size() < most) moves_.push_back(m);
    else moves_[next_++ % most] = m;
  }
  std::vector<Tensor> draw(i64 n, std::mt19937_64& random) const {
    std::vector<float> before, after, stays;
    std::vector<std::int32_t> which;
    for (i64 i = 0; i < n; ++i) {
      const Move& m = moves_[random() % moves_.size()];
      before.insert(before.end(), m.before.begin(), m.before.end());
      after.insert(after.end(), m.after.begin(), m.after.end());
      which.push_back(m.move), stays.push_back(m.stays);
    }
    return {constant(before, {.shape = {n, 4}}), constant(which), constant(stays), constant(after, {.shape = {n, 4}})};
  }

 private:
  static constexpr std::size_t most = 20'000;
  struct Move {
    State before, after;
    int move;
    float stays;
  };
  std::vector<Move> moves_;
  std::size_t next_ = 0;
};

// What each of two pushes is worth: 0 for a pole that stays up for ever; -0.99^n for one that falls after n more steps.
layers::Sequential network() {
  layers::Sequential net{layers::Dense(64, nn::relu), layers::Dense(64, nn::relu), layers::Dense(2)};
  net.build({none, 4});
  return net;
}

// The better push for each cart.
std::vector<i64> choose(const layers::Sequential& net, const std::vector<Cart>& carts) {
  std::vector<float> states;
  for (const Cart& c : carts) states.insert(states.end(), c.state().begin(), c.state().end());
  return cast(argmax(net(constant(states, {.shape = {std::ssize(carts), 4}})), 1), int64).to_vector<i64>();
}

// The mean number of steps that a pole stays up, of 50 carts.
double mean_return(const layers::Sequential& net, i64 seed) {
  std::vector<Cart> carts;
  for (i64 i = 0; i < 50; ++i) carts.emplace_back(static_cast<std::uint64_t>(1'000'000 + 50 * seed + i));
  double sum = 0;
  while (!carts.empty()) {
    const std::vector<i64> moves = choose(net, carts);
    for (std::size_t i = 0; i < carts.size(); ++i) carts[i].push(moves[i] == 1);
    std::erase_if(carts, [&](const Cart& c) { return c.is_over() && (sum += static_cast<double>(c.steps()), true); });
  }
  return sum / 50;
}

// One step of learning from moves as Memory::draw has them; returns the loss.
auto make_step(const layers::Sequential& net, const layers::Sequential& slow, const optimizers::Adam& adam) {
  return function([=](const std::vector<Tensor>& moves) {
    const Tensor &before = moves[0], &which = moves[1], &stays = moves[2], &after = moves[3];
    const Tensor best = one_hot(argmax(net(after), 1), 2);  // chosen by one network, valued by the other
    const Tensor worth = stays * (1 + 0.99f * reduce_sum(slow(after) * best, 1)) - 1;
    const losses::Huber huber;
    const Tensor loss =
        adam.minimize([&] { return huber(stop_gradient(worth), reduce_sum(net(before) * one_hot(which, 2), 1)); },
                      net.trainable_variables());
    const std::vector<Variable> from = net.variables(), to = slow.variables();
    for (std::size_t i = 0; i < to.size(); ++i) to[i].assign(to[i] + 0.01f * (from[i] - to[i]));
    return loss;
  });
}

int learn(const Options& o) {
  random::set_seed(o.seed);  // of the initial weights
  const layers::Sequential net = network(), slow = network();
  for (std::size_t i = 0; i < net.variables().size(); ++i) slow.variables()[i].assign(net.variables()[i]);
  const optimizers::schedules::CosineDecay rate(1e-3, double(o.steps) / 2);  // half as many updates as steps
  const auto step = make_step(net, slow, optimizers::Adam({.learning_rate = rate, .global_clipnorm = 10}));
  const double before = mean_return(net, o.seed);

  std::mt19937_64 random(static_cast<std::uint64_t>(o.seed));
  std::vector<Cart> carts;
  for (i64 i = 0; i < 8; ++i) carts.emplace_back(static_cast<std::uint64_t>(8 * o.seed + i));
  Memory memory;
  std::vector<double> returns, at;  // of the episodes, and when they ended
  train::Interrupt interrupt;
  train::Progress progress(o.steps, training::progress());
  for (i64 done = 0; done < o.steps && !interrupt.requested();) {
    const double curious = std::max(0.05, 1 - double(done) / (0.3 * double(o.steps)));  // the share of random pushes
    const std::vector<i64> moves = choose(net, carts);
    for (std::size_t i = 0; i < carts.size(); ++i, ++done) {
      const State from = carts[i].state();
      const int move = std::uniform_real_distribution<>()(random) < curious ? int(random() % 2) : int(moves[i]);
      carts[i].push(move == 1);
      memory.add(from, move, !carts[i].has_failed(), carts[i].state());
      if (!carts[i].is_over()) continue;
      returns.push_back(double(carts[i].steps())), at.push_back(double(done));
      carts[i].begin();
    }
    if (done < 1000) continue;
    Tensor loss;
    for (int i = 0; i < 4; ++i) loss = step(memory.draw(64, random));
    progress.step(done, [&] { return train::Figures{{"return", returns.back()}, {"loss", loss.item<float>()}}; });
  }
  progress.end();
  if (interrupt.requested()) {
    fmt::print("interrupted\n");
    return interrupt.exit_status();
  }
  plot::lines({{"episodes", returns, at}}, {.title = "How long the pole stays up",
                                            .x_label = "steps of all carts",
                                            .y_label = "steps of an episode, 500 at most",
                                            .smoothing = 0.9,
                                            .y_min = 0,
                                            .y_max = 500})
      .save(o.picture);
  fmt::print("the pole stays up for {:.0f} steps before and {:.0f} after, of at most 500; {} episodes, drawn in {}\n",
             before, mean_return(slow, o.seed), returns.size(), o.picture);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("A network learns to balance a pole on a cart.");
  app.add_option("--picture", o.picture, "file of the picture")->capture_default_str();
  arguments::add(app, "--steps", o.steps, 1, "of all carts together");
  arguments::add(app, "--seed", o.seed, 0, "of everything random");
  program::add_device(app, o.device);
  return program::run("dqn", app, argc, argv, o, learn);
}
