// Definitions of train/shards.hpp.
#pragma once
#include <algorithm>

#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/add_n.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/transfer.hpp"
#include "tandem/train/shards.hpp"

namespace TANDEM_NS::train::detail {

TANDEM_INLINE Shards::Shards() {
  const Replication* const r = tandem::detail::replication;
  if (!r) return;
  rank_ = TANDEM_VIRTUAL(*r, Replication::rank)(), processes_ = TANDEM_VIRTUAL(*r, Replication::size)();
  const i64 shards = TANDEM_VIRTUAL(*r, Replication::virtual_shards)();
  count_ = shards ? shards / processes_ : 1;
  devices_ = TANDEM_VIRTUAL(*r, Replication::shard_devices)();
  draws_apart_ = shards > 0 || processes_ > 1;
  tandem::detail::parts_of_batch = count_;
}
TANDEM_INLINE void Shards::end() {
  if (shard_ >= 0) random::global_generator().state().assign_sub(offset());
}
// How far the draws of a shard are from those of a step without shards. The number of draws is the second element of
// the generator's state; no step draws 2^32 times.
TANDEM_INLINE Tensor Shards::offset() const { return constant(std::vector<i64>{0, (shard_ + 1) * (i64{1} << 32)}); }
TANDEM_INLINE Batch Shards::begin(const Batch& batch, i64 i) {
  if (draws_apart_) {
    const Variable& state = random::global_generator().state();
    if (shard_ < 0) before_ = state.read_value();
    shard_ = rank_ + i * processes_;
    state.assign(before_ + offset());
  }
  if (count_ == 1 && devices_.empty()) return batch;
  Batch r;
  for (const Tensor& x : batch) {
    const Tensor rows = x.rank() == 0 ? x : x(Slice(i, none, count_));
    r.push_back(devices_.empty() ? rows : rows.to(device(i)));
  }
  return r;
}
// The sum of two gradients of a Variable, on the device of the first. Row-sparse ones stay so: their rows are put
// together. Dense ones by add_n: a sum of products by + becomes one product, which adds up in another order
// (combine_products).
TANDEM_INLINE Gradient sum_of_two(const Gradient& a, const Gradient& b) {
  const Device device = a.values().device();
  if (!a.is_sparse() || !b.is_sparse()) return add_n({a.tensor(), b.tensor().to(device)});
  const Tensor rows = a.indices(), more = b.indices();
  const DType dtype = rows.dtype() == more.dtype() ? rows.dtype() : DType::int64;
  return IndexedSlices{concat({a.values(), b.values().to(device)}, 0),
                       concat({cast(rows, dtype), cast(more, dtype).to(device)}, 0), a.like()};
}
// In the order of a tree. That of rows that are put together: the shards' numbers with their bits reversed.
TANDEM_INLINE std::vector<Gradient> Shards::sum(std::vector<std::vector<Gradient>> g) {
  for (std::size_t count = g.size(); count > 1;) {
    const std::size_t n = (count + 1) / 2;
    for (std::size_t i = 0; i + n < count; ++i)
      for (std::size_t k = 0; k < g[i].size(); ++k)
        if (g[i][k].is_set()) g[i][k] = sum_of_two(g[i][k], g[i + n][k]);
    count = n;
  }
  return std::move(g[0]);
}

}  // namespace TANDEM_NS::train::detail
