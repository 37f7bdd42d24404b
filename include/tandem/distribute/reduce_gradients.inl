// Definitions of distribute/reduce_gradients.hpp.
#pragma once
#include <algorithm>
#include <array>
#include <string>

#include "tandem/core/apply.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/distribute/bucket.hpp"
#include "tandem/distribute/bucket_ops.hpp"
#include "tandem/distribute/call_times.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/reduce_gradients.hpp"
#include "tandem/distribute/texts.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/index/segment.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/index/unique.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS::distribute::impl {

// Tensors that travel together, and the numbers of their gradients.
struct PlannedBucket {
  std::vector<Tensor> tensors;
  std::vector<std::size_t> owners;
  i64 bytes = 0;
};

// In a bucket.
inline i64 bytes_of(const Tensor& x) {
  return static_cast<i64>(room_of(static_cast<std::size_t>(x.shape().known_size()) * size_of(x.dtype())));
}

// The gradients of the last Variables come first, since a backward pass computes them first.
class BucketPlan {
 public:
  explicit BucketPlan(const StrategyOptions& options) : options_(options) {}

  void add(const Tensor& x, std::size_t owner) { gradients_.push_back({x, owner}), bytes_ += bytes_of(x); }
  // Puts them into buckets. One that ends late, with a gradient of the first layers, would hold back those that were
  // there before: so each has a part of all bytes only, unless one gradient is more. With virtual shards nothing
  // travels early.
  void divide() {
    i64 part = options_.bucket_bytes;
    if (options_.virtual_shards == 0) part = std::min(part, std::max(options_.first_bucket_bytes, bytes_ / 8));
    for (const auto& [x, owner] : gradients_) {
      PlannedBucket* open = nullptr;
      for (PlannedBucket& b : buckets)
        if (b.tensors[0].dtype() == x.dtype()) open = &b;  // the latest one
      const i64 most = open == buckets.data() ? options_.first_bucket_bytes : part;
      if (!open || open->bytes + bytes_of(x) > most) open = &buckets.emplace_back();
      open->tensors.push_back(x), open->owners.push_back(owner), open->bytes += bytes_of(x);
    }
  }
  // "bucket 3 of 7 (4.2 MB, 'dense/kernel' ..)".
  std::string label(std::size_t i, const std::vector<Variable>& variables) const {
    const PlannedBucket& b = buckets[i];
    std::string r =
        "bucket " + std::to_string(i + 1) + " of " + std::to_string(buckets.size()) + " (" + bytes_text(b.bytes);
    if (b.owners[0] < variables.size()) r += ", '" + variables[b.owners[0]].name() + "'";
    return r + (b.owners.size() > 1 ? " .." : "") + ")";
  }

  std::vector<PlannedBucket> buckets;

 private:
  struct Owned {
    Tensor gradient;
    std::size_t owner;
  };
  const StrategyOptions& options_;
  std::vector<Owned> gradients_;
  i64 bytes_ = 0;
};

TANDEM_INLINE std::string rows_label(const std::string& name) {
  return std::string(CallTimes::of_rows) + "'" + name + "'";
}
inline std::string indices_label(const std::string& name) { return "indices of '" + name + "'"; }
TANDEM_INLINE const std::string& KeptOfGradients::name_of(const Variable& table) {
  if (const auto found = names_.find(table.id()); found != names_.end()) return found->second;
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(names_.begin(), names_.end(), [&](const auto& entry) { return entry.second == name; });
  };
  std::string name = table.name();
  for (int n = 2; is_taken(name); ++n) name = table.name() + " (" + std::to_string(n) + ")";
  return names_.emplace(table.id(), std::move(name)).first->second;
}

// The rows that each rank has.
inline Tensor row_counts(const Communicator& group, const Tensor& rows, const std::string& name) {
  const Tensor own = reshape(shape(rows, {.out_type = DType::int64})[0], {1});
  return all_gather(own, {.name = name.c_str(), .equal_rows = true, .group = group});
}
inline Tensor all_rows(const Communicator& group, const Tensor& own, const Tensor& each, const std::string& label) {
  return apply1(all_gather_op, rules::CollectiveAttrs{group.name(), ReduceOp::sum, 0, label}, no_options, own, each);
}
inline Tensor sum_of_all(const Communicator& group, const Tensor& own, const std::string& label) {
  return apply1(all_reduce_op, rules::CollectiveAttrs{group.name(), ReduceOp::sum, 0, label}, no_options, own);
}
// Rows of a Variable, and their indices.
using RowsAndIndices = std::array<Tensor, 2>;
// What the dense forms of all ranks add up to, as rows again: those that a rank has, as an optimizer updates only
// these. An index that the Variable does not have becomes that of a row behind its last one, so that this rank does not
// raise alone: all ranks get it, and their update raises.
TANDEM_INLINE RowsAndIndices summed_rows(const Communicator& group, const RowsAndIndices& own, i64 of,
                                         const std::string& name) {
  const Tensor index = cast(own[1], DType::int64);
  const Tensor at = where(logical_and(index >= 0, index < of), index, of);
  const Tensor sums = sum_of_all(group, unsorted_segment_sum(own[0], at, of + 1), rows_label(name));
  const Tensor counts =
      sum_of_all(group, unsorted_segment_sum(ones_like(cast(at, DType::int32)), at, of + 1), indices_label(name));
  const Tensor rows = reshape(where(counts > 0), {-1});
  return {gather(sums, rows), cast(rows, own[1].dtype())};
}
// The sum over all ranks; equal rows of one rank are added up before they travel. An all-gather moves (p - 1) / p of
// the rows of all p ranks, the sum of dense forms 2 (p - 1) / p of the Variable's: so the gradient travels dense in a
// step in which all ranks together have at least twice the Variable's rows. The ranks decide alike, by numbers that all
// have.
TANDEM_INLINE Gradient gathered(const Communicator& group, const Gradient& g, const std::string& name) {
  const IndexedSlices s = g.slices();
  const Unique rows = unique(s.indices);
  const Tensor sums = unsorted_segment_sum(s.values, rows.idx, get_shape(rows.y)[0]);
  const Tensor each = row_counts(group, rows.y, name);
  const auto by_rows = [&] {
    return RowsAndIndices{all_rows(group, sums, each, rows_label(name)),
                          all_rows(group, rows.y, each, indices_label(name))};
  };
  const i64 of = g.shape().dim(0);
  const RowsAndIndices r = group.size() == 1 || of == none || of == 0
                               ? by_rows()
                               : cond(
                                     reduce_sum(each) >= 2 * of,
                                     [&] {
                                       return summed_rows(group, {sums, rows.y}, of, name);
                                     },
                                     by_rows);
  return IndexedSlices{r[0], r[1], s.like};
}

// The number whose log2(count) bits are those of n in reverse.
inline i64 reversed_bits(i64 n, i64 count) {
  i64 r = 0;
  for (; count > 1; count /= 2, n /= 2) r = 2 * r + n % 2;
  return r;
}
// The rows of all shards in the order in which one process would have put them together (train/shards.inl): ranks with
// their bits reversed. Equal rows are not added up before, as their sum depends on the order.
TANDEM_INLINE Gradient ordered_rows(const Communicator& group, const Gradient& g, const std::string& name) {
  if (group.size() == 1) return g;
  const IndexedSlices s = g.slices();
  const Tensor rows = cast(s.indices, DType::int64);
  const Tensor place = zeros_like(rows) + constant(reversed_bits(group.rank(), group.size()));
  const Tensor each = row_counts(group, rows, name);
  const Tensor all = all_rows(group, stack({rows, place}, {.axis = 1}), each, indices_label(name));
  const Tensor order = argsort(all(Slice(), 1));
  return IndexedSlices{gather(all_rows(group, s.values, each, rows_label(name)), order),
                       gather(cast(all(Slice(), 0), s.indices.dtype()), order), s.like};
}

// The sums in the order of a tree over ranks: r and r + p / 2, and so on. The same bits as if one process had added up
// all.
TANDEM_INLINE std::vector<Tensor> ordered_sums(const Communicator& group, const PlannedBucket& bucket,
                                               const std::string& label) {
  std::vector<Tensor> flat;
  std::vector<i64> sizes;
  for (const Tensor& t : bucket.tensors) flat.push_back(reshape(t, {-1})), sizes.push_back(t.shape().known_size());
  Tensor all = all_gather(reshape(concat(flat, 0), {1, -1}), {.name = label, .equal_rows = true, .group = group});
  for (i64 n = group.size() / 2; n > 0; n /= 2) all = all(Slice(0, n)) + all(Slice(n, 2 * n));
  std::vector<Tensor> r;
  i64 at = 0;
  for (std::size_t k = 0; k < sizes.size(); at += sizes[k], ++k)
    r.push_back(reshape(all(0, Slice(at, at + sizes[k])), bucket.tensors[k].shape()));
  return r;
}

TANDEM_INLINE Tensor KeptOfGradients::rounded(const Tensor& gradient, const Variable& variable, const Tensor& factor) {
  auto at = left_.find(variable.id());
  if (at == left_.end() || at->second.shape() != gradient.shape()) {
    const tandem::detail::OutsideTrace now;
    const DeviceScope there(variable.spec().device);
    const Variable nothing(zeros(gradient.shape()), {.trainable = false, .aggregate = false});
    at = left_.insert_or_assign(variable.id(), nothing).first;
  }
  const Variable& left = at->second;
  const Tensor before = left.read_value();
  const Tensor all = gradient + (factor.is_set() ? before * factor : before), sent = cast(all, DType::bfloat16);
  Tensor rest = all - cast(sent, DType::float32);
  if (factor.is_set()) rest = rest / factor;
  rest = where(is_finite(rest), rest, 0.f);  // an overflow is not an error to make up for
  left.assign(factor.is_set() ? where(equal(factor, 0.f), before, rest) : rest);
  return sent;
}

// The gradients that travel in buckets.
TANDEM_INLINE BucketPlan planned(const StrategyOptions& options, const std::vector<Gradient>& gradients,
                                 const std::vector<Variable>& variables, const Tensor& factor, KeptOfGradients& kept) {
  BucketPlan plan(options);
  for (std::size_t i = gradients.size(); i-- > 0;) {
    const Gradient& g = gradients[i];
    const bool is_of_variable = i < variables.size();
    if (!g.is_set() || g.is_sparse() || (is_of_variable && !variables[i].aggregate())) continue;
    if (!g.values().shape().is_fully_defined())
      errors::raise<errors::InvalidArgumentError>(
          "all_reduce", "the gradient " + (is_of_variable ? "of '" + variables[i].name() + "'" : std::to_string(i)) +
                            " has unknown sizes, " + to_string(g.values().spec()) +
                            ": give it the shape of the Variable, reshape(g, {..})");
    const bool narrow =
        options.compression == Compression::bfloat16 && is_of_variable && g.values().dtype() == DType::float32;
    plan.add(!narrow                  ? g.dense()
             : options.error_feedback ? kept.rounded(g.dense(), variables[i], factor)
                                      : cast(g.dense(), DType::bfloat16),
             i);
  }
  plan.divide();
  return plan;
}

TANDEM_INLINE std::vector<Gradient> reduce_gradients(const Communicator& group, const StrategyOptions& options,
                                                     const std::vector<Gradient>& gradients,
                                                     const std::vector<Variable>& variables, const Tensor& factor,
                                                     KeptOfGradients& kept) {
  std::vector<Gradient> r = gradients;
  Groups::check_alive("all_reduce", group);
  const BucketPlan plan = planned(options, gradients, variables, factor, kept);
  std::vector<Tensor> tokens;
  std::vector<std::string> labels;
  const bool is_ordered = options.virtual_shards > 0;
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    labels.push_back(plan.label(b, variables));
    if (!is_ordered) tokens.push_back(start_bucket(group, static_cast<i64>(b), labels[b], plan.buckets[b].tensors));
  }
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].is_sparse() && variables[i].aggregate())
      r[i] = (is_ordered ? ordered_rows : gathered)(group, gradients[i], kept.name_of(variables[i]));
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    const PlannedBucket& bucket = plan.buckets[b];
    const std::vector<Tensor> sums =
        is_ordered ? ordered_sums(group, bucket, labels[b])
                   : wait_bucket(group, static_cast<i64>(b), labels[b], tokens[b], bucket.tensors);
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const std::size_t i = bucket.owners[k];
      r[i] = cast(sums[k], gradients[i].values().dtype());
    }
  }
  return r;
}

}  // namespace TANDEM_NS::distribute::impl
