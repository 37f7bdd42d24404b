// Steps of data parallel training and sums over ranks, for bench/distribute/program.py, which compares them with
// PyTorch's DistributedDataParallel over Gloo (ddp.py does the same work):
//   tandem_run -n 2 -- build/release/bench/distribute_step WIDTH BATCH STEPS
//   mpirun --oversubscribe -np 2 --bind-to none build/release/bench/distribute_step WIDTH BATCH STEPS
// Rank 0 prints the losses of the first steps, the median time of a step, the part of it in which a rank only waits,
// and the time of sums of 4 KB to 32 MB, unless a fourth argument is "steps".
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <tandem/distribute_gloo.hpp>
#include <tandem/distribute_mpi.hpp>
#include <tandem/tandem.hpp>

namespace {

using namespace tandem;
using distribute::Communicator;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}
// Numbers in [-scale, scale) without a pattern, as ddp.py computes them.
Tensor noise(const Shape& shape, double scale, double seed) {
  std::vector<float> r(static_cast<std::size_t>(shape.known_size()));
  for (std::size_t i = 0; i < r.size(); ++i) {
    const double x = 43758.5453 * std::sin(12.9898 * static_cast<double>(i) + seed);
    r[i] = static_cast<float>(scale * (2 * (x - std::floor(x)) - 1));
  }
  return constant(r, {.shape = shape});
}

struct Net {
  std::vector<Variable> weights;

  explicit Net(i64 width) {
    const i64 widths[] = {784, width, width, 10};
    for (int l = 0; l < 3; ++l) {
      weights.emplace_back(noise({widths[l], widths[l + 1]}, 0.05, l));
      weights.emplace_back(zeros({widths[l + 1]}));
    }
  }
  Tensor operator()(Tensor x) const {
    for (std::size_t l = 0; l < 6; l += 2) {
      x = matmul(x, weights[l]) + weights[l + 1];
      if (l < 4) x = nn::relu(x);
    }
    return x;
  }
};

void time_steps(const distribute::MultiWorkerMirroredStrategy& strategy, i64 width, i64 batch, int steps) {
  const auto scope = strategy.scope();
  const Net net(width);
  const optimizers::Adam adam({.learning_rate = 1e-3, .epsilon = 1e-8});
  const auto step = function([&](const Tensor& x, const Tensor& y) {
    GradientTape tape;
    const Tensor loss =
        nn::compute_average_loss(nn::sparse_softmax_cross_entropy_with_logits(y, net(x)), {.global_batch_size = batch});
    adam.apply_gradients(tape.gradient(loss, net.weights), net.weights);
    return loss;
  });
  const Communicator& world = strategy.group();
  const Slice own(world.rank(), none, world.size());
  const Tensor x = noise({batch, 784}, 1, 3)(own), y = (range(batch) * 7 % 10)(own);
  for (int i = 0; i < 3; ++i) {
    const double loss = strategy.reduce(distribute::ReduceOp::sum, step(x, y)).item<float>();
    if (world.rank() == 0) fmt::print("loss {:.6f}\n", loss);
  }
  for (int i = 0; i < steps / 5 + 100; ++i) step(x, y);  // the first operations of a group are checked
  std::vector<double> seconds;
  strategy.reset_report();
  for (int i = 0; i < steps; ++i) {
    const double begin = now();
    step(x, y);
    seconds.push_back(now() - begin);
  }
  const distribute::StrategyReport report = strategy.report();
  if (world.rank() == 0) {
    fmt::print("step {:.6f}\n", 1e3 * median(seconds));
    double exposed = 0;
    for (const auto& rank : report.ranks) exposed += 1e3 * rank.exposed / world.size();
    fmt::print("exposed {:.6f}\n", exposed);
  }
}

void time_sums(const Communicator& world) {
  for (i64 bytes = 4 << 10; bytes <= 32 << 20; bytes *= 8) {
    const Tensor x = ones({bytes / 4}, float32);
    const int calls = static_cast<int>(std::clamp<i64>((i64{16} << 20) / bytes, 4, 500));
    std::vector<double> seconds;
    for (int round = 0; round < 5; ++round) {
      world.barrier();
      const double begin = now();
      for (int i = 0; i < calls; ++i) distribute::all_reduce(x, {.group = world});
      seconds.push_back((now() - begin) / calls);
    }
    if (world.rank() == 0) fmt::print("sum {} {:.3f}\n", bytes, 1e6 * median(seconds));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool steps_only = argc == 5 && std::string_view(argv[4]) == "steps";
  if (argc != 4 && !steps_only) return fmt::print(stderr, "usage: distribute_step WIDTH BATCH STEPS [steps]\n"), 2;
  const distribute::MultiWorkerMirroredStrategy strategy;
  time_steps(strategy, std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]));
  if (!steps_only) time_sums(strategy.group());
  return 0;
}
