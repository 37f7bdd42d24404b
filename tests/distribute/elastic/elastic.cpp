// One process of an elastic training: when another one is lost it goes on from the newest checkpoint with those that
// are left, and with those that come later, by Communicator::rebuild().
//   distribute_elastic FOLDER                         the folder of the run; -: in memory, without files
//   distribute_elastic FOLDER wait P                  at step 40 rank 0 waits until P processes train, or want to
//   distribute_elastic FOLDER kill RANK STEP          after step STEP that rank kills itself
//   distribute_elastic FOLDER stop RANK STEP          or stops itself
//   distribute_elastic FOLDER kill RANK STEP OTHER N  and rank OTHER kills itself N microseconds after it has seen that
#include <unistd.h>

#include <algorithm>
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

// What the program does over all of its worlds.
struct Work {
  std::string folder;
  int processes = 0;  // for which it waits
  train::RunMemory memory = {};
  i64 steps = 0;  // that it has taken
};

// Once, at most 20 seconds: until there are processes enough, or newcomers.
void wait_for_newcomers(const Communicator& world, int& processes) {
  if (processes > 0) std::puts("rank 0 waits"), std::fflush(stdout);
  for (int i = 0; i < 2000 && world.size() < processes && !distribute::impl::Groups::sees_newcomers(world); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  processes = 0;
}

void train_model(const Communicator& world, Work& work, Fault fault) {
  const distribute::MultiWorkerMirroredStrategy strategy(world);
  const auto scope = strategy.scope();
  random::set_seed(3);
  const Tensor x = random::Generator(5).uniform({250, 6}, -1, 1), y = reduce_sum(x * x, {.axis = 1, .keepdims = true});
  const layers::Sequential net{layers::Dense(24, nn::tanh), layers::Dense(1)};
  net.build({none, 6});
  train::Trainer trainer(net, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::SGD(0.05)});
  const auto batches = data::from_tensor_slices(std::pair(x, y)).shuffle({.seed = 1}).batch(24);  // the last has 10
  train::FitOptions o{.epochs = 6, .progress = {.mode = train::ProgressMode::none}};
  if (work.folder == "-") o.memory = &work.memory, o.memory_steps = 5;
  else o.directory = work.folder, o.save_steps = 7;
  o.callbacks.push_back(train::LambdaCallback({.on_step_end = [&, fault](train::Run& run) {
    ++work.steps;
    if (run.step() == fault.at) std::raise(fault.signal);
    if (run.step() >= 40 && world.rank() == 0) wait_for_newcomers(world, work.processes);
  }}));
  trainer.fit(strategy.distribute_dataset(batches), o);
  double sum = 0;
  for (const Tensor& w : net.get_weights())
    for (const float e : w.to_vector<float>()) sum += std::abs(static_cast<double>(e));
  std::printf("rank %d of %d: weights %.6f after %lld steps, %lld here\n", world.rank(), world.size(), sum,
              static_cast<long long>(trainer.step()), static_cast<long long>(work.steps));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    Communicator world = Communicator::world({.timeout = 20});
    const bool is_late = std::getenv("TANDEM_JOIN") != nullptr;
    const auto is_meant = [&](int i) { return argc > i && !is_late && std::atoi(argv[i]) == world.rank(); };
    const std::string does = argc > 2 ? argv[2] : "";
    Work work{.folder = argv[1]};
    for (int i = 2; i + 1 < argc; ++i)
      if (std::string(argv[i]) == "wait") work.processes = std::atoi(argv[i + 1]);
    Fault fault;
    if ((does == "kill" || does == "stop") && is_meant(3))
      fault = {does == "stop" ? SIGSTOP : SIGKILL, std::atoll(argv[4])};
    bool dies_then = argc > 6 && std::string(argv[5]) != "wait" && is_meant(5);
    for (;;) try {
        train_model(world, work, fault);
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
