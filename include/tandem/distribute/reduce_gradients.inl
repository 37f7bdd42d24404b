// Definitions of distribute/reduce_gradients.hpp.
#pragma once
#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "tandem/base/warning.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/distribute/bucket.hpp"
#include "tandem/distribute/bucket_ops.hpp"
#include "tandem/distribute/call_times.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/reduce_gradients.hpp"
#include "tandem/distribute/texts.hpp"
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
  // there before: so each has a part of all bytes only, unless one gradient is more.
  void divide() {
    const i64 part = std::min(options_.bucket_bytes, std::max(options_.first_bucket_bytes, bytes_ / 8));
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

TANDEM_INLINE std::string rows_label(const Variable& variable) {
  return std::string(CallTimes::of_rows) + "'" + variable.name() + "'";
}
// The rows that each rank has.
inline Tensor row_counts(const Communicator& group, const Tensor& rows, const Variable& variable) {
  const Tensor own = reshape(shape(rows, {.out_type = DType::int64})[0], {1});
  return all_gather(own, {.name = variable.name(), .equal_rows = true, .group = group});
}
inline Tensor all_rows(const Communicator& group, const Tensor& own, const Tensor& each, const std::string& label) {
  return apply1(all_gather_op, rules::CollectiveAttrs{group.name(), ReduceOp::sum, 0, label}, no_options, own, each);
}
inline std::string indices_label(const Variable& variable) { return "indices of '" + variable.name() + "'"; }
// The rows of all ranks; equal ones of one rank are added up before they travel.
inline Gradient gathered(const Communicator& group, const Gradient& g, const Variable& variable) {
  const IndexedSlices s = g.slices();
  const Unique rows = unique(s.indices);
  const Tensor sums = unsorted_segment_sum(s.values, rows.idx, get_shape(rows.y)[0]);
  const Tensor each = row_counts(group, rows.y, variable);
  return IndexedSlices{all_rows(group, sums, each, rows_label(variable)),
                       all_rows(group, rows.y, each, indices_label(variable)), s.like};
}

// The number whose log2(count) bits are those of n in reverse.
inline i64 reversed_bits(i64 n, i64 count) {
  i64 r = 0;
  for (; count > 1; count /= 2, n /= 2) r = 2 * r + n % 2;
  return r;
}
// The rows of all shards in the order in which one process would have put them together (train/shards.inl): ranks with
// their bits reversed. Equal rows are not added up before, as their sum depends on the order.
TANDEM_INLINE Gradient ordered_rows(const Communicator& group, const Gradient& g, const Variable& variable) {
  if (group.size() == 1) return g;
  const IndexedSlices s = g.slices();
  const Tensor rows = cast(s.indices, DType::int64);
  const Tensor place = zeros_like(rows) + constant(reversed_bits(group.rank(), group.size()));
  const Tensor each = row_counts(group, rows, variable);
  const Tensor all = all_rows(group, stack({rows, place}, {.axis = 1}), each, indices_label(variable));
  const Tensor order = argsort(all(Slice(), 1));
  return IndexedSlices{gather(all_rows(group, s.values, each, rows_label(variable)), order),
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

TANDEM_INLINE Tensor KeptOfGradients::rounded(const Tensor& gradient, const Variable& variable) {
  auto at = left_.find(variable.id());
  if (at == left_.end() || at->second.shape() != gradient.shape()) {
    const tandem::detail::OutsideTrace now;
    const DeviceScope there(variable.spec().device);
    const Variable nothing(zeros(gradient.shape()), {.trainable = false, .aggregate = false});
    at = left_.insert_or_assign(variable.id(), nothing).first;
  }
  const Variable& left = at->second;
  const Tensor all = gradient + left, sent = cast(all, DType::bfloat16), rest = all - cast(sent, DType::float32);
  left.assign(where(is_finite(rest), rest, 0.f));  // an overflow is not an error to make up for
  return sent;
}

// The rows of a gradient that this rank would send; -1 if they are not known.
inline i64 rows_of(const Gradient& g) {
  const i64 values = g.values().shape().dim(0), all = g.shape().dim(0);
  if (!g.shape().is_fully_defined()) return -1;
  if (!g.values().is_symbolic()) return unique(g.indices()).y.shape().dim(0);
  return values == none ? -1 : std::min(values, all);
}
TANDEM_INLINE const KeptOfGradients::Table& KeptOfGradients::table_of(const Communicator& group,
                                                                      const StrategyOptions& options, const Gradient& g,
                                                                      const Variable& variable) {
  if (const auto found = tables_.find(variable.id()); found != tables_.end()) return found->second;
  Table t{variable.name(), rows_label(variable)};
  if (group.size() > 1 && options.virtual_shards == 0 && !is_complex(g.dtype())) {  // DenseRows compares numbers
    const i64 own = rows_of(g);
    std::vector<i64> all(static_cast<std::size_t>(group.size())), receive(all.size(), 1);
    group.run({.kind = Collective::all_gather,
               .dtype = DType::int64,
               .input = &own,
               .output = all.data(),
               .count = 1,
               .receive = {receive.data(), receive.size()}},
              "all_gather", "numbers of " + t.label);
    if (std::find(all.begin(), all.end(), -1) == all.end()) {
      t.rows = std::accumulate(all.begin(), all.end(), i64{0}), t.of = g.shape().dim(0);
      t.is_dense = 2 * t.rows >= t.of;
    }
    if (t.is_dense && group.rank() == 0)
      tandem::detail::warn(
          ("distribute: the row-sparse gradient of '" + t.variable + "' travels dense: " + rows_text(t.rows, t.of))
              .c_str());
  }
  return tables_.emplace(variable.id(), std::move(t)).first->second;
}
// A row-sparse gradient as what the ranks can add up, and back: its dense form, and how often each row is in it. An
// optimizer updates only the rows that a gradient has.
struct DenseRows {
  static std::array<Tensor, 2> of(const Gradient& g) {
    const IndexedSlices s = g.slices();
    return {g.tensor(),
            unsorted_segment_sum(ones_like(cast(s.indices, s.values.dtype())), s.indices, g.shape().dim(0))};
  }
  static Gradient from(const std::vector<Tensor>& sums, const Gradient& like) {
    const Tensor rows = reshape(where(sums[1] > 0), {-1});
    return IndexedSlices{gather(sums[0], rows), cast(rows, like.indices().dtype()), like.like()};
  }
};

// The gradients that travel in buckets.
TANDEM_INLINE BucketPlan planned(const Communicator& group, const StrategyOptions& options,
                                 const std::vector<Gradient>& gradients, const std::vector<Variable>& variables,
                                 KeptOfGradients& kept) {
  BucketPlan plan(options);
  for (std::size_t i = gradients.size(); i-- > 0;) {
    const Gradient& g = gradients[i];
    const bool is_of_variable = i < variables.size();
    if (!g.is_set() || (is_of_variable && !variables[i].aggregate())) continue;
    if (g.is_sparse()) {
      if (kept.table_of(group, options, g, variables[i]).is_dense)
        for (const Tensor& t : DenseRows::of(g)) plan.add(t, i);
      continue;
    }
    if (!g.values().shape().is_fully_defined())
      errors::raise<errors::InvalidArgumentError>(
          "all_reduce", "the gradient " + (is_of_variable ? "of '" + variables[i].name() + "'" : std::to_string(i)) +
                            " has unknown sizes, " + to_string(g.values().spec()) +
                            ": give it the shape of the Variable, reshape(g, {..})");
    const bool narrow =
        options.compression == Compression::bfloat16 && is_of_variable && g.values().dtype() == DType::float32;
    plan.add(!narrow                  ? g.dense()
             : options.error_feedback ? kept.rounded(g.dense(), variables[i])
                                      : cast(g.dense(), DType::bfloat16),
             i);
  }
  plan.divide();
  return plan;
}

TANDEM_INLINE std::vector<Gradient> reduce_gradients(const Communicator& group, const StrategyOptions& options,
                                                     const std::vector<Gradient>& gradients,
                                                     const std::vector<Variable>& variables, KeptOfGradients& kept) {
  std::vector<Gradient> r = gradients;
  Groups::check_alive("all_reduce", group);
  const BucketPlan plan = planned(group, options, gradients, variables, kept);
  std::vector<Tensor> tokens;
  std::vector<std::string> labels;
  const bool is_ordered = options.virtual_shards > 0;
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    labels.push_back(plan.label(b, variables));
    if (!is_ordered) tokens.push_back(start_bucket(group, static_cast<i64>(b), labels[b], plan.buckets[b].tensors));
  }
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].is_sparse() && variables[i].aggregate() &&
        !kept.table_of(group, options, gradients[i], variables[i]).is_dense)
      r[i] = (is_ordered ? ordered_rows : gathered)(group, gradients[i], variables[i]);
  std::vector<std::vector<Tensor>> sums(gradients.size());
  for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
    const PlannedBucket& bucket = plan.buckets[b];
    const std::vector<Tensor> of_bucket =
        is_ordered ? ordered_sums(group, bucket, labels[b])
                   : wait_bucket(group, static_cast<i64>(b), labels[b], tokens[b], bucket.tensors);
    for (std::size_t k = 0; k < of_bucket.size(); ++k) sums[bucket.owners[k]].push_back(of_bucket[k]);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].empty()) continue;
    const Gradient& g = gradients[i];
    r[i] = g.is_sparse() ? DenseRows::from(sums[i], g) : Gradient(cast(sums[i][0], g.values().dtype()));
  }
  return r;
}

}  // namespace TANDEM_NS::distribute::impl
