// distribute::ShardedEmbedding: an embedding table whose rows are divided among processes. Part of the component
// tandem::distribute. Not here: the table that every process has whole (layers/embedding.hpp).
#pragma once
#include <optional>

#include "tandem/distribute/communicator.hpp"
#include "tandem/layers/layer.hpp"

namespace TANDEM_NS::distribute {

struct ShardedEmbeddingOptions {
  /// Without a seed, rank 0 draws one. Orthogonal and Identity need the memory of the whole table for a moment.
  Initializer embeddings_initializer = initializers::RandomUniform(-0.05, 0.05);
  DType dtype = DType::float32;
  std::optional<Communicator> group = {};  ///< default: Communicator::world(); with a strategy, its group
};

/// Embedding lookup in a table that is too large for one process, or whose gradients are: row r is held by rank r mod
/// p of the group's p processes, with the optimizer's slots for it.
///
///   const distribute::ShardedEmbedding embedding(10'000'000, 64);
///   const Tensor vectors = embedding(ids);  // [...] -> [..., 64]
///
/// A call asks each owner for the rows of its different ids, and the gradient returns their sums to the owners: three
/// exchanges forward, the first of numbers of ids alone, and one backward, of sizes that depend on the ids and not on
/// the table. The owner gets the sum of all ranks' gradients, as the gradients of other Variables are added up in a
/// strategy's scope. Initial values, results and gradients do not depend on the number of processes, the latter up to
/// the order of additions.
///
/// Every rank of the group must make the layer and call it the same number of times, in the same order as its other
/// collective operations; with no ids if it has none. The table of one process is on the current device; those of
/// several processes, and their ids, are on the CPU.
///   ids        int32 or int64, any shape, in [0, input_dim)
///   returns    [..., output_dim]
///   throws     errors::InvalidArgumentError for sizes that are not positive, in the scope of a strategy with another
///              number of processes, for ids of another dtype, and for an id out of range, with its position: the other
///              ranks then raise errors::UnavailableError, when that rank has ended or after the timeout
///   gradient   of the table: row-sparse, at the owners
///   variables  shard [rows of this rank, output_dim], a Variable without `.aggregate`
///
/// An optimizer with `.global_clipnorm` refuses the shard, whose norm no rank knows; what `.clipnorm` and `.clipvalue`
/// do depends on the number of processes. Checkpoints, save_weights and a Trainer's `.directory` save the rows of every
/// rank, and any number of ranks restores them. Histograms of summary::TensorBoard show rank 0's.
class TANDEM_API ShardedEmbedding : public layers::Layer {
 public:
  ShardedEmbedding(i64 input_dim, i64 output_dim, ShardedEmbeddingOptions options = {});
  Tensor operator()(const Tensor& ids) const;

  /// The whole table, [input_dim, output_dim], in every rank. Collective.
  Tensor table() const;
  /// Sets the rows of this rank from a whole table. To be called by every rank.
  ///   throws  errors::InvalidArgumentError for another shape or dtype
  void assign(const Tensor& table) const;

 private:
  i64 input_dim_;
  Communicator group_;
};

}  // namespace TANDEM_NS::distribute
