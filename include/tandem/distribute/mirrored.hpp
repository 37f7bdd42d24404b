// MirroredStrategy: synchronous data parallel training on the devices of one process. Part of the component
// tandem::distribute. Not here: several processes (strategy.hpp), slices without a strategy (make_parallel.hpp).
#pragma once
#include <concepts>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/core/replication.hpp"
#include "tandem/distribute/make_parallel.hpp"
#include "tandem/distribute/strategy.hpp"

namespace TANDEM_NS::distribute {

/// Trains one model on several devices of this process, each of which computes the gradients of its rows of a batch.
/// The names are TensorFlow's; the weights are on one device, as in its CentralStorageStrategy.
///
///   const distribute::MirroredStrategy strategy({"GPU:0", "GPU:1"});
///   const auto scope = strategy.scope();
///   Net net;
///   train::Trainer trainer(net, {.loss = ..., .optimizer = ...});
///   trainer.fit(batches, {.epochs = 10});
///
/// In the scope, train::Trainer divides each batch among the replicas and takes means over all rows. A step of one's
/// own calls run(), reduces what the replicas return, and applies the gradients behind that:
///
///   const auto step = function([&](const Tensor& x, const Tensor& y) {
///     const auto gradients = [&](const Tensor& x, const Tensor& y) {
///       GradientTape tape;
///       const Tensor loss = nn::compute_average_loss(per_example(net(x), y), {.global_batch_size = 64});
///       return tape.gradient(loss, weights);
///     };
///     adam.apply_gradients(strategy.reduce(distribute::ReduceOp::sum, strategy.run(gradients, x, y)), weights);
///   });
///
/// The replicas are called one after the other, on the thread to which tapes and traces belong; kernels of several GPUs
/// run at the same time. An apply_gradients inside of run() would need the gradients of replicas that have not been
/// called yet: it raises, as does synchronized batch normalization.
class TANDEM_API MirroredStrategy {
 public:
  /// A replica for each of several GPUs, otherwise for each logical CPU (config::set_logical_cpu_devices), usually one.
  MirroredStrategy();
  ///   replicas  a number of them, all on the device of the batch, or one for each device of a list
  ///   throws    errors::InvalidArgumentError as Slices
  MirroredStrategy(Slices replicas);
  MirroredStrategy(std::initializer_list<std::string_view> devices) : MirroredStrategy(Slices(devices)) {}
  MirroredStrategy(MirroredStrategy&&) noexcept;
  MirroredStrategy& operator=(MirroredStrategy&&) noexcept;
  ~MirroredStrategy();

  /// Trains by this strategy on this thread, in the scope. The strategy must outlive it.
  ReplicationScope scope() const { return ReplicationScope(replication()); }
  int num_replicas_in_sync() const { return static_cast<int>(replicas().count()); }

  /// Calls f in each replica, with its part of the arguments.
  ///   f          called with the arguments, as by make_parallel
  ///   arguments  as make_parallel divides them: N rows of each tensor in parts that differ by a row at most,
  ///              everything else as it is. With fewer rows than replicas, one replica for each row is called
  ///   returns    what each replica returns, with dense gradients; nothing if f returns nothing
  ///   throws     as make_parallel; errors::UnimplementedError for an apply_gradients in f
  template <class F, class... A>
  auto run(F&& f, const A&... arguments) const {
    const detail::Partition parts("MirroredStrategy", replicas(), detail::tensors_of(arguments...));
    auto results = detail::call_slices(
        parts, f, [&](i64 i) { return Inside(*this, i, parts.size()); }, arguments...);
    if constexpr (!std::is_void_v<std::invoke_result_t<F&, const std::decay_t<const A&>&...>>) return results;
  }

  /// What the replicas have returned as one, on the first one's device; each tensor of a struct or list of them by
  /// itself. With an axis, first reduced along it, so that replicas may have different sizes there; the mean is then
  /// that of all elements.
  ///   returns  the type that f returns, such as std::vector<Gradient>
  ///   throws   errors::InvalidArgumentError for no values, for an op that is not defined for the dtype, and for one
  ///            other than sum and mean with an axis
  template <class R>
  R reduce(ReduceOp op, const std::vector<R>& per_replica) const {
    return together<R>(per_replica, [&](const std::vector<Tensor>& values) { return reduced(op, values); });
  }
  template <class R>
  R reduce(ReduceOp op, const std::vector<R>& per_replica, i64 axis) const {
    return together<R>(per_replica, [&](const std::vector<Tensor>& values) { return reduced(op, values, axis); });
  }
  /// Their values, concatenated along an axis, in which their sizes may differ.
  template <class R>
  R gather(const std::vector<R>& per_replica, i64 axis = 0) const {
    return together<R>(per_replica, [&](const std::vector<Tensor>& values) { return gathered(values, axis); });
  }

  /// The batches as they are: run() and train::Trainer divide them. All replicas are in one process, so that no option
  /// changes that.
  template <class T>
  data::Dataset<T> distribute_dataset(const data::Dataset<T>& batches, DistributeOptions = {}) const {
    return batches;
  }
  /// f(InputContext) makes the data set of this process, which has all replicas.
  template <std::invocable<InputContext> F>
  auto distribute_datasets_from_function(F&& f) const {
    return std::forward<F>(f)(InputContext{1, 0, num_replicas_in_sync()});
  }

 private:
  struct State;
  struct Replica;
  // As long as it lives, this thread is in a replica.
  class TANDEM_API Inside {
   public:
    Inside(const MirroredStrategy& strategy, i64 replica, i64 replicas);
    Inside(const Inside&) = delete;
    ~Inside();

   private:
    std::unique_ptr<Replica> replica_;
    std::unique_ptr<ReplicationScope> scope_;
  };
  template <class R, class F>
  static R together(const std::vector<R>& per_replica, const F& f) {
    check_values(per_replica.size());
    R r = per_replica.front();
    std::vector<std::vector<Tensor>> all;
    for (const R& one : per_replica) all.push_back(detail::tensors_of(one));
    check_equal(all);
    std::vector<Tensor> joined;
    for (std::size_t k = 0; k < all.front().size(); ++k) {
      std::vector<Tensor> values;
      for (const std::vector<Tensor>& tensors : all) values.push_back(tensors[k]);
      joined.push_back(f(values));
    }
    const Tensor* next = joined.data();
    tree::refill(r, next);
    return r;
  }
  static void check_values(std::size_t replicas);
  static void check_equal(const std::vector<std::vector<Tensor>>& tensors);
  static Tensor reduced(ReduceOp op, const std::vector<Tensor>& values);
  static Tensor reduced(ReduceOp op, const std::vector<Tensor>& values, i64 axis);
  static Tensor gathered(const std::vector<Tensor>& values, i64 axis);
  const Slices& replicas() const;
  Replication* replication() const;
  std::unique_ptr<State> state_;
};

}  // namespace TANDEM_NS::distribute
