// Definitions of ops/shape/concat.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/layout/layout.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Tensor apply_join(const OpDef& op, const TensorList& list, const Attrs& attrs, const OpOptions& o) {
  InlinedVector<const Tensor*, 8> in;
  for (const Tensor& t : list.list()) in.push_back(&t);
  return apply_one(op, {in.begin(), in.size()}, attrs, o);
}
TANDEM_INLINE std::vector<Tensor> to_vector(Tensors&& t) {
  std::vector<Tensor> r;
  r.reserve(t.size());
  for (Tensor& x : t) r.push_back(std::move(x));
  return r;
}
TANDEM_INLINE void check_not_empty(const char* op, const TensorList& list) {
  if (list.list().empty()) errors::raise<errors::InvalidArgumentError>(op, "the list is empty");
}

TANDEM_INLINE Specs infer_concat(const InferCall& c) {
  Specs r(c.spec(0));
  Shape& s = r[0].shape;
  if (s.rank() == 0) raise_specs(c, "scalars cannot be concatenated", "use stack");
  const int axis = resolve_axis(c.op.name, c.get<rules::JoinAttrs>().axis, s.rank());
  for (std::size_t i = 1; i < c.in.size(); ++i) {
    const Spec& x = c.spec(i);
    if (x.dtype != r[0].dtype) raise_specs(c, "dtypes differ", "cast one of them");
    if (x.shape.rank() != s.rank()) raise_specs(c, "ranks differ");
    for (int d = 0; d < s.rank(); ++d) {
      const i64 a = s.dim(d), b = x.shape.dim(d);
      if (d == axis) s.set(d, a == none || b == none ? none : a + b);
      else if (a == none) s.set(d, b);
      else if (b != none && a != b) raise_specs(c, "sizes differ on axis " + std::to_string(d));
    }
  }
  return r;
}
TANDEM_INLINE void concat_kernel(const KernelCall& c) {
  cpu::concat(c, resolve_axis(c.op, c.attrs.get<rules::JoinAttrs>().axis, c.out[0].shape().rank()), false);
}
TANDEM_INLINE Grads concat_gradient(const GradCall& c) {
  InlinedVector<const Tensor*, 8> in(&c.g[0]);
  for (const Tensor& t : c.in) in.push_back(&t);
  const Tensors pieces = apply(split_like_op, {in.begin(), in.size()}, c.attrs);
  Grads r;
  for (const Tensor& t : pieces) r.push_back(t);
  return r;
}

// Splits input 0 into parts as long as the other inputs, of which only the shapes are read.
TANDEM_INLINE Specs infer_split_like(const InferCall& c) {
  check_upstream(c, &infer_concat, c.attrs, c.in.subspan(1));
  Specs r;
  for (std::size_t i = 1; i < c.in.size(); ++i) r.push_back(Spec{c.spec(i).shape, c.spec(0).dtype, c.spec(0).device});
  return r;
}
TANDEM_INLINE void split_like_kernel(const KernelCall& c) {
  cpu::split(c, resolve_axis(c.op, c.attrs.get<rules::JoinAttrs>().axis, c.in[0].shape().rank()));
}
TANDEM_INLINE Grads split_like_gradient(const GradCall& c) {
  std::vector<Tensor> g(c.g.begin(), c.g.end());
  for (std::size_t i = 0; i < g.size(); ++i)
    if (!g[i].is_set()) g[i] = zeros_like(c.in[i + 1], {.dtype = c.in[0].dtype()});
  Grads r(Gradient(concat(g, c.get<rules::JoinAttrs>().axis)));
  r.resize(static_cast<unsigned>(c.in.size()));
  return r;
}

TANDEM_INLINE Specs infer_stack(const InferCall& c) {
  Specs r(c.spec(0));
  Shape& s = r[0].shape;
  for (std::size_t i = 1; i < c.in.size(); ++i) {
    if (c.spec(i).dtype != r[0].dtype) raise_specs(c, "dtypes differ", "cast one of them");
    if (!c.spec(i).shape.is_compatible_with(s)) raise_specs(c, "shapes differ");
    for (int d = 0; d < s.rank(); ++d)
      if (s.dim(d) == none) s.set(d, c.spec(i).shape.dim(d));
  }
  const int rank = s.rank() + 1;
  s.insert(resolve_axis(c.op.name, c.get<rules::JoinAttrs>().axis, rank), static_cast<i64>(c.in.size()));
  return r;
}
TANDEM_INLINE void stack_kernel(const KernelCall& c) {
  cpu::concat(c, resolve_axis(c.op, c.attrs.get<rules::JoinAttrs>().axis, c.out[0].shape().rank()), true);
}
TANDEM_INLINE Grads stack_gradient(const GradCall& c) {
  Grads r;
  const i64 n = static_cast<i64>(c.in.size());
  for (Tensor& t : unstack(c.g[0], {.axis = c.get<rules::JoinAttrs>().axis, .num = n})) r.push_back(std::move(t));
  return r;
}

// The maximum number of outputs of a split. A graph file may request more than there is memory for their handles.
inline constexpr i64 most_pieces = i64{1} << 24;

// The sizes of the parts along an axis of n elements, with -1 and 'count equal parts' resolved.
TANDEM_INLINE IntList part_sizes(const InferCall& c, i64 n) {
  const auto& a = c.get<rules::SplitAttrs>();
  IntList parts = a.sizes;
  if (parts.empty()) {
    if (a.count <= 0 || (n != none && n % a.count))
      errors::raise<errors::InvalidArgumentError>(
          c.op.name, std::to_string(a.count) + " does not divide the size of axis " + std::to_string(a.axis) + " of " +
                         to_string(c.spec(0)));
    parts.reserve(static_cast<unsigned>(a.count));
    for (i64 i = 0; i < a.count; ++i) parts.push_back(n == none ? none : n / a.count);
    return parts;
  }
  i64 rest = n, *unknown = nullptr;
  bool fits = true;
  for (i64& s : parts) {
    if (s == -1) fits &= !std::exchange(unknown, &s);
    else if (s < 0 || (n != none && s > rest)) fits = false;
    else if (n != none) rest -= s;
  }
  if (!fits || (n != none && !unknown && rest != 0)) {
    std::string sizes;
    for (i64 s : a.sizes) sizes += (sizes.empty() ? "" : ",") + std::to_string(s);
    errors::raise<errors::InvalidArgumentError>(c.op.name, "the sizes [" + sizes + "] do not add up to axis " +
                                                               std::to_string(a.axis) + " of " + to_string(c.spec(0)));
  }
  if (unknown) *unknown = rest;
  return parts;
}
TANDEM_INLINE Specs infer_split(const InferCall& c) {
  const auto& a = c.get<rules::SplitAttrs>();
  const int axis = resolve_axis(c.op.name, a.axis, c.spec(0).shape.rank());
  if (a.count > most_pieces || (!a.sizes.empty() && a.sizes.size() != static_cast<std::size_t>(a.count)))
    raise_specs(c, std::to_string(a.count) + " parts, but " + std::to_string(a.sizes.size()) + " sizes");
  Specs r;
  for (i64 size : part_sizes(c, c.spec(0).shape.dim(axis))) r.push_back(c.spec(0)).shape.set(axis, size);
  return r;
}
TANDEM_INLINE void split_kernel(const KernelCall& c) {
  cpu::split(c, resolve_axis(c.op, c.attrs.get<rules::SplitAttrs>().axis, c.in[0].shape().rank()));
}
// A part without a gradient contributes zeros.
TANDEM_INLINE Grads split_gradient(const GradCall& c) {
  std::vector<Tensor> g(c.g.begin(), c.g.end());
  Tensors zero;
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (g[i].is_set()) continue;
    if (zero.empty()) {
      const Tensor whole = zeros_like(c.in[0]);
      const Tensor* const in[] = {&whole};
      zero = apply(c.op, in, c.attrs);
    }
    g[i] = zero[i];
  }
  return Grads(Gradient(concat(g, c.get<rules::SplitAttrs>().axis)));
}

TANDEM_INLINE Specs infer_unstack(const InferCall& c) {
  const i64 n = c.get<rules::SplitAttrs>().count;
  Spec s = c.spec(0);
  if (s.shape.rank() == 0) raise_specs(c, "a scalar has no axis");
  if (n < 0 || n > most_pieces || (s.shape.dim(0) != none && s.shape.dim(0) != n))
    raise_specs(c, ".num is " + std::to_string(n) + ", the axis has " + std::to_string(s.shape.dim(0)));
  s.shape.erase(0);
  Specs r;
  r.reserve(static_cast<unsigned>(n));
  for (i64 i = 0; i < n; ++i) r.push_back(s);
  return r;
}
TANDEM_INLINE Grads unstack_gradient(const GradCall& c) {
  std::vector<Tensor> g(c.g.begin(), c.g.end());
  Tensor zero;
  for (const Tensor& t : g)
    if (t.is_set()) {
      zero = t;
      break;
    }
  bool made = false;
  for (Tensor& t : g) {
    if (t.is_set()) continue;
    if (!made) zero = zeros_like(zero), made = true;
    t = zero;
  }
  return Grads(Gradient(stack(g)));
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef concat_op{.name = "concat",
                                        .input_names = "list...",
                                        .infer = &detail::infer_concat,
                                        .cpu = &detail::concat_kernel,
                                        .cuda = TANDEM_CUDA(&detail::concat_kernel),
                                        .gradient = &detail::concat_gradient,
                                        .inputs = at_least(1),
                                        .saves = Saves::shape,
                                        .attrs = &detail::attr_type<rules::JoinAttrs>};
TANDEM_INLINE constexpr OpDef split_like_op{.name = "split_like",
                                            .input_names = "g, list...",
                                            .infer = &detail::infer_split_like,
                                            .cpu = &detail::split_like_kernel,
                                            .cuda = TANDEM_CUDA(&detail::split_like_kernel),
                                            .gradient = &detail::split_like_gradient,
                                            .inputs = at_least(2),
                                            .outputs = -1,
                                            .saves = Saves::shape,
                                            .shape_inputs = 0xfffe,
                                            .attrs = &detail::attr_type<rules::JoinAttrs>};
TANDEM_INLINE constexpr OpDef stack_op{.name = "stack",
                                       .input_names = "list...",
                                       .infer = &detail::infer_stack,
                                       .cpu = &detail::stack_kernel,
                                       .cuda = TANDEM_CUDA(&detail::stack_kernel),
                                       .gradient = &detail::stack_gradient,
                                       .inputs = at_least(1),
                                       .saves = Saves::shape,
                                       .attrs = &detail::attr_type<rules::JoinAttrs>};
TANDEM_INLINE constexpr OpDef split_op{.name = "split",
                                       .infer = &detail::infer_split,
                                       .cpu = &detail::split_kernel,
                                       .cuda = TANDEM_CUDA(&detail::split_kernel),
                                       .gradient = &detail::split_gradient,
                                       .outputs = -1,
                                       .saves = Saves::shape,
                                       .attrs = &detail::attr_type<rules::SplitAttrs>};
TANDEM_INLINE constexpr OpDef split_leading_op{.name = "split_leading",
                                               .infer = &detail::infer_split,
                                               .gradient = &detail::split_gradient,
                                               .outputs = -1,
                                               .saves = Saves::shape,
                                               .flags = {.alias = true},
                                               .attrs = &detail::attr_type<rules::SplitAttrs>,
                                               .rare = {.in_errors = "split"}};
TANDEM_INLINE constexpr OpDef unstack_op{.name = "unstack",
                                         .infer = &detail::infer_unstack,
                                         .gradient = &detail::unstack_gradient,
                                         .outputs = -1,
                                         .saves = Saves::shape,
                                         .flags = {.alias = true},
                                         .attrs = &detail::attr_type<rules::SplitAttrs>};

TANDEM_INLINE Tensor concat(const TensorList& list, i64 axis, OpOptions o) {
  const tandem::detail::CallSite call(o);
  detail::check_not_empty("concat", list);
  return detail::apply_join(concat_op, list, rules::JoinAttrs{axis}, o);
}
TANDEM_INLINE Tensor stack(const TensorList& list, StackOptions o) {
  const tandem::detail::CallSite call(o);
  detail::check_not_empty("stack", list);
  return detail::apply_join(stack_op, list, rules::JoinAttrs{o.axis}, {o.name, o.where});
}

namespace detail {
TANDEM_INLINE std::vector<Tensor> split_by(const Tensor& x, const rules::SplitAttrs& a, OpOptions o) {
  const bool leading = x.rank() > 0 && resolve_axis("split", a.axis, x.rank()) == 0;
  const Tensor* const in[] = {&x};
  return to_vector(apply(leading ? split_leading_op : split_op, in, a, o));
}
}  // namespace detail
TANDEM_INLINE std::vector<Tensor> split(const Tensor& x, i64 count, SplitOptions o) {
  const tandem::detail::CallSite call(o);
  return detail::split_by(x, {o.axis, count, {}}, {o.name, o.where});
}
TANDEM_INLINE std::vector<Tensor> split(const Tensor& x, const std::vector<i64>& sizes, SplitOptions o) {
  const tandem::detail::CallSite call(o);
  int open = 0;
  for (i64 s : sizes) {
    if (s < -1) errors::raise<errors::InvalidArgumentError>("split", "a size is negative: " + std::to_string(s));
    open += s == -1;
  }
  if (open > 1 || sizes.empty())
    errors::raise<errors::InvalidArgumentError>("split", open ? "only one size may be -1" : "no sizes are given");
  IntList list;
  list.reserve(static_cast<unsigned>(sizes.size()));
  for (i64 s : sizes) list.push_back(s);
  return detail::split_by(x, {o.axis, static_cast<i64>(sizes.size()), std::move(list)}, {o.name, o.where});
}
TANDEM_INLINE std::vector<Tensor> unstack(const Tensor& x, UnstackOptions o) {
  const tandem::detail::CallSite call(o);
  const int axis = resolve_axis("unstack", o.axis, x.rank());
  const i64 n = o.num < 0 ? x.shape().dim(axis) : o.num;
  if (n == none)
    errors::raise<errors::InvalidArgumentError>(
        "unstack",
        "axis " + std::to_string(axis) + " of " + to_string(x.spec()) + " has an unknown size; specify .num");
  Axes perm(axis);
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) perm.push_back(i);
  const Tensor rows = axis == 0 ? x : transpose(x, {.perm = perm});
  const Tensor* const in[] = {&rows};
  return detail::to_vector(apply(unstack_op, in, rules::SplitAttrs{0, n, {}}, {o.name, o.where}));
}
TANDEM_INLINE std::vector<Tensor> identity_n(const TensorList& list, OpOptions o) {
  std::vector<Tensor> r;
  for (const Tensor& x : list.list()) r.push_back(identity(x, o));
  return r;
}

}  // namespace TANDEM_NS
