// Definitions of distribute/strategy.hpp.
#pragma once
#include <exception>

#include "tandem/base/error.hpp"
#include "tandem/core/elastic_replication.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/distribute/agreement.hpp"
#include "tandem/distribute/call_times.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/reduce_gradients.hpp"
#include "tandem/distribute/strategy.hpp"
#include "tandem/losses/pair.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::distribute {

namespace impl {
// What end_for_newcomers() raises, in all processes at the same point.
struct NewcomersWait final : errors::UnavailableError {
  using errors::UnavailableError::UnavailableError;
};
}  // namespace impl

struct MultiWorkerMirroredStrategy::State final : ElasticReplication {
  State(Communicator g, const StrategyOptions& o) : group(std::move(g)), options(o) {
    impl::Groups::add_report(group, times);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { impl::Groups::remove_report(group, times); }

  u64 id() const override { return own_id; }
  int rank() const override { return group.rank(); }
  int size() const override { return group.size(); }
  int virtual_shards() const override { return options.virtual_shards; }
  Span<const Device> shard_devices() const override { return {}; }
  Tensor initial(const Tensor& value) override {
    if (value.dtype() == DType::string || group.size() == 1) return value;
    const tandem::detail::OutsideTrace now;
    return tandem::distribute::broadcast(value, {.name = "initial value", .group = group});
  }
  std::vector<Gradient> sum_gradients(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables,
                                      const Tensor& factor) override {
    return impl::reduce_gradients(group, options, gradients, variables, factor, kept);
  }
  Tensor sum(const Tensor& x) override { return all_reduce(x, {.group = group}); }
  void largest(std::vector<i64>& numbers) override {
    if (group.size() == 1) return;
    group.run({.kind = Collective::all_reduce,
               .dtype = DType::int64,
               .input = numbers.data(),
               .output = numbers.data(),
               .count = static_cast<i64>(numbers.size()),
               .op = ReduceOp::max,
               .combine = impl::combine_fn(ReduceOp::max, DType::int64)},
              "all_reduce", "'what to do next'");
  }
  bool agree(const Graph& graph, const std::string& function) override {
    return group.size() > 1 && options.compare_graphs && impl::agree_on_graph(group, graph, function);
  }
  void begin_step(i64 step) override { group.set_step(step); }
  bool sees_newcomers() override { return group.name() == "world" && impl::Groups::sees_newcomers(group); }
  void end_for_newcomers(i64 step) override {
    impl::Groups::expect_newcomers(group);
    errors::raise<impl::NewcomersWait>("fit", "processes wait to join, behind step " + std::to_string(step) +
                                                  ": Communicator::rebuild() takes them in, and the same call of "
                                                  "fit goes on from there");
  }
  void tell_of_error(const std::exception_ptr& error) override {
    try {
      std::rethrow_exception(error);
    } catch (const impl::NewcomersWait&) {
      // The others raise it, too.
    } catch (const std::exception& e) {
      group.report_error(e.what());
    } catch (...) {  // the caller raises it again
      group.report_error("an exception that is not a std::exception");
    }
  }

  const Communicator group;
  const StrategyOptions options;
  impl::CallTimes times;
  impl::KeptOfGradients kept;
  const u64 own_id = new_id(context);
};

TANDEM_INLINE i64 InputContext::get_per_replica_batch_size(i64 global_batch_size) const {
  if (global_batch_size % num_replicas_in_sync != 0)
    errors::raise<errors::InvalidArgumentError>("get_per_replica_batch_size",
                                                std::to_string(num_replicas_in_sync) +
                                                    " replicas do not divide a global batch of " +
                                                    std::to_string(global_batch_size));
  return global_batch_size / num_replicas_in_sync;
}

TANDEM_INLINE MultiWorkerMirroredStrategy::MultiWorkerMirroredStrategy(StrategyOptions options)
    : MultiWorkerMirroredStrategy(Communicator::world(), options) {}
TANDEM_INLINE MultiWorkerMirroredStrategy::MultiWorkerMirroredStrategy(Communicator group, StrategyOptions options)
    : state_(std::make_unique<State>(std::move(group), options)) {
  if (options.bucket_bytes < 1 || options.first_bucket_bytes < 1)
    errors::raise<errors::InvalidArgumentError>("MultiWorkerMirroredStrategy", "the sizes of buckets must be positive");
  if (options.error_feedback && (options.compression != Compression::bfloat16 || options.virtual_shards > 0))
    errors::raise<errors::InvalidArgumentError>(
        "MultiWorkerMirroredStrategy",
        ".error_feedback needs .compression = bfloat16, and cannot be used with .virtual_shards: what a process keeps "
        "would depend on the number of processes");
  const auto is_power = [](int n) { return n > 0 && (n & (n - 1)) == 0; };
  const int shards = options.virtual_shards, processes = state_->group.size();
  if (shards != 0 && (!is_power(shards) || !is_power(processes) || shards < processes))
    errors::raise<errors::InvalidArgumentError>(
        "MultiWorkerMirroredStrategy",
        ".virtual_shards and the number of processes must be powers of 2, and not fewer "
        "shards than processes, but are " +
            std::to_string(shards) + " and " + std::to_string(processes));
}
TANDEM_INLINE MultiWorkerMirroredStrategy::MultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy&&) noexcept =
    default;
TANDEM_INLINE MultiWorkerMirroredStrategy& MultiWorkerMirroredStrategy::operator=(
    MultiWorkerMirroredStrategy&&) noexcept = default;
TANDEM_INLINE MultiWorkerMirroredStrategy::~MultiWorkerMirroredStrategy() = default;

TANDEM_INLINE const Communicator& MultiWorkerMirroredStrategy::group() const { return state_->group; }
TANDEM_INLINE Replication* MultiWorkerMirroredStrategy::replication() const { return state_.get(); }
TANDEM_INLINE Tensor MultiWorkerMirroredStrategy::reduce(ReduceOp op, const Tensor& value) const {
  return all_reduce(value, {.op = op, .group = group()});
}
TANDEM_INLINE Tensor MultiWorkerMirroredStrategy::reduce(ReduceOp op, const Tensor& value, i64 axis) const {
  if (op != ReduceOp::sum && op != ReduceOp::mean)
    errors::raise<errors::InvalidArgumentError>("reduce", "with an axis the op is sum or mean");
  const Tensor sum = all_reduce(reduce_sum(value, axis), {.group = group()});
  if (op == ReduceOp::sum) return sum;
  const int at = resolve_axis("reduce", axis, value.rank());
  const Tensor count = shape(value, {.out_type = DType::int64})[at];
  return sum / cast(all_reduce(count, {.group = group()}), sum.dtype());
}
TANDEM_INLINE Tensor MultiWorkerMirroredStrategy::gather(const Tensor& value, i64 axis) const {
  const int at = resolve_axis("gather", axis, value.rank());
  if (at == 0) return all_gather(value, {.group = group()});
  std::vector<i64> order;
  for (int i = 0; i < value.rank(); ++i) order.push_back(i == 0 ? at : i == at ? 0 : i);
  return transpose(all_gather(transpose(value, order), {.group = group()}), order);
}
TANDEM_INLINE StrategyReport MultiWorkerMirroredStrategy::report() const {
  const impl::CallTimes& times = state_->times;
  StrategyReport r;
  r.rank = group().rank(), r.operations = times.operations();
  for (const auto& entry : state_->kept.names())
    r.tables.push_back(times.table(entry.second, impl::rows_label(entry.second)));
  const StrategyReport::Rank own = times.rank();
  const std::vector<i64> receive(static_cast<std::size_t>(group().size()), 3);
  const double numbers[] = {static_cast<double>(own.steps), own.step, own.exposed};
  std::vector<double> all(receive.size() * 3);
  group().run({.kind = Collective::all_gather,
               .dtype = DType::float64,
               .input = numbers,
               .output = all.data(),
               .count = 3,
               .unit = 3,
               .receive = {receive.data(), receive.size()}},
              "all_gather", "'report'");
  for (std::size_t i = 0; i < all.size(); i += 3) r.ranks.push_back({static_cast<i64>(all[i]), all[i + 1], all[i + 2]});
  return r;
}
TANDEM_INLINE void MultiWorkerMirroredStrategy::reset_report() const { state_->times = {}; }
TANDEM_INLINE void MultiWorkerMirroredStrategy::broadcast(const Module& module) const {
  const tandem::detail::OutsideTrace now;
  for (const Variable& v : module.variables())
    if (v.dtype() != DType::string && v.aggregate())
      v.set_untracked(tandem::distribute::broadcast(v.value_untracked(), {.name = v.name(), .group = group()}));
}
TANDEM_INLINE Tensor MultiWorkerMirroredStrategy::own_rows(const Tensor& x, i64 first, i64 step) {
  if (x.rank() == 0)
    errors::raise<errors::InvalidArgumentError>(
        "distribute_dataset", "the tensors of a batch must have rows, but one is " + to_string(x.spec()));
  return x(Slice(first, none, step));
}

}  // namespace TANDEM_NS::distribute

namespace TANDEM_NS::nn {

inline int replicas() { return tandem::detail::replication ? tandem::detail::replication->size() : 1; }
TANDEM_INLINE Tensor compute_average_loss(const Tensor& per_example_loss, AverageLossOptions o) {
  const tandem::detail::CallSite call(o);
  if (per_example_loss.rank() == 0)
    errors::raise<errors::InvalidArgumentError>("compute_average_loss",
                                                "the losses must be those of examples, [n, ...], not a scalar");
  if (o.global_batch_size < 0)
    errors::raise<errors::InvalidArgumentError>(
        "compute_average_loss",
        "global_batch_size must not be negative, but is " + std::to_string(o.global_batch_size));
  Tensor values = per_example_loss;
  if (o.sample_weight.is_set())
    values = values * tandem::detail::weights_like("compute_average_loss", o.sample_weight, values);
  const Tensor sum = reduce_sum(values);
  if (o.global_batch_size > 0) return sum / static_cast<double>(o.global_batch_size);
  // A process may have no examples of a last batch: its loss is 0.
  const auto rows = per_example_loss.shape()[0];
  const Tensor count = shape(per_example_loss)[0];
  return sum / (cast(rows.is_known() && rows != 0 ? count : maximum(count, 1), sum.dtype()) * replicas());
}
TANDEM_INLINE Tensor scale_regularization_loss(const Tensor& penalty, OpOptions o) {
  const tandem::detail::CallSite call(o);
  return penalty / replicas();
}

}  // namespace TANDEM_NS::nn
