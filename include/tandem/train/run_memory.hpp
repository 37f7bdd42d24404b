// RunMemory: what a run of Trainer::fit keeps in the memory of a process.
#pragma once
#include <memory>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::train {

/// Where FitOptions::memory keeps the state of a run: weights, slots, random numbers, position in the data, means,
/// states of callbacks and history. It outlives the Trainer, so that a program goes on from it when the world was
/// rebuilt:
///
///   train::RunMemory memory;
///   for (auto world = distribute::Communicator::world();;) try {
///       train_model(world, memory);  // fit(.., {.memory = &memory})
///       break;
///     } catch (const errors::UnavailableError&) {
///       world = world.rebuild();
///     }
///
/// All processes go on from the state of rank 0, the lowest one that is left; those that have come later get it there,
/// before their first step.
///
/// It is for one run: fit goes on from what it has. Another call of fit with the same one goes on with the first run,
/// and trains nothing if that has ended, since it does not compare options and data as a .directory does.
class TANDEM_API RunMemory {
 public:
  RunMemory();
  RunMemory(RunMemory&&) noexcept;
  RunMemory& operator=(RunMemory&&) noexcept;
  ~RunMemory();
  /// The number of steps behind which the state was kept; -1: none is kept.
  i64 step() const;

 private:
  friend struct TrainerState;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::train
