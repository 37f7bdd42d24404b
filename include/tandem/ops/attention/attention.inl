// Definitions of ops/attention/attention.hpp.
#pragma once
#include <cmath>
#include <limits>
#include <string>

#include "tandem/core/backend.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/cpu/attention/attention.hpp"
#include "tandem/ops/attention/attention.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {
namespace detail {
using rules::AttentionAttrs;
// Whether keys of `size` on an axis can serve queries of `of`: as many, one for all, or, of heads, a divisor.
inline bool serves(i64 size, i64 of, bool heads) {
  return size == none || of == none || size == of || size == 1 || (heads && size > 0 && of % size == 0);
}
// How many of the inputs are not the key of dropout.
inline std::size_t without_key(std::size_t inputs, const AttentionAttrs& a) { return inputs - (a.dropout > 0); }
// The mask, if there is one: input `i` of those without the key.
inline const Tensor* mask_at(Span<const Tensor> in, std::size_t i, const AttentionAttrs& a) {
  return without_key(in.size(), a) > i ? &in[i] : nullptr;
}
// The operands from `first` on: q k v; then the mask, input `mask`, and the key, if they are there. Returns the shape
// [..., m, n].
TANDEM_INLINE Shape check_attention(const InferCall& c, std::size_t first, std::size_t mask) {
  const AttentionAttrs& a = c.get<AttentionAttrs>();
  if (!(a.dropout >= 0 && a.dropout < 1)) raise_specs(c, "the rate of dropout is outside of [0, 1)");
  const std::size_t inputs = without_key(c.in.size(), a);
  if (inputs < mask || inputs > mask + 1)
    raise_specs(c, a.dropout > 0 ? "needs at most one mask, and a key" : "needs at most one mask");
  if (a.dropout > 0) check_key(c, inputs);
  const Spec &specs = c.spec(first), &k_spec = c.spec(first + 1), &v_spec = c.spec(first + 2);
  const int rank = specs.shape.rank(), least = a.steps_first ? 3 : 2;
  if (rank < least || k_spec.shape.rank() != rank || v_spec.shape.rank() != rank)
    raise_specs(c, "queries, keys and values need one rank, " + std::to_string(least) + " or more");
  const Shape q = a.heads_first(specs.shape), k = a.heads_first(k_spec.shape), v = a.heads_first(v_spec.shape);
  const auto differ = [](i64 x, i64 y) { return x != none && y != none && x != y; };
  bool ok = k_spec.dtype == specs.dtype && v_spec.dtype == specs.dtype && !differ(q.dim(-1), k.dim(-1)) &&
            !differ(k.dim(-2), v.dim(-2));
  Shape scores = q;
  scores.set(rank - 1, k.dim(-2) == none ? v.dim(-2) : k.dim(-2));
  for (int d = 0; d < rank - 2; ++d)
    ok &= !differ(k.dim(d), v.dim(d)) && serves(k.dim(d), q.dim(d), d > 0 && d == rank - 3);
  if (!ok)
    raise_specs(c, std::string("shapes or dtypes do not match: expected ") +
                       (a.steps_first ? "q [..,m,heads,d], k [..,n,heads,d], v [..,n,heads,e] with leading axes that "
                                        "broadcast, and from rank 4 on heads of k and v that divide q's; got"
                                      : "q [..,m,d], k [..,n,d], v [..,n,e] with leading axes that "
                                        "broadcast, or from rank 4 on divide on axis -3; got"));
  if (inputs == mask) return scores;
  const Spec& s = c.spec(mask);
  ok = (s.dtype == DType::bool_ || s.dtype == specs.dtype) && s.shape.rank() <= rank;
  for (int d = 1; ok && d <= s.shape.rank(); ++d) ok = s.shape.dim(-d) == 1 || !differ(s.shape.dim(-d), scores.dim(-d));
  if (!ok) raise_specs(c, "the mask must be bool_ or of q's dtype and broadcast to " + to_string(scores));
  return scores;
}
TANDEM_INLINE Specs infer_attention(const InferCall& c) {
  Spec lse = c.spec(0);
  lse.shape = check_attention(c, 0, 3);
  lse.dtype = widened(lse.dtype);  // rounded it would spoil the weights that the gradient computes from it
  lse.shape.erase(lse.shape.rank() - 1);
  Specs out(c.spec(0));
  out[0].shape.set(out[0].shape.rank() - 1, c.spec(2).shape.dim(-1));
  out.push_back(lse);
  return out;
}
TANDEM_INLINE Specs infer_attention_delta(const InferCall& c) {
  const AttentionAttrs& a = c.get<AttentionAttrs>();
  Spec delta = c.spec(0);
  if (delta.shape.rank() < (a.steps_first ? 3 : 2)) raise_specs(c, "needs rank 2 or more, with .steps_first 3");
  if (c.spec(1).dtype != delta.dtype || !c.spec(1).shape.is_compatible_with(delta.shape))
    raise_specs(c, "gradient shape does not match result shape");
  delta.shape = a.heads_first(delta.shape);
  delta.shape.erase(delta.shape.rank() - 1);
  delta.dtype = widened(delta.dtype);
  return Specs(delta);
}
TANDEM_INLINE Specs infer_attention_grad(const InferCall& c) {
  Shape rows = check_attention(c, 1, 6), y = c.spec(1).shape;
  rows.erase(rows.rank() - 1);
  y.set(y.rank() - 1, c.spec(3).shape.dim(-1));
  bool ok = c.spec(0).shape.is_compatible_with(y);
  for (const std::size_t i : {4u, 5u}) ok &= c.spec(i).shape.is_compatible_with(rows);
  ok &= c.spec(0).dtype == c.spec(1).dtype;
  for (const std::size_t i : {4u, 5u}) ok &= c.spec(i).dtype == widened(c.spec(1).dtype);
  if (!ok) raise_specs(c, "gradient shape does not match result shape");
  return Specs(c.spec(1), c.spec(2), c.spec(3));
}

// Swaps axes `axis` and `axis` + 1, which count from the end: [..., steps, heads, width] and [..., heads, steps, width]
// with an axis of -3.
TANDEM_INLINE Tensor swap_axes(const Tensor& t, int axis) {
  Axes order = Axes::none();
  const int at = t.rank() + axis;
  for (int d = 0; d < t.rank(); ++d) order.push_back(d == at ? d + 1 : d == at + 1 ? d - 1 : d);
  return transpose(t, {.perm = order});
}
inline Tensor heads_first(const Tensor& t, const AttentionAttrs& a) { return a.steps_first ? swap_axes(t, -3) : t; }

// How the heads of k, on axis -3, are repeated for those of q that they serve.
class SharedHeads {
 public:
  SharedHeads(const Tensor& q, const Tensor& k) {
    if (q.rank() < 4 || k.rank() < 3) return;  // axis -3 of rank 3 is a batch
    const i64 of_q = q.shape().dim(-3), of_k = k.shape().dim(-3);
    const bool known = of_q != none && of_k != none;
    if (known && (of_k <= 1 || of_q <= of_k || of_q % of_k)) return;  // equal, broadcast, or an error
    shares_ = true;
    const DimValue heads = get_shape(q)[static_cast<std::size_t>(q.rank() - 3)];
    keys_ = get_shape(k)[static_cast<std::size_t>(k.rank() - 3)];
    if (known) {
      heads_ = heads, times_ = Dim(of_q / of_k);
    } else {  // q with one head, which is broadcast to those of k, divides to 0; and there may be no heads
      const Tensor keys = keys_.value(), one = scalar_like(1, keys);
      const Tensor times = maximum(floordiv(heads.value(), maximum(keys, one)), one);
      heads_ = Dim(keys * times), times_ = Dim(times);
    }
  }
  /// Repeats each head of k [..., h, n, d].
  Tensor spread(const Tensor& k) const {
    if (!shares_) return k;
    return reshape(broadcast_to(expand_dims(k, -3), sizes(k, true)), sizes(k, false));
  }
  /// The inverse for gradients: sums over the repetitions, and over the axes along which k was broadcast.
  Tensor gather(const Tensor& dk, const Tensor& k) const {
    if (!shares_) return sum_to_like(dk, k);
    return sum_to_like(reduce_sum(reshape(dk, sizes(dk, true)), {.axis = -3}), k);
  }

 private:
  // The shape of t with the heads as [heads of k, repetitions], or as the heads of q.
  Dims sizes(const Tensor& t, bool split) const {
    const std::vector<DimValue> of = get_shape(t);
    Dims dims;
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (i + 3 != of.size()) dims.push_back(of[i]);
      else if (!split) dims.push_back(heads_);
      else dims.push_back(keys_), dims.push_back(times_);
    }
    return dims;
  }
  bool shares_ = false;
  DimValue keys_;
  Dim heads_ = 1, times_ = 1;
};

inline Tensor attention_scale(const Tensor& q, const AttentionAttrs& a) {
  if (!a.by_width) return scalar_like(a.scale, q);
  return rsqrt(maximum(size_over(q, -1, q.dtype()), scalar_like(1, q)));
}
TANDEM_INLINE VisibleParts::VisibleParts(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                         const Tensor& mask)
    : q(queries), k(keys), v(values) {
  if (!mask.is_set() || mask.rank() == 0) return;
  const Tensor sees = mask.dtype() == DType::bool_
                          ? mask
                          : not_equal(mask, scalar_like(-std::numeric_limits<double>::infinity(), mask));
  const Tensor key = expand_dims(mask.rank() > 1 ? reduce_any(sees, -2) : sees, -1);
  const ShapeChecks lenient(false);
  k = where(key, k, scalar_like(0, k)), v = where(key, v, scalar_like(0, v));
  q = where(reduce_any(sees, {.axis = -1, .keepdims = true}), q, scalar_like(0, q));
}
// The scores [..., m, n], with -inf where a key is masked.
TANDEM_INLINE Tensor masked_scores(Tensor s, const Tensor* mask, bool causal) {
  const Tensor lowest = scalar_like(-std::numeric_limits<double>::infinity(), s);
  if (mask)
    s = mask->dtype() == DType::bool_ ? where(*mask, s, lowest) : where(equal(*mask, lowest), lowest, s + *mask);
  if (!causal) return s;
  // Sums of ones number queries and keys, whether or not the sizes are known.
  const Tensor ones = ones_like(s, {.dtype = DType::int32});
  return where(less_equal(cumsum(ones, -1), cumsum(ones, -2)), s, lowest);
}
// The same of q and k, which has q's heads.
TANDEM_INLINE Tensor attention_scores(const Tensor& q, const Tensor& k, const Tensor* mask, const AttentionAttrs& a) {
  return masked_scores(matmul(q, k, {.transpose_b = true}) * attention_scale(q, a), mask, a.causal);
}
// The weights and the logsumexp [..., m] of scores; both are 0 where all scores are -inf.
struct AttentionWeights {
  Tensor weights, lse;
};
TANDEM_INLINE AttentionWeights attention_weights(const Tensor& s) {
  const ReduceOptions keys{.axis = -1, .keepdims = true};
  const Tensor zero = scalar_like(0, s), one = scalar_like(1, s);
  const Tensor top = stop_gradient(reduce_max(s, keys));
  const Tensor m = where(equal(top, scalar_like(-std::numeric_limits<double>::infinity(), s)), zero, top);
  const Tensor e = exp(s - m), sum = reduce_sum(e, keys);
  const Tensor blank = equal(sum, zero), safe = where(blank, one, sum);
  return {e / safe, squeeze(where(blank, zero, m + log(safe)), -1)};
}
TANDEM_INLINE Tensor attention_probabilities(const Tensor& scores, const Tensor& mask, bool causal) {
  return attention_weights(masked_scores(scores, mask.is_set() ? &mask : nullptr, causal)).weights;
}
// Dropout as the kernels apply it, to a tensor of the weights' shape.
TANDEM_INLINE Tensor dropped(const Tensor& weights, Span<const Tensor> in, const AttentionAttrs& a) {
  if (a.dropout == 0) return weights;
  return apply1(dropout_op, rules::DropoutAttrs{a.dropout}, no_options, weights, in[in.size() - 1]);
}
TANDEM_INLINE Tensors reference_attention(Span<const Tensor> operands, const Attrs& attrs) {
  const AttentionAttrs& a = attrs.get<AttentionAttrs>();
  const std::vector<Tensor> in = all_widened(operands);
  const Tensor q = heads_first(in[0], a), k = heads_first(in[1], a), v = heads_first(in[2], a);
  const SharedHeads heads(q, k);
  const Tensor* const mask = mask_at(in, 3, a);
  const VisibleParts t(q, heads.spread(k), heads.spread(v), mask ? *mask : Tensor());
  const AttentionWeights w = attention_weights(attention_scores(t.q, t.k, mask, a));
  return {cast(heads_first(matmul(dropped(w.weights, in, a), t.v), a), operands[0].dtype()), w.lse};
}

TANDEM_INLINE Tensors reference_attention_delta(Span<const Tensor> in, const Attrs& attrs) {
  const Tensor delta = reduce_sum(widened(in[0]) * widened(in[1]), {.axis = -1});
  return Tensors(attrs.get<AttentionAttrs>().steps_first ? swap_axes(delta, -2) : delta);
}

// Of operands as the backward op has them: g q k v lse delta [mask] [key], with the heads first and as many in k and v
// as in q. The weights after dropout, and the scores' gradients, with delta = sum(g y) - (the gradient of lse).
struct ScoreGradient {
  Tensor weights, ds;
};
TANDEM_INLINE ScoreGradient score_gradient(Span<const Tensor> in, const Tensor& g, const Tensor& q, const Tensor& k,
                                           const Tensor& v, const AttentionAttrs& a) {
  const Tensor p = exp(attention_scores(q, k, mask_at(in, 6, a), a) - expand_dims(in[4], -1));
  const Tensor dp = dropped(matmul(g, v, {.transpose_b = true}), in, a);
  return {dropped(p, in, a), p * (dp - expand_dims(in[5], -1))};
}
struct HeadsFirst {
  Tensor g, q, k, v;
  HeadsFirst(Span<const Tensor> in, const AttentionAttrs& a)
      : g(heads_first(in[0], a)), q(heads_first(in[1], a)), k(heads_first(in[2], a)), v(heads_first(in[3], a)) {}
};
TANDEM_INLINE Tensors reference_attention_grad(Span<const Tensor> operands, const Attrs& attrs) {
  const AttentionAttrs& a = attrs.get<AttentionAttrs>();
  const std::vector<Tensor> in = all_widened(operands);
  const HeadsFirst t(in, a);
  const SharedHeads heads(t.q, t.k);
  const Tensor* const mask = mask_at(in, 6, a);
  const VisibleParts seen(t.q, heads.spread(t.k), heads.spread(t.v), mask ? *mask : Tensor());
  const ScoreGradient s = score_gradient(in, t.g, seen.q, seen.k, seen.v, a);
  const Tensor ds = s.ds * attention_scale(t.q, a);
  Tensors r{matmul(ds, seen.k), heads.gather(matmul(ds, seen.q, {.transpose_a = true}), t.k),
            heads.gather(matmul(s.weights, t.g, {.transpose_a = true}), t.v)};
  for (Tensor& d : r) d = cast(heads_first(d, a), operands[0].dtype());
  return r;
}
// The gradient to a mask that is added to the scores.
TANDEM_INLINE Tensor mask_gradient(Span<const Tensor> operands, const AttentionAttrs& a) {
  const std::vector<Tensor> in = all_widened(operands);
  const HeadsFirst t(in, a);
  const SharedHeads heads(t.q, t.k);
  const VisibleParts seen(t.q, heads.spread(t.k), heads.spread(t.v), in[6]);
  const Tensor d = sum_to_like(score_gradient(in, t.g, seen.q, seen.k, seen.v, a).ds, in[6]);
  return cast(d, operands[6].dtype());
}
TANDEM_INLINE Grads gradient_attention(const GradCall& c) {
  const AttentionAttrs& a = c.get<AttentionAttrs>();
  const Tensor &y = c.out[0], g = c.g[0].is_set() ? c.g[0] : zeros_like(y);
  Tensor delta = apply1(attention_delta_op, c.attrs, no_options, g, y);
  if (c.g[1].is_set()) delta = delta - c.g[1];
  std::vector<Tensor> in{g, c.in[0], c.in[1], c.in[2], c.out[1], delta};
  for (std::size_t i = 3; i < c.in.size(); ++i) in.push_back(c.in[i]);
  InlinedVector<const Tensor*, 8> pointers;
  for (const Tensor& t : in) pointers.push_back(&t);
  Grads r;
  for (Tensor& t : apply(scaled_dot_product_attention_grad_op, {pointers.begin(), pointers.size()}, c.attrs))
    r.push_back(Gradient(std::move(t)));
  if (const Tensor* const mask = mask_at(in, 6, a)) {
    const bool wanted = c.needs(3) && mask->dtype() != DType::bool_;
    r.push_back(wanted ? Gradient(mask_gradient(in, a)) : Gradient());
  }
  if (a.dropout > 0) r.push_back(Gradient());  // the key
  return r;
}

// Whether the fused op takes these shapes: keys and values with the same leading axes, none larger than q's. Sizes that
// are all unknown are taken to fit, which the op checks when it runs.
TANDEM_INLINE bool attention_is_fused(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionAttrs& a) {
  if (q.rank() < 2 || k.rank() != v.rank() || k.rank() > q.rank() || k.rank() < 2) return true;  // or an error
  const Shape queries = a.heads_first(q.shape()), keys = a.heads_first(k.shape()), values = a.heads_first(v.shape());
  for (int d = 3; d <= k.rank(); ++d) {
    const i64 of_q = queries.dim(-d), of_k = keys.dim(-d), of_v = values.dim(-d);
    if (of_k != none && of_v != none && of_k != of_v) return false;
    if ((of_q == 1 && of_k != 1) || (of_q == none && of_k > 1)) return false;
  }
  return true;
}
inline Tensor attention_key(const nn::AttentionOptions& o) {
  return random::next_key("scaled_dot_product_attention", {o.seed, nullptr});
}
// Attention of small ops, of q, k and v of any shapes that broadcast, and the mask.
TANDEM_INLINE Tensor composed_attention(Span<const Tensor* const> in, AttentionAttrs a, const nn::AttentionOptions& o) {
  const char* const op = "scaled_dot_product_attention";
  const DType dtype = in[0]->dtype();
  std::vector<Tensor> wide;
  for (const Tensor* t : in) wide.push_back(t->dtype() == dtype ? widened(*t) : *t);
  for (std::size_t i = 0; i < 3; ++i) {
    if (in[i]->dtype() != dtype) errors::raise<errors::InvalidArgumentError>(op, "dtypes of q, k and v differ");
    if (a.steps_first && in[i]->rank() < 3)
      errors::raise<errors::InvalidArgumentError>(
          op, "with .steps_first q, k and v need rank 3 or more, not " + to_string(in[i]->spec()));
    wide[i] = heads_first(wide[i], a);
  }
  a.dropout = 0;
  const Tensor &q = wide[0], keys = SharedHeads(q, wide[1]).spread(wide[1]),
               values = SharedHeads(q, wide[2]).spread(wide[2]);
  const Tensor* const mask = mask_at(wide, 3, a);
  const VisibleParts seen(q, keys, values, mask ? *mask : Tensor());
  Tensor w = attention_weights(attention_scores(seen.q, seen.k, mask, a)).weights;
  if (o.dropout_rate > 0) w = apply1(dropout_op, rules::DropoutAttrs{o.dropout_rate}, no_options, w, attention_key(o));
  const Tensor y = matmul(w, seen.v, {.name = o.name, .where = o.where});
  return heads_first(cast(y, dtype), a);
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef scaled_dot_product_attention_op{
    .name = "scaled_dot_product_attention",
    .input_names = "q, k, v, mask, key",
    .infer = &detail::infer_attention,
    .cpu = &cpu::attention,
    .cuda = TANDEM_CUDA(&cuda::attention),
    .gradient = &detail::gradient_attention,
    .dtypes = dtypes::floating,
    .inputs = at_least(3),
    .outputs = 2,
    .flags = {.takes_half = kernels_take_half, .cuda_takes_half = true},
    .attrs = &detail::attr_type<rules::AttentionAttrs>,
    .rare = {.decomposition = &detail::reference_attention, .wide_outputs = 1u << 1}};
TANDEM_INLINE constexpr OpDef attention_delta_op{
    .name = "attention_delta",
    .input_names = "g, y",
    .infer = &detail::infer_attention_delta,
    .cpu = &cpu::attention_delta,
    .cuda = TANDEM_CUDA(&cuda::attention_delta),
    .dtypes = dtypes::floating,
    .inputs = 2,
    .saves = Saves::inputs,
    .flags = {.takes_half = kernels_take_half, .cuda_takes_half = true},
    .attrs = &detail::attr_type<rules::AttentionAttrs>,
    .rare = {.decomposition = &detail::reference_attention_delta, .wide_outputs = 1u << 0}};
TANDEM_INLINE constexpr OpDef scaled_dot_product_attention_grad_op{
    .name = "scaled_dot_product_attention_grad",
    .input_names = "g, q, k, v, lse, delta, mask, key",
    .infer = &detail::infer_attention_grad,
    .cpu = &cpu::attention_grad,
    .cuda = TANDEM_CUDA(&cuda::attention_grad),
    .dtypes = dtypes::floating,
    .inputs = at_least(6),
    .outputs = 3,
    .saves = Saves::inputs,
    .flags = {.takes_half = kernels_take_half, .cuda_takes_half = true},
    .attrs = &detail::attr_type<rules::AttentionAttrs>,
    .rare = {.decomposition = &detail::reference_attention_grad, .wide_inputs = 1u << 4 | 1u << 5}};

TANDEM_INLINE Tensor nn::scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                                      AttentionOptions o) {
  const tandem::detail::CallSite call(o);
  if (!(o.dropout_rate >= 0 && o.dropout_rate < 1))
    errors::raise<errors::InvalidArgumentError>(
        "scaled_dot_product_attention", "dropout_rate must be in [0, 1), not " + detail::shortest_text(o.dropout_rate));
  rules::AttentionAttrs a{o.causal, !o.scale, o.scale.value_or(0), o.steps_first};
  Tensor keys = k, values = v, key;
  const bool fused =
      has_kernel(scaled_dot_product_attention_op, q.device()) && tandem::detail::attention_is_fused(q, k, v, a);
  for (const int least = a.steps_first ? 3 : 2; fused && keys.rank() < q.rank() && keys.rank() >= least;)
    keys = expand_dims(keys, 0), values = expand_dims(values, 0);
  InlinedVector<const Tensor*, 8> in(&q, &keys, &values);
  if (o.mask.is_set()) in.push_back(&o.mask);
  if (!fused) return tandem::detail::composed_attention({in.begin(), in.size()}, a, o);
  const OpOptions named{o.name, o.where};
  if (o.dropout_rate > 0) {
    const Attrs without = a;  // wrong operands raise before a key is drawn
    (void)tandem::detail::infer_attention({scaled_dot_product_attention_op, {in.begin(), in.size()}, without, named});
    key = tandem::detail::attention_key(o);
    in.push_back(&key);
    a.dropout = o.dropout_rate;
  }
  return apply_one(scaled_dot_product_attention_op, {in.begin(), in.size()}, a, named);
}

}  // namespace TANDEM_NS
