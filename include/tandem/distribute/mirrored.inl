// Definitions of distribute/mirrored.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/core/devices.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/mirrored.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS::distribute {

namespace impl {

// What one process does, which has nobody to wait for.
struct LoneReplication : Replication {
  explicit LoneReplication(u64 id) : own_id(id) {}
  u64 id() const override { return own_id; }
  int rank() const override { return 0; }
  Tensor initial(const Tensor& value) override { return value; }
  void largest(std::vector<i64>&) override {}
  bool agree(const Graph&, const std::string&) override { return false; }
  void begin_step(i64) override {}
  void tell_of_error(const std::exception_ptr&) override {}

  const u64 own_id;
};

}  // namespace impl

// Outside of run(): one process, whose batches are divided among the replicas.
struct MirroredStrategy::State final : impl::LoneReplication {
  explicit State(Slices r) : LoneReplication(new_id(context)), replicas(std::move(r)) {
    for (i64 n = 0; n <= replicas.count(); ++n) {
      std::vector<u64>& of = ids.emplace_back();
      for (i64 i = 0; i < n; ++i) of.push_back(new_id(context));
    }
  }

  int size() const override { return 1; }
  int virtual_shards() const override { return static_cast<int>(replicas.count()); }
  Span<const Device> shard_devices() const override { return replicas.devices(); }
  std::vector<Gradient> sum_gradients(const std::vector<Gradient>& gradients, const std::vector<Variable>&,
                                      const Tensor&) override {
    return gradients;
  }
  Tensor sum(const Tensor& x) override { return x; }

  const Slices replicas;
  std::vector<std::vector<u64>> ids;  // [n][i]: of replica i of n, the same in each call: a trace is kept by it
};

// In run(): one of the replicas, of which the later ones have not been called yet.
struct MirroredStrategy::Replica final : impl::LoneReplication {
  Replica(u64 id, i64 n, i64 i) : LoneReplication(id), replicas(static_cast<int>(n)), number(static_cast<int>(i)) {}

  int rank() const override { return number; }
  int size() const override { return replicas; }
  int virtual_shards() const override { return 0; }
  Span<const Device> shard_devices() const override { return {}; }
  std::vector<Gradient> sum_gradients(const std::vector<Gradient>&, const std::vector<Variable>&,
                                      const Tensor&) override {
    errors::raise<errors::UnimplementedError>(
        "apply_gradients", "it is called in replica " + std::to_string(number) + " of " + std::to_string(replicas) +
                               " by MirroredStrategy::run, before all replicas have computed their gradients: return "
                               "them from run(), reduce() them, and apply the sums behind it");
  }
  Tensor sum(const Tensor&) override {
    errors::raise<errors::UnimplementedError>(
        "MirroredStrategy",
        "a layer asks for a sum over the replicas inside of run(), which calls them one after the "
        "other (BatchNormalization with .synchronized needs MultiWorkerMirroredStrategy)");
  }

  const int replicas, number;
};

TANDEM_INLINE MirroredStrategy::Inside::Inside(const MirroredStrategy& strategy, i64 replica, i64 replicas)
    : replica_(std::make_unique<Replica>(
          strategy.state_->ids[static_cast<std::size_t>(replicas)][static_cast<std::size_t>(replica)], replicas,
          replica)),
      scope_(std::make_unique<ReplicationScope>(replica_.get())) {}
TANDEM_INLINE MirroredStrategy::Inside::~Inside() = default;

namespace impl {
inline Slices all_devices() {
  for (const char* kind : {"GPU", "CPU"})
    if (std::vector<Device> devices = config::list_logical_devices(kind); devices.size() > 1)
      return Slices(std::move(devices));
  return Slices(1);
}
}  // namespace impl

TANDEM_INLINE MirroredStrategy::MirroredStrategy() : MirroredStrategy(impl::all_devices()) {}
TANDEM_INLINE MirroredStrategy::MirroredStrategy(Slices replicas) : state_(new State(std::move(replicas))) {}
TANDEM_INLINE MirroredStrategy::MirroredStrategy(MirroredStrategy&&) noexcept = default;
TANDEM_INLINE MirroredStrategy& MirroredStrategy::operator=(MirroredStrategy&&) noexcept = default;
TANDEM_INLINE MirroredStrategy::~MirroredStrategy() = default;
TANDEM_INLINE const Slices& MirroredStrategy::replicas() const { return state_->replicas; }
TANDEM_INLINE Replication* MirroredStrategy::replication() const { return state_.get(); }

TANDEM_INLINE void MirroredStrategy::check_values(std::size_t replicas) {
  if (replicas == 0)
    errors::raise<errors::InvalidArgumentError>("MirroredStrategy",
                                                "there are no values of replicas: pass what run() returns");
}
TANDEM_INLINE void MirroredStrategy::check_equal(const std::vector<std::vector<Tensor>>& tensors) {
  for (const std::vector<Tensor>& t : tensors)
    if (t.size() != tensors[0].size())
      errors::raise<errors::InvalidArgumentError>("MirroredStrategy", "the replicas have returned " +
                                                                          std::to_string(tensors[0].size()) + " and " +
                                                                          std::to_string(t.size()) + " tensors");
}
TANDEM_INLINE Tensor MirroredStrategy::reduced(ReduceOp op, const std::vector<Tensor>& values) {
  if (!values[0].is_set()) return values[0];  // a gradient that no replica has
  const DType dtype = values[0].dtype();
  const auto wide = [&](const Tensor& x) {  // in half precision a sum may overflow where the mean does not
    return op == ReduceOp::mean ? tandem::detail::widened(x) : x;
  };
  Tensor r = wide(values[0]);
  for (std::size_t i = 1; i < values.size(); ++i) {
    const Tensor& x = values[i];
    if (x.shape() != r.shape())
      errors::raise<errors::InvalidArgumentError>(
          "MirroredStrategy::reduce", "the replicas' values differ in shape: " + to_string(values[0].spec()) + " and " +
                                          to_string(x.spec()) + " (reduce them along an axis, or gather them)");
    const Tensor here = wide(x.to(r.device()));
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::mean: r = r + here; break;
      case ReduceOp::min: r = minimum(r, here); break;
      case ReduceOp::max: r = maximum(r, here); break;
      case ReduceOp::prod: r = r * here; break;
    }
  }
  if (op == ReduceOp::mean && values.size() > 1) r = r / static_cast<double>(values.size());
  return dtypes::half_floating.has(dtype) ? cast(r, dtype) : r;
}
TANDEM_INLINE Tensor MirroredStrategy::reduced(ReduceOp op, const std::vector<Tensor>& values, i64 axis) {
  if (op != ReduceOp::sum && op != ReduceOp::mean)
    errors::raise<errors::InvalidArgumentError>("MirroredStrategy::reduce", "with an axis the op is sum or mean");
  std::vector<Tensor> sums, counts;
  for (const Tensor& x : values) {
    sums.push_back(reduce_sum(op == ReduceOp::mean ? tandem::detail::widened(x) : x, axis));
    counts.push_back(shape(x, {.out_type = DType::int64})[resolve_axis("MirroredStrategy::reduce", axis, x.rank())]);
  }
  const Tensor sum = reduced(ReduceOp::sum, sums);
  if (op == ReduceOp::sum) return sum;
  const Tensor count = cast(reduced(ReduceOp::sum, counts), sum.dtype()).to(sum.device());
  const DType dtype = values[0].dtype();
  return dtypes::half_floating.has(dtype) ? cast(sum / count, dtype) : sum / count;
}
TANDEM_INLINE Tensor MirroredStrategy::gathered(const std::vector<Tensor>& values, i64 axis) {
  std::vector<Tensor> here;
  for (const Tensor& x : values) here.push_back(x.to(values[0].device()));
  return here.size() == 1 ? here[0] : concat(here, axis);
}

}  // namespace TANDEM_NS::distribute
