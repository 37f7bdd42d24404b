// Shards: the parts of a global batch whose gradients this process computes, each with random numbers of its own.
// Behind trainer.hpp.
#pragma once
#include <vector>

#include "tandem/core/replication.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/train/batches.hpp"

namespace TANDEM_NS::train::detail {

/// Without a strategy, one shard: the batch. Among p processes, one as well: the process's rows; or with virtual
/// shards, which are as many for any p, every p-th of them. Gradients of shards are added up in a tree, of which a
/// process has a subtree if their numbers are powers of 2: so the sums have the same bits for any p.
class Shards {
 public:
  /// Begins a step, in whose trace it lives.
  Shards();
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;
  ~Shards() { tandem::detail::parts_of_batch = outer_; }

  /// How many this process computes.
  i64 count() const { return count_; }
  /// How many all processes compute.
  i64 in_all() const { return count_ * processes_; }
  /// Where shard i is computed.
  Device device(i64 i) const { return devices_.empty() ? current_device() : devices_[static_cast<std::size_t>(i)]; }
  /// The rows of shard i. Begins its random numbers, which differ from those of the other shards.
  Batch begin(const Batch& batch, i64 i);
  /// Behind the last one: the global generator goes on as if one shard had been computed.
  void end();
  /// Adds up the gradients of this process's shards.
  static std::vector<Gradient> sum(std::vector<std::vector<Gradient>> gradients);

 private:
  Tensor offset() const;

  i64 rank_ = 0, processes_ = 1, count_ = 1;
  i64 shard_ = -1;  // that draws random numbers; -1: none has begun
  Tensor before_;   // the state of the global generator when the step began
  Span<const Device> devices_;
  bool draws_apart_ = false;
  const i64 outer_ = tandem::detail::parts_of_batch;
};

}  // namespace TANDEM_NS::train::detail
