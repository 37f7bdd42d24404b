// MultiWorkerMirroredStrategy: synchronous data parallel training. Part of the component tandem::distribute.
#pragma once
#include <concepts>
#include <memory>
#include <utility>

#include "tandem/core/replication.hpp"
#include "tandem/data/dataset.hpp"
#include "tandem/distribute/communicator.hpp"
#include "tandem/distribute/report.hpp"
#include "tandem/graph/trace/tree.hpp"
#include "tandem/module/module.hpp"

namespace TANDEM_NS::distribute {

enum class Compression : std::uint8_t {  ///< how gradients travel between processes
  none,
  bfloat16  ///< float32 gradients travel with 8 bits of mantissa, and are added so: half the time on a slow network
};

struct StrategyOptions {
  /// Gradients travel together, up to so many bytes at a time, and up to an eighth of all of them if that is less: then
  /// most of them travel while others are computed.
  i64 bucket_bytes = 25 << 20;
  i64 first_bucket_bytes = 1 << 20;  ///< the first ones, so that something travels early; others are not smaller
  Compression compression = Compression::none;
  /// With .compression: what rounding takes from a gradient that this process sends is added to the Variable's next one
  /// (Seide et al. 2014; Karimireddy et al. 2019). It costs a float32 tensor for each Variable, which lives as long as
  /// the strategy and is not in checkpoints: a run that goes on begins without it. Not with .virtual_shards.
  bool error_feedback = false;
  /// A power of 2 from the number of processes on, itself one: train::Trainer then divides each batch into so many
  /// parts, whose gradients are added up in an order that does not depend on the number of processes. With 1, 2, 4 or 8
  /// of them the weights have the same bits, random numbers included. Slower: a process computes its parts one after
  /// another, and nothing travels before all are there. 0: one part for each process.
  int virtual_shards = 0;
  /// Whether the graph of a traced function that adds up gradients is compared with those of the other processes when
  /// it is first called: impl::agree_on_graph says what must be equal. One small operation for each function.
  bool compare_graphs = true;
};

/// How distribute_dataset divides the data among processes. TensorFlow's policy `file` has no counterpart: a pipeline
/// cannot be rebuilt with other files once it is made. distribute_datasets_from_function makes it from a process's own.
enum class AutoShard : std::uint8_t {
  off,  ///< not at all: every process has all batches, as they are
  data  ///< each batch by rows; every process reads all batches
};

struct DistributeOptions {
  AutoShard auto_shard = AutoShard::data;
};

/// Which part of the data a process reads: distribute_datasets_from_function.
struct InputContext {
  int num_input_pipelines = 1;  ///< processes
  int input_pipeline_id = 0;    ///< this one's rank
  int num_replicas_in_sync = 1;
  /// The rows that this process takes of a global batch.
  ///   throws  errors::InvalidArgumentError if the replicas do not divide it
  TANDEM_API i64 get_per_replica_batch_size(i64 global_batch_size) const;
};

/// Trains one model on several processes, each of which has the same Variables and computes gradients of its own rows.
/// The names are TensorFlow's.
///
///   const distribute::MultiWorkerMirroredStrategy strategy;  // all processes that the launcher has started
///   const auto scope = strategy.scope();
///   Net net;
///   train::Trainer trainer(net, {.loss = ..., .optimizer = ...});
///   trainer.fit(strategy.distribute_dataset(batches), {.epochs = 10});
///
/// In the scope:
///   - Trainable Variables begin with the value that they have in rank 0, unless they are made with
///     `.aggregate = false`: those differ between processes, and their gradients are not added up.
///   - Optimizer::apply_gradients first adds up the gradients of all processes. The loss of a step of one's own is
///     therefore divided by the rows of the global batch: compute_average_loss.
///   - train::Trainer takes means over the rows of the global batch, also where processes have different numbers of
///     rows or none; its loss and metrics are those of all rows; rank 0 alone writes checkpoints and shows progress. A
///     Trainer that was made in the scope trains by the strategy wherever fit() is called. fit(x, y) gives each process
///     its rows; a data set that did not come through distribute_dataset is read by all of them, as it is.
///
/// Gradients travel in buckets, the last layers' first, while a traced step computes those of the first layers.
/// Row-sparse gradients are merged locally, and their rows exchanged. In a step in which the processes together have at
/// least twice as many rows as the Variable the gradient travels dense, which then moves fewer bytes; it becomes
/// row-sparse again. Every process must run the same program, with the same numbers of steps.
class TANDEM_API MultiWorkerMirroredStrategy {
 public:
  ///   throws  errors::InvalidArgumentError for buckets that are not positive; what Communicator::world() raises
  explicit MultiWorkerMirroredStrategy(StrategyOptions options = {});
  explicit MultiWorkerMirroredStrategy(Communicator group, StrategyOptions options = {});
  MultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy&&) noexcept;
  MultiWorkerMirroredStrategy& operator=(MultiWorkerMirroredStrategy&&) noexcept;
  ~MultiWorkerMirroredStrategy();

  /// Trains by this strategy on this thread, in the scope. The strategy must outlive it.
  ReplicationScope scope() const { return ReplicationScope(replication()); }
  /// Calls f in the scope. What it raises is reported to the other processes: Communicator::report_error.
  template <class F, class... A>
  auto run(F&& f, A&&... arguments) const {
    const ReplicationScope in(replication());
    return tandem::detail::with_report(replication(),
                                       [&] { return std::forward<F>(f)(std::forward<A>(arguments)...); });
  }
  const Communicator& group() const;
  int num_replicas_in_sync() const { return group().size(); }

  /// The values of all processes as one: all_reduce. With an axis, first reduced along it, so that processes may have
  /// different sizes there; the mean is then that of all elements.
  ///   throws  errors::InvalidArgumentError for an op other than sum and mean with an axis
  Tensor reduce(ReduceOp op, const Tensor& value) const;
  Tensor reduce(ReduceOp op, const Tensor& value, i64 axis) const;
  /// The values of all processes, concatenated along an axis, in which their sizes may differ.
  Tensor gather(const Tensor& value, i64 axis = 0) const;
  /// Gives the Variables of a module the values that they have in rank 0: weights that were made or restored outside of
  /// the scope. Not those without `.aggregate`.
  void broadcast(const Module& module) const;

  /// Where the time of the steps went since the strategy was made, or since reset_report(): for how long this process
  /// has waited, and for which operations of its group; the steps of all processes, and which of them is the slowest.
  /// A step begins where train::Trainer, or Communicator::set_step(), says so; in a loop that does not say it, where
  /// a bucket of gradients, or a row-sparse gradient, begins to travel that has done so since the step began: a step
  /// with several optimizers for Variables without names needs set_step(). What is done between two steps, such as
  /// validation, counts as computation of the one before. In a SimCluster the times are those of its clock. Operations
  /// on GPUs, which run beside this process, are not counted. Collective: all processes must call it at the same point,
  /// as it exchanges three numbers.
  ///
  ///   std::cout << to_string(strategy.report());
  StrategyReport report() const;
  void reset_report() const;

  /// This process's part of each batch: rows rank, rank + p, ... for p processes, of all tensors. So the order of rows,
  /// and a position in it, does not depend on the number of processes. Every process reads all batches; for
  /// input that is costly to read, see distribute_datasets_from_function. With {.auto_shard = AutoShard::off} the
  /// batches are not divided: those that differ between processes already, or that all are to have.
  ///   batches  of global batches; their tensors have rows along axis 0. A last batch may be smaller: some processes
  ///            then have a row less, or none
  template <class T>
  data::Dataset<T> distribute_dataset(const data::Dataset<T>& batches, DistributeOptions options = {}) const {
    const i64 first = group().rank(), step = group().size();
    if (step == 1 || options.auto_shard == AutoShard::off) return batches;
    return batches.map([first, step](const auto&... parts) {
      T batch{parts...};
      std::vector<Tensor> rows;
      tree::Flat flat;
      tree::flatten(std::as_const(batch), flat);
      for (const Tensor* t : flat.tensors) rows.push_back(own_rows(*t, first, step));
      const Tensor* next = rows.data();
      tree::refill(batch, next);
      return batch;
    });
  }
  /// f(InputContext) makes this process's data set: it reads only its part, by files or by Dataset::shard. All
  /// processes must have the same number of batches in an epoch. Whole files for each process:
  ///   strategy.distribute_datasets_from_function([](const distribute::InputContext& c) {
  ///     return data::list_files("train-*.txt")
  ///         .shard(c.num_input_pipelines, c.input_pipeline_id)
  ///         .interleave([](const std::string& path) { return data::TextLineDataset(path); })
  ///         .batch(c.get_per_replica_batch_size(64));
  ///   });
  template <std::invocable<InputContext> F>
  auto distribute_datasets_from_function(F&& f) const {
    return std::forward<F>(f)(InputContext{group().size(), group().rank(), group().size()});
  }

 private:
  static Tensor own_rows(const Tensor& x, i64 first, i64 step);
  Replication* replication() const;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::distribute

namespace TANDEM_NS::nn {

struct AverageLossOptions {
  TANDEM_OP_OPTIONS;
  Tensor sample_weight = {};  ///< of each example, as losses take it: its axes are the first ones of the loss
  i64 global_batch_size = 0;  ///< 0: the examples here, times the replicas in sync
};
/// The sum of the losses of examples, divided by the size of the global batch: in a strategy's scope the gradients of
/// all replicas add up to those of the mean.
///   per_example_loss  floating, [n, ...]
///   returns           a scalar; 0 if there are no examples
///   throws            errors::InvalidArgumentError for a scalar, and for a negative global_batch_size
///   gradient          of the ops that it is made of
TANDEM_API Tensor compute_average_loss(const Tensor& per_example_loss, AverageLossOptions = {});
/// Divides a penalty by the number of replicas in sync, whose gradients add up.
TANDEM_API Tensor scale_regularization_loss(const Tensor& penalty, OpOptions = {});

}  // namespace TANDEM_NS::nn
