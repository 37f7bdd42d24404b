// Definitions of ops/index/partition.hpp.
#pragma once
#include "tandem/core/indexed_slices.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/cpu/index/scatter.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/partition.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_partition(const InferCall& c) {
  const Shape &x = c.spec(0).shape, &p = c.spec(1).shape;
  check_index_dtype(c, 1);
  const i64 parts = c.get<rules::PartitionAttrs>().num_partitions;
  if (parts < 1 || parts > (1 << 20))
    raise_specs(c, "num_partitions = " + std::to_string(parts) + " must be between 1 and 1048576");
  if (x.rank() < 1 || p.rank() != 1 || (x.dim(0) != p.dim(0) && x.dim(0) != none && p.dim(0) != none))
    raise_specs(c, "there must be one partition number for each row");
  Specs r;
  Spec part = c.spec(0);
  part.shape.set(0, none);
  for (i64 i = 0; i < parts; ++i) r.push_back(part);
  return r;
}
TANDEM_INLINE Specs resolve_partition(const KernelCall& c) {
  std::vector<i64> sizes(static_cast<std::size_t>(c.attrs.get<rules::PartitionAttrs>().num_partitions));
  cpu::partition_sizes(c, sizes.data(), static_cast<i64>(sizes.size()));
  Specs r;
  Spec part = *c.in[0].spec;
  for (const i64 n : sizes) part.shape.set(0, n), r.push_back(part);
  return r;
}
// 0, 1, ... for each element of a vector.
TANDEM_INLINE Tensor positions(const Tensor& v) { return range(tandem::shape(v, {.out_type = DType::int64})[0]); }
TANDEM_INLINE Tensors partition_rows(const Tensor& x, const Tensor& numbers, const Attrs& attrs, const OpOptions& o) {
  const Tensor* const in[] = {&x, &numbers};
  return apply(dynamic_partition_op, in, attrs, o);
}
// Rows whose part has no gradient get none.
TANDEM_INLINE Grads partition_gradient(const GradCall& c) {
  const Tensors from = partition_rows(positions(c.in[1]), c.in[1], c.attrs, no_options);
  std::vector<Tensor> rows, g;
  for (std::size_t k = 0; k < c.g.size(); ++k)
    if (c.g[k].is_set()) rows.push_back(from[k]), g.push_back(c.g[k]);
  const Tensor like = c.in[0].is_symbolic() ? c.in[0] : Tensor::symbol(c.in[0].spec());
  return {Gradient(convert_to_tensor(IndexedSlices{concat(g, 0), concat(rows, 0), like})), Gradient()};
}

TANDEM_INLINE Specs infer_stitch(const InferCall& c) {
  const Shape &idx = c.spec(0).shape, &x = c.spec(1).shape;
  check_index_dtype(c, 0);
  if (x.rank() < 1 || idx.rank() != 1 || (x.dim(0) != idx.dim(0) && x.dim(0) != none && idx.dim(0) != none))
    raise_specs(c, "there must be one index for each row");
  Specs r(c.spec(1), Spec{Shape{none}, DType::int64, c.spec(1).device});
  r[0].shape.set(0, none);
  return r;
}
TANDEM_INLINE Specs resolve_stitch(const KernelCall& c) {
  const i64 rows = cpu::stitched_rows(c);
  Specs r(*c.in[1].spec, Spec{Shape{rows}, DType::int64, c.in[1].spec->device});
  r[0].shape.set(0, rows);
  return r;
}
TANDEM_INLINE Grads stitch_gradient(const GradCall& c) {
  if (!c.g[0].is_set()) return {Gradient(), Gradient()};
  const Tensor &idx = c.in[0], &owner = c.out[1];
  const Tensor kept = equal(gather(owner, idx), positions(idx));
  return {Gradient(), where(as_rows(kept, c.g[0].rank()), gather(c.g[0], idx), 0)};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef dynamic_partition_op{.name = "dynamic_partition",
                                                   .input_names = "x, partitions",
                                                   .infer = &detail::infer_partition,
                                                   .cpu = &cpu::partition,
                                                   .cuda = TANDEM_CUDA(&cuda::partition),
                                                   .gradient = &detail::partition_gradient,
                                                   .inputs = 2,
                                                   .outputs = -1,
                                                   .saves = Saves::inputs,
                                                   .attrs = &detail::attr_type<rules::PartitionAttrs>,
                                                   .rare = {.resolve = &detail::resolve_partition}};
TANDEM_INLINE constexpr OpDef dynamic_stitch_op{.name = "dynamic_stitch",
                                                .input_names = "indices, data",
                                                .infer = &detail::infer_stitch,
                                                .cpu = &cpu::stitch,
                                                .cuda = TANDEM_CUDA(&cuda::stitch),
                                                .gradient = &detail::stitch_gradient,
                                                .dtype_input = 1,
                                                .inputs = 2,
                                                .outputs = 2,
                                                .saves = Saves::all,
                                                .rare = {.resolve = &detail::resolve_stitch}};

TANDEM_INLINE std::vector<Tensor> dynamic_partition(const Tensor& x, const Tensor& partitions, i64 num_partitions,
                                                    OpOptions o) {
  const detail::CallSite call(o);
  const detail::LeadingRows rows("dynamic_partition", x, partitions);
  const Tensors r = detail::partition_rows(rows.x, rows.ids, rules::PartitionAttrs{num_partitions}, o);
  return {r.begin(), r.end()};
}
TANDEM_INLINE Tensor dynamic_stitch(const TensorList& indices, const TensorList& data, OpOptions o) {
  const detail::CallSite call(o);
  const Span<const Tensor> idx = indices.list(), x = data.list();
  if (idx.empty() || idx.size() != x.size())
    errors::raise<errors::InvalidArgumentError>(
        "dynamic_stitch", std::to_string(idx.size()) + " index tensors for " + std::to_string(x.size()) +
                              " data tensors; as many are needed, at least one");
  std::vector<Tensor> ids, rows;
  for (std::size_t m = 0; m < x.size(); ++m) {
    const detail::LeadingRows part("dynamic_stitch", x[m], idx[m]);
    ids.push_back(part.ids), rows.push_back(part.x);
  }
  const bool one = ids.size() == 1;
  return detail::in_name_of("dynamic_stitch", [&] {
    return apply1(dynamic_stitch_op, no_attrs, o, one ? ids[0] : concat(ids, 0), one ? rows[0] : concat(rows, 0));
  });
}

}  // namespace TANDEM_NS
