// What Trainer::fit costs: training steps of the character RNN (char_rnn_step/work.hpp) in a loop by hand, by fit
// (@fit), and by fit with a progress line and TensorBoard's values every 100 steps (@watched). An iteration is so many
// steps, as fit prepares itself once.
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
namespace rnn = bench::char_rnn;

constexpr const char* name = "fit_step/char_rnn_10";
constexpr i64 count = 10;

layers::Sequential network() {
  random::set_seed(1);
  return layers::Sequential{layers::Embedding(rnn::symbols, rnn::units),
                            layers::LSTM(rnn::units, {.return_sequences = true}),
                            layers::LSTM(rnn::units, {.return_sequences = true}), layers::Dense(rnn::symbols)};
}
losses::Loss loss() { return losses::SparseCategoricalCrossentropy({.from_logits = true}); }
Optimizer optimizer() {
  return optimizers::Adam({.learning_rate = rnn::learning_rate, .epsilon = rnn::epsilon, .global_clipnorm = rnn::clip});
}
data::Dataset<std::array<Tensor, 2>> batches() {
  return data::from_tensor_slices({bench::tandem_indices({count, rnn::batch, rnn::steps}, rnn::symbols, 1),
                                   bench::tandem_indices({count, rnn::batch, rnn::steps}, rnn::symbols, 2)});
}
// The losses of the first steps, which all variants have in common.
bench::Work work(std::function<double()> run) {
  bench::Work w;
  w.run = [run](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) run();
  };
  w.result = [run] { return std::vector<float>{static_cast<float>(run())}; };
  w.units = count;
  return w;
}

bench::Work by_hand() {
  const layers::Sequential net = network();
  const Optimizer adam = optimizer();
  const losses::Loss measure = loss();
  const auto step = function([=](const Tensor& x, const Tensor& y) {
    const training_scope training(true);
    GradientTape tape;
    const Tensor value = measure(y, net(x));
    const std::vector<Variable> weights = net.trainable_variables();
    adam.apply_gradients(tape.gradient(value, weights), weights);
    return value;
  });
  const auto ds = batches();
  const auto epoch = std::make_shared<i64>(0);
  return work([=] {
    Tensor sum = zeros({});
    for (const auto& [x, y] : ds.epoch((*epoch)++)) sum = sum + step(x, y);
    return sum.item<float>() / static_cast<double>(count);
  });
}

// A folder and a file for progress that exist as long as the process.
struct Watching {
  std::string folder = (std::filesystem::temp_directory_path() / ("bench_fit" + std::to_string(std::rand()))).string();
  std::ofstream progress{"/dev/null"};
  ~Watching() { std::filesystem::remove_all(folder); }
};
bench::Work by_fit(bool watched) {
  const auto trainer =
      std::make_shared<train::Trainer>(network(), train::TrainerOptions{.loss = loss(), .optimizer = optimizer()});
  const auto watching = std::make_shared<Watching>();
  train::FitOptions o{.progress = {.mode = train::ProgressMode::none}};
  if (watched) {
    o.callbacks = {summary::TensorBoard(watching->folder, {.update_freq = 100})};
    o.progress = {.mode = train::ProgressMode::terminal, .output = &watching->progress, .columns = 100};
  }
  return work([=, kept = watching, ds = batches()] { return trainer->fit(ds, o)["loss"].back(); });
}

[[maybe_unused]] const bool added[] = {bench::add(name, by_hand),
                                       bench::add(std::string(name) + "@fit", [] { return by_fit(false); }),
                                       bench::add(std::string(name) + "@watched", [] { return by_fit(true); })};
}  // namespace
