// What Trainer::fit costs: steps in a loop by hand, by fit (@fit), and by fit with a progress line and TensorBoard's
// values every 100 steps (@watched). The character RNN is that of char_rnn_step/work.hpp; the tiny network shows what
// fit adds to any step. An iteration is so many steps as the name says, since fit prepares itself once.
#include <tandem/data.hpp>
#include <tandem/summary.hpp>
#include <tandem/train.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../char_rnn_step/work.hpp"
#include "../support/tandem.hpp"

namespace {
using namespace tandem;

struct Problem {
  const char* name;
  i64 steps;  // of an epoch
  layers::Sequential (*network)();
  losses::Loss loss;
  data::Dataset<std::array<Tensor, 2>> (*batches)(i64 steps);
};

namespace rnn {
using namespace bench::char_rnn;
layers::Sequential network() {
  return layers::Sequential{layers::Embedding(symbols, units), layers::LSTM(units, {.return_sequences = true}),
                            layers::LSTM(units, {.return_sequences = true}), layers::Dense(symbols)};
}
data::Dataset<std::array<Tensor, 2>> batches(i64 n) {
  return data::from_tensor_slices(
      {bench::tandem_indices({n, batch, steps}, symbols, 1), bench::tandem_indices({n, batch, steps}, symbols, 2)});
}
}  // namespace rnn
namespace tiny {
layers::Sequential network() { return layers::Sequential{layers::Dense(4, nn::relu), layers::Dense(1)}; }
data::Dataset<std::array<Tensor, 2>> batches(i64 n) {
  return data::from_tensor_slices({bench::tandem_normal({n, 8, 3}, 1), bench::tandem_normal({n, 8, 1}, 2)});
}
}  // namespace tiny

const Problem problems[] = {{"fit_step/char_rnn_10", 10, rnn::network,
                             losses::SparseCategoricalCrossentropy({.from_logits = true}), rnn::batches},
                            {"fit_step/tiny_1000", 1000, tiny::network, losses::MeanSquaredError(), tiny::batches}};

Optimizer optimizer() {
  return optimizers::Adam({.learning_rate = rnn::learning_rate, .epsilon = rnn::epsilon, .global_clipnorm = rnn::clip});
}
// Work that trains for an epoch and returns the mean of its losses; what is compared is that of the first epoch.
bench::Work epochs(const Problem& p, std::function<double()> train) {
  bench::Work w;
  w.run = [train](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) train();
  };
  w.result = [train] { return std::vector<float>{static_cast<float>(train())}; };
  w.units = static_cast<double>(p.steps);
  return w;
}

// The network, with its weights.
layers::Sequential built(const Problem& p) {
  random::set_seed(1);
  const layers::Sequential net = p.network();
  for (const auto& [x, y] : p.batches(1).epoch(0)) net(x);
  return net;
}

bench::Work by_hand(const Problem& p) {
  const layers::Sequential net = built(p);
  const Optimizer adam = optimizer();
  const auto step = function([=, loss = p.loss](const Tensor& x, const Tensor& y) {
    const training_scope training(true);
    GradientTape tape;
    const Tensor value = loss(y, net(x));
    const std::vector<Variable> weights = net.trainable_variables();
    adam.apply_gradients(tape.gradient(value, weights), weights);
    return value;
  });
  const auto ds = p.batches(p.steps);
  const auto epoch = std::make_shared<i64>(0);
  return epochs(p, [=, n = p.steps] {
    Tensor sum = zeros({});
    for (const auto& [x, y] : ds.epoch((*epoch)++)) sum = sum + step(x, y);
    return sum.item<float>() / static_cast<double>(n);
  });
}

// A folder and a file for progress that exist as long as the object.
struct Watching {
  std::string folder = (std::filesystem::temp_directory_path() / ("bench_fit" + std::to_string(std::rand()))).string();
  std::ofstream progress{"/dev/null"};
  ~Watching() { std::filesystem::remove_all(folder); }
};
bench::Work by_fit(const Problem& p, bool watched) {
  const auto trainer =
      std::make_shared<train::Trainer>(built(p), train::TrainerOptions{.loss = p.loss, .optimizer = optimizer()});
  const auto watching = std::make_shared<Watching>();
  train::FitOptions o{.progress = {.mode = train::ProgressMode::none}};
  if (watched) {
    o.callbacks = {summary::TensorBoard(watching->folder, {.update_freq = 100})};
    o.progress = {.mode = train::ProgressMode::terminal, .output = &watching->progress, .columns = 100};
  }
  return epochs(p, [=, kept = watching, ds = p.batches(p.steps)] { return trainer->fit(ds, o)["loss"].back(); });
}

bool add_all() {
  for (const Problem& p : problems) {
    bench::add(p.name, [&] { return by_hand(p); });
    bench::add(std::string(p.name) + "@fit", [&] { return by_fit(p, false); });
    bench::add(std::string(p.name) + "@watched", [&] { return by_fit(p, true); });
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
