// One process of an elastic training: when another one is lost it goes on from the newest checkpoint with those that
// are left, by Communicator::rebuild().
//   distribute_elastic FOLDER                         the folder of the run
//   distribute_elastic FOLDER kill RANK STEP          after step STEP that rank kills itself
//   distribute_elastic FOLDER stop RANK STEP          or stops itself
//   distribute_elastic FOLDER kill RANK STEP OTHER N  and rank OTHER kills itself N microseconds after it has seen that
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <tandem/distribute.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>
#if TANDEM_WITH_DISTRIBUTE_GLOO
#include <tandem/distribute_gloo.hpp>
#endif

using namespace tandem;
using distribute::Communicator;

namespace {

struct Fault {
  int signal = SIGKILL;
  i64 at = -1;  // step; -1: none
};

void train_model(const Communicator& world, const std::string& folder, Fault fault) {
  const distribute::MultiWorkerMirroredStrategy strategy(world);
  const auto scope = strategy.scope();
  random::set_seed(3);
  const Tensor x = random::Generator(5).uniform({250, 6}, -1, 1), y = reduce_sum(x * x, {.axis = 1, .keepdims = true});
  const layers::Sequential net{layers::Dense(24, nn::tanh), layers::Dense(1)};
  net.build({none, 6});
  train::Trainer trainer(net, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::SGD(0.05)});
  const auto batches = data::from_tensor_slices(std::pair(x, y)).shuffle({.seed = 1}).batch(24);  // the last has 10
  train::FitOptions o{.epochs = 6, .progress = {.mode = train::ProgressMode::none}};
  o.directory = folder, o.save_steps = 7;
  if (fault.at >= 0)
    o.callbacks.push_back(train::LambdaCallback({.on_step_end = [fault](train::Run& run) {
      if (run.step() == fault.at) std::raise(fault.signal);
    }}));
  trainer.fit(strategy.distribute_dataset(batches), o);
  double sum = 0;
  for (const Tensor& w : net.get_weights())
    for (const float e : w.to_vector<float>()) sum += std::abs(static_cast<double>(e));
  std::printf("rank %d of %d: weights %.6f after %lld steps\n", world.rank(), world.size(), sum,
              static_cast<long long>(trainer.step()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    Communicator world = Communicator::world({.timeout = 20});
    const auto is_meant = [&](int i) { return argc > i && std::atoi(argv[i]) == world.rank(); };
    Fault fault;
    if (is_meant(3)) fault = {std::string(argv[2]) == "stop" ? SIGSTOP : SIGKILL, std::atoll(argv[4])};
    bool dies_then = is_meant(5);
    for (;;) try {
        train_model(world, argv[1], fault);
        return 0;
      } catch (const errors::UnavailableError& e) {
        std::printf("rank %d: %s\n", world.rank(), e.what());
        if (dies_then) {
          std::thread([wait = std::chrono::microseconds(std::atoll(argv[6]))] {
            std::this_thread::sleep_for(wait);
            ::kill(::getpid(), SIGKILL);
          }).detach();
          dies_then = false, fault = {SIGKILL, 60};  // at the latest
        }
        world = world.rebuild();
        std::printf("it is rank %d of %d now\n", world.rank(), world.size());
      }
  } catch (const std::exception& e) {
    std::printf("FAILED: %s\n", e.what());
  }
  return 1;
}
