// One process of an elastic training: when another one is lost it goes on from the newest checkpoint with those that
// are left, and with those that come later, by Communicator::rebuild().
//   distribute_elastic FOLDER                         the folder of the run; -: in memory, without files
//   distribute_elastic FOLDER kill RANK STEP          after step STEP that rank kills itself
//   distribute_elastic FOLDER stop RANK STEP          or stops itself
//   distribute_elastic FOLDER kill RANK STEP OTHER N  and rank OTHER kills itself N microseconds after it has seen that
// Each with these options, behind the others:
//   --wait P        at step 40 rank 0 waits until P processes train, or want to
//   --until FILE    at step 40 rank 0 waits until there is a file
//   --timeout S     of the operations, instead of 20 s
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

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
  int processes = 0;      // for which it waits
  std::string file = "";  // likewise
  train::RunMemory memory = {};
  i64 steps = 0;  // that it has taken
};

// Once, at most 20 seconds: until there are processes enough, or newcomers, or the file.
void wait_for_others(const Communicator& world, Work& work) {
  const bool waits = work.processes > 0 || !work.file.empty();
  if (waits) std::puts("rank 0 waits"), std::fflush(stdout);
  for (int i = 0; waits && i < 2000; ++i) {
    if (work.processes > 0 && (world.size() >= work.processes || distribute::impl::Groups::sees_newcomers(world)))
      break;
    if (!work.file.empty() && ::access(work.file.c_str(), F_OK) == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  work.processes = 0, work.file.clear();
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
    if (run.step() >= 40 && world.rank() == 0) wait_for_others(world, work);
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
  std::vector<std::string> words;
  Work work;
  double timeout = 20;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--wait") work.processes = std::stoi(next);
    else if (word == "--until") work.file = next;
    else if (word == "--timeout") timeout = std::stod(next);
    else words.push_back(word);
    if (word.starts_with("--")) ++i;
  }
  if (words.empty()) return 2;
  work.folder = words[0];
  words.resize(6);
  try {
    Communicator world = Communicator::world({.timeout = timeout});
    const bool is_late = std::getenv("TANDEM_JOIN") != nullptr;
    const auto is_meant = [&](const std::string& rank) { return !is_late && rank == std::to_string(world.rank()); };
    Fault fault;
    if (is_meant(words[2])) fault = {words[1] == "stop" ? SIGSTOP : SIGKILL, std::stoll(words[3])};
    bool dies_then = is_meant(words[4]);
    for (;;) try {
        train_model(world, work, fault);
        return 0;
      } catch (const errors::UnavailableError& e) {
        std::printf("rank %d: %s\n", world.rank(), e.what());
        if (dies_then) {
          std::thread([wait = std::chrono::microseconds(std::stoll(words[5]))] {
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
