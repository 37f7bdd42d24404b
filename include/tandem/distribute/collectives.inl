// Definitions of distribute/collectives.hpp: the ops, their kernels and gradients.
#pragma once
#include <cstring>

#include "tandem/core/scope.hpp"
#include "tandem/distribute/collectives.hpp"
#include "tandem/distribute/exchange.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS {
namespace distribute::impl {

using rules::CollectiveAttrs;
using tandem::detail::raise_specs;

inline Communicator group_of(const char* op, const CollectiveAttrs& a) { return Groups::find(op, a.group); }
template <class Options>
CollectiveAttrs attrs_of(const char* name, const Options& o, ReduceOp op = ReduceOp::sum, i64 root = 0) {
  if (o.group) Groups::check_alive(name, *o.group);
  std::string label = o.name ? "'" + o.name.str() + "'" : tandem::detail::line_text(o.where);
  return {o.group ? o.group->name() : "world", op, root, std::move(label)};
}
inline void check_rows(const InferCall& c) {
  if (c.spec(0).shape.rank() == 0) raise_specs(c, "a scalar has no rows", "reshape it to [1]");
}
inline void check_sizes(const InferCall& c, std::size_t i, i64 ranks) {
  const Spec& s = c.spec(i);
  if (s.dtype != DType::int64 || !s.shape.is_compatible_with({ranks}))
    raise_specs(c, input_name(c.op, i) + " must be an int64 vector with a number for each of the " +
                       std::to_string(ranks) + " ranks");
}
inline i64 row_size(const Shape& s) {
  i64 r = 1;
  for (int i = 1; i < s.rank(); ++i) r *= s.dim(i);
  return r;
}
// Numbers of rows as numbers of elements.
inline std::vector<i64> elements(const Operand& sizes, i64 of_row) {
  std::vector<i64> r(sizes.as<const i64>(), sizes.as<const i64>() + sizes.size());
  for (i64& n : r) n *= of_row;
  return r;
}
// Raises for negative numbers and a sum that int64 does not have.
inline i64 sum_of(const KernelCall& c, const Operand& sizes, const char* name) {
  i64 sum = 0;
  for (const i64 n : Span<const i64>(sizes.as<const i64>(), static_cast<std::size_t>(sizes.size()))) {
    if (n < 0)
      errors::raise<errors::InvalidArgumentError>(c.op,
                                                  std::string(name) + " has the negative number " + std::to_string(n));
    if (__builtin_add_overflow(sum, n, &sum))
      errors::raise<errors::InvalidArgumentError>(c.op, std::string(name) + " names more than 2^63 - 1 rows");
  }
  return sum;
}
// The rows that `sizes` name must be those that there are.
inline void check_sum(const KernelCall& c, const Operand& sizes, const char* name) {
  if (const i64 n = sum_of(c, sizes, name), rows = c.in[0].shape().dim(0); n != rows)
    errors::raise<errors::InvalidArgumentError>(
        c.op, std::string(name) + " names " + std::to_string(n) + " rows, x has " + std::to_string(rows));
}
// The rows that this rank keeps must be as many as it has.
inline void check_own(const KernelCall& c, const Operand& sizes, i64 own, int rank, const char* name) {
  if (const i64 n = sizes.as<const i64>()[rank]; n != own)
    errors::raise<errors::InvalidArgumentError>(c.op, std::string(name) + " names " + std::to_string(n) +
                                                          " rows of rank " + std::to_string(rank) + ", which has " +
                                                          std::to_string(own));
}
inline Collective call_of(const KernelCall& c, Collective::Kind kind) {
  return {.kind = kind,
          .dtype = c.in[0].spec->dtype,
          .input = c.in[0].data,
          .output = c.out[0].data,
          .count = c.in[0].size()};
}

// --- all_reduce

TANDEM_INLINE Specs infer_all_reduce(const InferCall& c) {
  const auto& a = c.get<CollectiveAttrs>();
  const DType d = c.spec(0).dtype;
  const bool fits = a.op == ReduceOp::mean ? dtypes::floating.has(d) || dtypes::half_floating.has(d) || is_complex(d)
                                           : combine_fn(a.op, d) != nullptr;
  if (!fits) raise_specs(c, std::string(name(a.op)) + " is not defined for " + tandem::name(d));
  return Specs(c.spec(0));
}
TANDEM_INLINE void all_reduce_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<CollectiveAttrs>();
  const Communicator group = group_of(c.op, a);
  Collective call = call_of(c, Collective::all_reduce);
  const bool divides = a.op == ReduceOp::mean && !is_on_gpu(c);
  call.op = divides ? ReduceOp::sum : a.op;
  call.combine = combine_fn(call.op, call.dtype);
  exchange(c, group, call, "all_reduce", a.label);
  if (divides) divide(call.output, call.dtype, call.count, group.size());
}
inline Tensor reduced(const Tensor& x, CollectiveAttrs a, ReduceOp op) {
  a.op = op;
  return apply1(all_reduce_op, a, no_options, x);
}
TANDEM_INLINE Grads all_reduce_gradient(const GradCall& c) {
  const auto& a = c.get<CollectiveAttrs>();
  return Grads(Gradient(reduced(c.g[0], a, a.op)));
}
// The product of the other ranks' factors. Where this one's is 0, the quotient says nothing: the others' are multiplied
// without those that are 0, of which there must be none.
inline Tensor product_of_others(const GradCall& c, const CollectiveAttrs& a) {
  const Tensor& x = c.in[0];
  const Tensor is_zero = equal(x, 0), factor = where(is_zero, 1, x);
  const Tensor zeros = reduced(cast(is_zero, DType::int32), a, ReduceOp::sum);
  const Tensor others = apply1(all_combine_op, a, no_options, factor);
  return where(is_zero, where(equal(zeros, 1), others, zeros_like(x)), c.out[0] / factor);
}
// Of min, max, prod.
TANDEM_INLINE Grads all_combine_gradient(const GradCall& c) {
  const auto& a = c.get<CollectiveAttrs>();
  const Tensor g = reduced(c.g[0], a, ReduceOp::sum);
  if (a.op == ReduceOp::prod) return Grads(Gradient(g * conj(product_of_others(c, a))));
  const Tensor is_result = cast(equal(c.in[0], c.out[0]), g.dtype());
  return Grads(Gradient(g * is_result / reduced(is_result, a, ReduceOp::sum)));
}

// --- broadcast

TANDEM_INLINE Specs infer_broadcast(const InferCall& c) {
  const auto& a = c.get<CollectiveAttrs>();
  if (const int ranks = group_of(c.op.name, a).size(); a.root < 0 || a.root >= ranks)
    errors::raise<errors::InvalidArgumentError>(
        c.op.name, "root " + std::to_string(a.root) + " of " + std::to_string(ranks) + " ranks");
  return Specs(c.spec(0));
}
TANDEM_INLINE void broadcast_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<CollectiveAttrs>();
  const Communicator group = group_of(c.op, a);
  Collective call = call_of(c, Collective::broadcast);
  call.root = static_cast<int>(a.root);
  if (!is_on_gpu(c)) {
    if (group.rank() == call.root && call.input != call.output && call.count)
      std::memcpy(call.output, call.input, static_cast<std::size_t>(call.count) * size_of(call.dtype));
    call.input = nullptr;
  }
  exchange(c, group, call, c.op, a.label);
}
TANDEM_INLINE Grads broadcast_gradient(const GradCall& c) {
  const auto& a = c.get<CollectiveAttrs>();
  const Tensor sum = reduced(c.g[0], a, ReduceOp::sum);
  // The same ops in all ranks, whose graphs are compared.
  return Grads(Gradient(where(constant(group_of(c.op.name, a).rank() == a.root), sum, zeros_like(sum))));
}

// --- all_gather and reduce_scatter, with equal rows or with `sizes`: the rows of each rank

TANDEM_INLINE Specs infer_all_gather(const InferCall& c) {
  check_rows(c);
  const i64 ranks = group_of(c.op.name, c.get<CollectiveAttrs>()).size();
  Specs r(c.spec(0));
  const i64 n = r[0].shape.dim(0);
  if (c.in.size() > 1) check_sizes(c, 1, ranks);
  r[0].shape.set(0, c.in.size() > 1 || n == none ? none : n * ranks);
  return r;
}
TANDEM_INLINE Specs resolve_all_gather(const KernelCall& c) {
  Specs r(*c.in[0].spec);
  const i64 ranks = group_of(c.op, c.attrs.get<CollectiveAttrs>()).size();
  r[0].shape.set(0, c.in.size() > 1 ? sum_of(c, c.in[1], "sizes") : c.in[0].shape().dim(0) * ranks);
  return r;
}
TANDEM_INLINE void all_gather_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<CollectiveAttrs>();
  const Communicator group = group_of(c.op, a);
  if (c.in.size() > 1) check_own(c, c.in[1], c.in[0].shape().dim(0), group.rank(), "sizes");
  const std::vector<i64> receive = c.in.size() > 1
                                       ? elements(c.in[1], row_size(c.in[0].shape()))
                                       : std::vector<i64>(static_cast<std::size_t>(group.size()), c.in[0].size());
  Collective call = call_of(c, Collective::all_gather);
  call.receive = receive;
  call.unit = c.in.size() > 1 ? row_size(c.in[0].shape()) : call.count;
  exchange(c, group, call, c.op, a.label);
}
TANDEM_INLINE Grads all_gather_gradient(const GradCall& c) {
  const auto& a = c.get<CollectiveAttrs>();
  if (c.in.size() == 1) return Grads(Gradient(apply1(reduce_scatter_op, a, no_options, c.g[0])));
  Grads r(Gradient(apply1(reduce_scatter_op, a, no_options, c.g[0], c.in[1])));
  r.push_back(Gradient());
  return r;
}

TANDEM_INLINE Specs infer_reduce_scatter(const InferCall& c) {
  check_rows(c);
  const i64 ranks = group_of(c.op.name, c.get<CollectiveAttrs>()).size();
  Specs r(c.spec(0));
  const i64 n = r[0].shape.dim(0);
  if (c.in.size() > 1) check_sizes(c, 1, ranks);
  else if (n != none && n % ranks != 0)
    raise_specs(c, std::to_string(ranks) + " ranks do not divide the " + std::to_string(n) + " rows");
  r[0].shape.set(0, c.in.size() > 1 || n == none ? none : n / ranks);
  return r;
}
TANDEM_INLINE Specs resolve_reduce_scatter(const KernelCall& c) {
  Specs r(*c.in[0].spec);
  const Communicator group = group_of(c.op, c.attrs.get<CollectiveAttrs>());
  const i64 n = c.in[0].shape().dim(0), ranks = group.size();
  if (c.in.size() > 1) sum_of(c, c.in[1], "sizes");
  if (c.in.size() == 1 && n % ranks != 0)
    errors::raise<errors::InvalidArgumentError>(
        c.op, std::to_string(ranks) + " ranks do not divide the " + std::to_string(n) + " rows");
  r[0].shape.set(0, c.in.size() > 1 ? c.in[1].as<const i64>()[group.rank()] : n / ranks);
  return r;
}
TANDEM_INLINE void reduce_scatter_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<CollectiveAttrs>();
  const Communicator group = group_of(c.op, a);
  if (c.in.size() > 1) check_sum(c, c.in[1], "sizes");
  const i64 ranks = group.size();
  const std::vector<i64> receive = c.in.size() > 1
                                       ? elements(c.in[1], row_size(c.in[0].shape()))
                                       : std::vector<i64>(static_cast<std::size_t>(ranks), c.in[0].size() / ranks);
  Collective call = call_of(c, Collective::reduce_scatter);
  call.receive = receive;
  call.combine = combine_fn(ReduceOp::sum, call.dtype);
  exchange(c, group, call, c.op, a.label);
}
TANDEM_INLINE Grads reduce_scatter_gradient(const GradCall& c) {
  const auto& a = c.get<CollectiveAttrs>();
  if (c.in.size() == 1) return Grads(Gradient(apply1(all_gather_op, a, no_options, c.g[0])));
  Grads r(Gradient(apply1(all_gather_op, a, no_options, c.g[0], c.in[1])));
  r.push_back(Gradient());
  return r;
}

// --- all_to_all, with equal parts or with the rows to and from each rank

TANDEM_INLINE Specs infer_all_to_all(const InferCall& c) {
  check_rows(c);
  const i64 ranks = group_of(c.op.name, c.get<CollectiveAttrs>()).size(), n = c.spec(0).shape.dim(0);
  Specs r(c.spec(0));
  for (std::size_t i = 1; i < c.in.size(); ++i) check_sizes(c, i, ranks);
  if (c.in.size() > 1) r[0].shape.set(0, none);
  else if (n != none && n % ranks != 0)
    raise_specs(c, std::to_string(ranks) + " ranks do not divide the " + std::to_string(n) + " rows",
                "pass how many go to each");
  return r;
}
TANDEM_INLINE Specs resolve_all_to_all(const KernelCall& c) {
  Specs r(*c.in[0].spec);
  if (c.in.size() > 1) r[0].shape.set(0, sum_of(c, c.in[2], "received"));
  return r;
}
TANDEM_INLINE void all_to_all_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<CollectiveAttrs>();
  const Communicator group = group_of(c.op, a);
  const i64 ranks = group.size(), row = row_size(c.in[0].shape());
  if (c.in.size() > 1) {
    check_sum(c, c.in[1], "splits");
    check_own(c, c.in[2], c.in[1].as<const i64>()[group.rank()], group.rank(), "received");
  } else if (c.in[0].shape().dim(0) % ranks != 0)
    errors::raise<errors::InvalidArgumentError>(
        c.op, std::to_string(ranks) + " ranks do not divide the " + std::to_string(c.in[0].shape().dim(0)) + " rows");
  const std::vector<i64> equal(static_cast<std::size_t>(ranks), c.in[0].size() / ranks);
  const std::vector<i64> send = c.in.size() > 1 ? elements(c.in[1], row) : equal;
  const std::vector<i64> receive = c.in.size() > 1 ? elements(c.in[2], row) : equal;
  Collective call = call_of(c, Collective::all_to_all);
  call.send = send, call.receive = receive;
  call.unit = c.in.size() > 1 ? row : call.count;
  exchange(c, group, call, c.op, a.label);
}
TANDEM_INLINE Grads all_to_all_gradient(const GradCall& c) {
  const auto& a = c.get<CollectiveAttrs>();
  if (c.in.size() == 1) return Grads(Gradient(apply1(all_to_all_op, a, no_options, c.g[0])));
  Grads r(Gradient(apply1(all_to_all_op, a, no_options, c.g[0], c.in[2], c.in[1])));
  r.push_back(Gradient()), r.push_back(Gradient());
  return r;
}

inline constexpr DTypes moved = dtypes::number | dtypes::boolean | DType::complex128;

// What the collective ops have in common.
constexpr OpDef collective_row(const char* name, Specs (*infer)(const InferCall&), KernelFn kernel,
                               Grads (*gradient)(const GradCall&)) {
  return {.name = name,
          .infer = infer,
          .cpu = kernel,
          .cuda = TANDEM_CUDA(kernel),
          .gradient = gradient,
          .dtypes = moved,
          .saves = Saves::nothing,
          .flags = {.stateful = true, .takes_half = kernels_take_half, .cuda_takes_half = true, .collective = true},
          .attrs = &tandem::detail::attr_type<CollectiveAttrs>};
}
constexpr OpDef rows_row(const char* name, const char* inputs, Specs (*infer)(const InferCall&), KernelFn kernel,
                         Grads (*gradient)(const GradCall&), Specs (*resolve)(const KernelCall&)) {
  OpDef row = collective_row(name, infer, kernel, gradient);
  row.input_names = inputs;
  row.inputs = at_least(1);
  row.saves = Saves::inputs;
  row.host_inputs = 6;  // the numbers of rows
  row.rare.resolve = resolve;
  return row;
}
constexpr OpDef scatter_row() {
  OpDef row = rows_row("reduce_scatter", "x, sizes", &infer_reduce_scatter, &reduce_scatter_kernel,
                       &reduce_scatter_gradient, &resolve_reduce_scatter);
  row.dtypes = dtypes::number | DType::complex128;
  return row;
}
constexpr OpDef combine_row() {
  OpDef row = collective_row("all_combine", &infer_all_reduce, &all_reduce_kernel, &all_combine_gradient);
  row.saves = Saves::all;
  row.rare.in_errors = "all_reduce";
  return row;
}

}  // namespace distribute::impl

TANDEM_INLINE constexpr OpDef all_reduce_op =
    distribute::impl::collective_row("all_reduce", &distribute::impl::infer_all_reduce,
                                     &distribute::impl::all_reduce_kernel, &distribute::impl::all_reduce_gradient);
TANDEM_INLINE constexpr OpDef all_combine_op = distribute::impl::combine_row();
TANDEM_INLINE constexpr OpDef broadcast_op =
    distribute::impl::collective_row("broadcast", &distribute::impl::infer_broadcast,
                                     &distribute::impl::broadcast_kernel, &distribute::impl::broadcast_gradient);
TANDEM_INLINE constexpr OpDef all_gather_op = distribute::impl::rows_row(
    "all_gather", "x, sizes", &distribute::impl::infer_all_gather, &distribute::impl::all_gather_kernel,
    &distribute::impl::all_gather_gradient, &distribute::impl::resolve_all_gather);
TANDEM_INLINE constexpr OpDef reduce_scatter_op = distribute::impl::scatter_row();
TANDEM_INLINE constexpr OpDef all_to_all_op = distribute::impl::rows_row(
    "all_to_all", "x, splits, received", &distribute::impl::infer_all_to_all, &distribute::impl::all_to_all_kernel,
    &distribute::impl::all_to_all_gradient, &distribute::impl::resolve_all_to_all);

namespace distribute {

TANDEM_INLINE Tensor all_reduce(const Tensor& x, AllReduceOptions o) {
  if (o.op == ReduceOp::mean && dtypes::half_floating.has(x.dtype())) {  // the sum may overflow where the mean does not
    const tandem::detail::CallSite call(o);
    return cast(
        apply1(all_reduce_op, impl::attrs_of("all_reduce", o, o.op), {o.name, o.where}, cast(x, DType::float32)),
        x.dtype());
  }
  const bool is_linear = o.op == ReduceOp::sum || o.op == ReduceOp::mean;
  return apply1(is_linear ? all_reduce_op : all_combine_op, impl::attrs_of("all_reduce", o, o.op), {o.name, o.where},
                x);
}
TANDEM_INLINE Tensor broadcast(const Tensor& x, BroadcastOptions o) {
  return apply1(broadcast_op, impl::attrs_of("broadcast", o, ReduceOp::sum, o.root), {o.name, o.where}, x);
}
TANDEM_INLINE Tensor all_gather(const Tensor& x, AllGatherOptions o) {
  const rules::CollectiveAttrs a = impl::attrs_of("all_gather", o);
  const OpOptions options{o.name, o.where};
  if (o.equal_rows || x.rank() == 0) return apply1(all_gather_op, a, options, x);
  const tandem::detail::CallSite call(o);
  const Tensor rows = reshape(shape(x, {.out_type = DType::int64})[0], {1});
  return apply1(all_gather_op, a, options, x, apply1(all_gather_op, a, no_options, rows));
}
TANDEM_INLINE Tensor reduce_scatter(const Tensor& x, CollectiveOptions o) {
  return apply1(reduce_scatter_op, impl::attrs_of("reduce_scatter", o), {o.name, o.where}, x);
}
TANDEM_INLINE Tensor all_to_all(const Tensor& x, CollectiveOptions o) {
  return apply1(all_to_all_op, impl::attrs_of("all_to_all", o), {o.name, o.where}, x);
}
TANDEM_INLINE Tensor all_to_all(const Tensor& x, const Tensor& splits, const Tensor& received, CollectiveOptions o) {
  return apply1(all_to_all_op, impl::attrs_of("all_to_all", o), {o.name, o.where}, x, splits, received);
}
TANDEM_INLINE Exchanged all_to_all(const Tensor& x, const Tensor& splits, CollectiveOptions o) {
  const rules::CollectiveAttrs a = impl::attrs_of("all_to_all", o);
  const tandem::detail::CallSite call(o);
  if (!splits.is_symbolic() && x.rank() > 0 && splits.dtype() == DType::int64) {  // before the others take part
    i64 sum = 0;
    for (const i64 n : splits.to_vector<i64>())
      if (sum >= 0 && (n < 0 || __builtin_add_overflow(sum, n, &sum))) sum = -1;
    if (!x.is_symbolic() && sum != x.shape()[0])
      errors::raise<errors::InvalidArgumentError>(
          "all_to_all", std::string("splits name ") +
                            (sum < 0 ? "a negative number, or more than 2^63 - 1, of" : std::to_string(sum)) +
                            " rows; x has " + std::to_string(x.shape()[0]));
  }
  const Tensor received = apply1(all_to_all_op, a, no_options, splits);
  return {apply1(all_to_all_op, a, {o.name, o.where}, x, splits, received), received};
}

}  // namespace distribute
}  // namespace TANDEM_NS
