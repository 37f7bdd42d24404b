// Definitions of distribute/sharded_embedding.hpp.
#pragma once
#include "tandem/core/replication.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/sharded_embedding.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/index/count.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/search.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/index/unique.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS::distribute {

namespace impl {

// The rank's rows of a table, by a seed that all ranks have.
inline Tensor initial_rows(const Communicator& group, const Shape& table, const ShardedEmbeddingOptions& o) {
  i64 seed = 0;
  if (!o.embeddings_initializer.seed()) {
    const Tensor own = random::bits({}, {.dtype = DType::int64});
    seed = (group.size() > 1 ? broadcast(own, {.name = "seed of ShardedEmbedding", .group = group}) : own).item<i64>();
  }
  return o.embeddings_initializer.some_rows(table, group.rank(), group.size(), seed, o.dtype);
}

}  // namespace impl

TANDEM_INLINE ShardedEmbedding::ShardedEmbedding(i64 input_dim, i64 output_dim, ShardedEmbeddingOptions o)
    : Layer("sharded_embedding"), input_dim_(input_dim), group_(o.group ? *o.group : Communicator::world()) {
  layers::detail::positive("ShardedEmbedding", "input_dim", input_dim);
  layers::detail::positive("ShardedEmbedding", "output_dim", output_dim);
  if (const Replication* const r = tandem::detail::replication; r && r->size() != group_.size())
    errors::raise<errors::InvalidArgumentError>(
        "ShardedEmbedding", "the strategy has " + std::to_string(r->size()) + " processes, the layer's group '" +
                                group_.name() + "' " + std::to_string(group_.size()) +
                                ": gradients are added up within " + "the group alone");
  const tandem::detail::OutsideTrace now;
  const Device device = group_.size() == 1 ? current_device() : Device{};
  const DeviceScope host(Device{});
  const Variable shard(impl::initial_rows(group_, {input_dim, output_dim}, o).to(device),
                       {.name = "shard", .aggregate = group_.size() == 1, .whole_rows = input_dim});
  add_variables({{.path = "shard", .variable = shard}});
}

TANDEM_INLINE Tensor ShardedEmbedding::operator()(const Tensor& ids) const {
  const InCall here(*this);
  if (!is_checked()) [[unlikely]]
    check_registered();
  const tandem::detail::CallSite call(no_options, "ShardedEmbedding");
  const Variable shard = variable(0);
  const i64 p = group_.size();
  if (p == 1) return gather(shard, ids);
  if (ids.dtype() != DType::int32 && ids.dtype() != DType::int64)
    errors::raise<errors::InvalidArgumentError>("ShardedEmbedding",
                                                "ids are int32 or int64, not " + to_string(ids.spec()));
  const Tensor flat = cast(reshape(ids, {-1}), DType::int64);
  debugging::assert_greater_equal(flat, 0, {.message = "ShardedEmbedding: an id is negative"});
  debugging::assert_less(flat, input_dim_, {.message = "ShardedEmbedding: an id is beyond the table"});
  const Unique asked = unique(flat);
  const Tensor owners = floormod(asked.y, p), order = argsort(owners);
  const CollectiveOptions within{.group = group_};
  const Tensor counts = bincount(owners, {.minlength = p, .dtype = DType::int64});
  const Exchanged wanted = all_to_all(gather(asked.y, order), counts, within);
  const Tensor rows = all_to_all(gather(shard, floordiv(wanted.rows, p)), wanted.splits, counts, within);
  return gather(rows, reshape(gather(invert_permutation(order), asked.idx), shape(ids)));
}

TANDEM_INLINE Tensor ShardedEmbedding::table() const {
  const tandem::detail::OutsideTrace now;
  const Tensor shard = variable(0).value_untracked();
  if (group_.size() == 1) return shard;
  // Rank by rank; row r is the r / p-th of rank r mod p.
  const i64 p = group_.size(), rows = input_dim_;
  const Tensor all = all_gather(shard, {.name = "table of ShardedEmbedding", .group = group_});
  const Tensor row = range(rows), owner = floormod(row, p), least = constant(rows / p), more = constant(rows % p);
  return gather(all, owner * least + minimum(owner, more) + floordiv(row, p));
}
TANDEM_INLINE void ShardedEmbedding::assign(const Tensor& table) const {
  const tandem::detail::OutsideTrace now;
  const Variable shard = variable(0);
  const Shape whole{input_dim_, shard.shape()[1]};
  if (table.dtype() != shard.dtype() || table.shape() != whole)
    errors::raise<errors::InvalidArgumentError>("ShardedEmbedding", std::string("the table is ") + name(shard.dtype()) +
                                                                        " " + to_string(whole) + ", not " +
                                                                        to_string(table.spec()));
  shard.set_untracked(table(Slice(group_.rank(), none, group_.size())));
}

}  // namespace TANDEM_NS::distribute
