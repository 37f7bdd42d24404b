// One process of a test: trains by train::Trainer with virtual shards, and rank 0 prints the hash of the weights.
//   distribute_fit EPOCHS FOLDER [STEP [SIGNAL]]   the folder of the run, or -; after step STEP, rank 1 sends itself a
//                                                  signal, once: SIGKILL, or that of the number SIGNAL; 0: its callback
//                                                  raises an error, after which the process waits to be killed
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <tandem/distribute.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>
#if TANDEM_WITH_DISTRIBUTE_MPI
#include <tandem/distribute_mpi.hpp>
#endif
#if TANDEM_WITH_DISTRIBUTE_GLOO
#include <tandem/distribute_gloo.hpp>
#endif

using namespace tandem;

namespace {

// FNV-1a of the bits of all weights.
u64 hash_of(const Module& model) {
  u64 r = 14695981039346656037u;
  for (const Tensor& w : model.get_weights())
    for (const float x : w.to_vector<float>()) {
      std::uint32_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      r = (r ^ bits) * 1099511628211u;
    }
  return r;
}

// Gradients alone tell the other processes of it: this callback does not stop the training.
struct Raise final : train::Callback {
  Raise(i64 s, int number) : step(s), signal(number) {}
  void on_step_end(train::Run& run) override {
    if (run.step() != step) return;
    if (signal == 0) errors::raise<errors::DataLossError>("test", "an error of rank 1 alone");
    std::raise(signal);
  }
  bool may_stop_after_step() const override { return false; }
  const i64 step;
  const int signal;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const i64 raise_at = argc > 3 ? std::atoll(argv[3]) : -1;
  const int signal = argc > 4 ? std::atoi(argv[4]) : SIGKILL;
  try {
    const auto world = distribute::Communicator::world({.timeout = 30});
    const distribute::MultiWorkerMirroredStrategy strategy({.virtual_shards = 4});
    const auto scope = strategy.scope();
    random::set_seed(3);
    const Tensor x = random::Generator(5).uniform({250, 6}, -1, 1),
                 y = reduce_sum(x * x, {.axis = 1, .keepdims = true});
    const layers::Sequential net{layers::Dense(24, nn::relu), layers::Dropout(0.2), layers::Dense(1)};
    net.build({none, 6});
    train::Trainer trainer(net, {.loss = losses::MeanSquaredError(), .optimizer = optimizers::Adam(0.01)});
    const auto batches = data::from_tensor_slices(std::pair(x, y)).shuffle({.seed = 1}).batch(24);  // the last has 10
    train::FitOptions o{.epochs = std::atoll(argv[1]), .progress = {.mode = train::ProgressMode::none}};
    if (std::string(argv[2]) != "-") o.directory = argv[2], o.save_steps = 7;
    if (raise_at >= 0 && world.rank() == 1 && distribute::launch_info().restarts == 0)
      o.callbacks.push_back(Raise(raise_at, signal));
    const train::History history = trainer.fit(strategy.distribute_dataset(batches), o);
    std::printf("rank %d has stopped after step %lld with status %d\n", world.rank(),
                static_cast<long long>(trainer.step()), history.exit_status);
    if (world.rank() == 0)
      std::printf("weights %016llx after %lld steps, loss %.6f\n", static_cast<unsigned long long>(hash_of(net)),
                  static_cast<long long>(trainer.step()), history["loss"].back());
  } catch (const std::exception& e) {
    const int rank = distribute::launch_info().rank;
    std::printf("FAILED: rank %d: %s\n", rank, e.what());
    std::fflush(stdout);
    if (rank == 1 && signal == 0) ::pause();
    return 1;
  }
  return 0;
}
