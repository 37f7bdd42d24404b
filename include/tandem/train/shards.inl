// Definitions of train/shards.hpp.
#pragma once
#include <algorithm>

#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/train/shards.hpp"

namespace TANDEM_NS::train::detail {

TANDEM_INLINE Shards::Shards() {
  const Replication* const r = tandem::detail::replication;
  if (!r) return;
  rank_ = TANDEM_VIRTUAL(*r, Replication::rank)(), processes_ = TANDEM_VIRTUAL(*r, Replication::size)();
  const i64 shards = TANDEM_VIRTUAL(*r, Replication::virtual_shards)();
  count_ = shards ? shards / processes_ : 1;
  draws_apart_ = shards > 0 || processes_ > 1;
}
TANDEM_INLINE Shards::~Shards() {
  if (shard_ >= 0) move_to(-1);
}
// The number of draws is the second element of the generator's state. No step draws 2^32 times.
TANDEM_INLINE void Shards::move_to(i64 shard) {
  const i64 by = (shard - shard_) * (i64{1} << 32);
  const Variable& state = random::global_generator().state();
  if (by != 0) state.assign_add(constant(std::vector<i64>{0, by}));
  shard_ = shard;
}
TANDEM_INLINE Batch Shards::begin(const Batch& batch, i64 i) {
  if (draws_apart_) move_to(rank_ + i * processes_);
  if (count_ == 1) return batch;
  Batch r;
  for (const Tensor& x : batch) r.push_back(x.rank() == 0 ? x : x(Slice(i, none, count_)));
  return r;
}
TANDEM_INLINE std::vector<Gradient> Shards::sum(std::vector<std::vector<Gradient>> g) {
  for (std::size_t n = g.size() / 2; n > 0; n /= 2)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < g[i].size(); ++k)
        if (g[i][k].is_set()) g[i][k] = g[i][k].tensor() + g[i + n][k].tensor();
  return std::move(g[0]);
}

}  // namespace TANDEM_NS::train::detail
