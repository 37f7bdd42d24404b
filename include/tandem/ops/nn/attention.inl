// Definitions of ops/nn/attention.hpp.
#pragma once
#include <cmath>
#include <limits>
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/attention/attention.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/nn/attention.hpp"
#include "tandem/ops/nn/half.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS {
namespace detail {

// Whether keys of `size` on an axis can serve queries of `of`: as many, one for all, or, of heads, a divisor.
inline bool serves(i64 size, i64 of, bool heads) {
  return size == none || of == none || size == of || size == 1 || (heads && size > 0 && of % size == 0);
}
// The operands from `first` on: q k v; the mask is input `mask` if there is one. Returns the shape [..., m, n].
TANDEM_INLINE Shape check_attention(const InferCall& c, std::size_t first, std::size_t mask) {
  const Spec &q = c.spec(first), &k = c.spec(first + 1), &v = c.spec(first + 2);
  const int rank = q.shape.rank();
  if (rank < 2 || k.shape.rank() != rank || v.shape.rank() != rank)
    raise_specs(c, "queries, keys and values need one rank, 2 or more");
  const auto differ = [](i64 a, i64 b) { return a != none && b != none && a != b; };
  bool ok = k.dtype == q.dtype && v.dtype == q.dtype && !differ(q.shape.dim(-1), k.shape.dim(-1)) &&
            !differ(k.shape.dim(-2), v.shape.dim(-2));
  Shape scores = q.shape;
  scores.set(rank - 1, k.shape.dim(-2) == none ? v.shape.dim(-2) : k.shape.dim(-2));
  for (int a = 0; a < rank - 2; ++a)
    ok &= !differ(k.shape.dim(a), v.shape.dim(a)) && serves(k.shape.dim(a), q.shape.dim(a), a > 0 && a == rank - 3);
  if (!ok)
    raise_specs(c,
                "shapes or dtypes do not match: expected q [..,m,d], k [..,n,d], v [..,n,e] with leading axes that "
                "broadcast, or from rank 4 on divide on axis -3; got");
  if (c.in.size() <= mask) return scores;
  const Spec& s = c.spec(mask);
  ok = (s.dtype == DType::bool_ || s.dtype == q.dtype) && s.shape.rank() <= rank;
  for (int a = 1; ok && a <= s.shape.rank(); ++a) ok = s.shape.dim(-a) == 1 || !differ(s.shape.dim(-a), scores.dim(-a));
  if (!ok) raise_specs(c, "the mask must be bool_ or of q's dtype and broadcast to " + to_string(scores));
  return scores;
}
TANDEM_INLINE Specs infer_attention(const InferCall& c) {
  if (c.in.size() > 4) raise_specs(c, "needs q, k, v and at most one mask");
  (void)check_attention(c, 0, 3);
  const Spec& q = c.spec(0);
  Specs out(q);
  out[0].shape.set(q.shape.rank() - 1, c.spec(2).shape.dim(-1));
  Spec lse = q;
  lse.shape.erase(q.shape.rank() - 1);
  out.push(lse);
  return out;
}
TANDEM_INLINE Specs infer_attention_grad(const InferCall& c) {
  if (c.in.size() > 7) raise_specs(c, "needs g, q, k, v, lse, delta and at most one mask");
  (void)check_attention(c, 1, 6);
  Shape y = c.spec(1).shape, rows = y;
  y.set(y.rank() - 1, c.spec(3).shape.dim(-1));
  rows.erase(rows.rank() - 1);
  bool ok = c.spec(0).shape.is_compatible_with(y);
  for (const std::size_t i : {4, 5}) ok &= c.spec(i).shape.is_compatible_with(rows);
  for (const std::size_t i : {0, 4, 5}) ok &= c.spec(i).dtype == c.spec(1).dtype;
  if (!ok) raise_specs(c, "gradient shape does not match result shape");
  Specs out(c.spec(1));
  out.push(c.spec(2));
  out.push(c.spec(3));
  return out;
}

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
    } else {  // q with one head, which is broadcast to those of k, divides to 0
      const Tensor keys = keys_.value(), times = maximum(floordiv(heads.value(), keys), scalar_like(1, keys));
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
      if (i + 3 != of.size()) dims.push(of[i]);
      else if (!split) dims.push(heads_);
      else dims.push(keys_), dims.push(times_);
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
TANDEM_INLINE Tensors reference_attention(Span<const Tensor> in, const Attrs& attrs) {
  const SharedHeads heads(in[0], in[1]);
  const Tensor* const mask = in.size() > 3 ? &in[3] : nullptr;
  const Tensor s = attention_scores(in[0], heads.spread(in[1]), mask, attrs.get<AttentionAttrs>());
  const AttentionWeights w = attention_weights(s);
  return {matmul(w.weights, heads.spread(in[2])), w.lse};
}

// The scores' weights and gradients, with delta = sum(g y) - (the gradient of lse).
struct ScoreGradient {
  Tensor weights, ds;
};
TANDEM_INLINE ScoreGradient score_gradient(const Tensor& g, const Tensor& q, const Tensor& k, const Tensor& v,
                                           const Tensor& lse, const Tensor& delta, const Tensor* mask,
                                           const AttentionAttrs& a) {
  const Tensor p = exp(attention_scores(q, k, mask, a) - expand_dims(lse, -1));
  return {p, p * (matmul(g, v, {.transpose_b = true}) - expand_dims(delta, -1))};
}
TANDEM_INLINE Tensors reference_attention_grad(Span<const Tensor> in, const Attrs& attrs) {
  const AttentionAttrs& a = attrs.get<AttentionAttrs>();
  const Tensor &g = in[0], &q = in[1];
  const SharedHeads heads(q, in[2]);
  const Tensor k = heads.spread(in[2]), v = heads.spread(in[3]);
  const ScoreGradient s = score_gradient(g, q, k, v, in[4], in[5], in.size() > 6 ? &in[6] : nullptr, a);
  const Tensor ds = s.ds * attention_scale(q, a);
  return {matmul(ds, k), heads.gather(matmul(ds, q, {.transpose_a = true}), in[2]),
          heads.gather(matmul(s.weights, g, {.transpose_a = true}), in[3])};
}
TANDEM_INLINE Grads gradient_attention(const GradCall& c) {
  const Tensor &q = c.in[0], &k = c.in[1], &v = c.in[2], &y = c.out[0], &lse = c.out[1];
  const Tensor g = c.g[0].is_set() ? c.g[0] : zeros_like(y);
  Tensor delta = reduce_sum(g * y, {.axis = -1});
  if (c.g[1].is_set()) delta = delta - c.g[1];
  InlinedVector<const Tensor*, 8> in(&g, &q, &k, &v, &lse, &delta);
  const Tensor* const mask = c.in.size() > 3 ? &c.in[3] : nullptr;
  if (mask) in.push(mask);
  Tensors out = apply(scaled_dot_product_attention_grad_op, {in.begin(), in.size()}, c.attrs);
  Grads r;
  for (Tensor& t : out) r.push(Gradient(std::move(t)));
  if (!mask) return r;
  if (c.needs(3) && mask->dtype() != DType::bool_) {
    const SharedHeads heads(q, k);
    const Tensor ds =
        score_gradient(g, q, heads.spread(k), heads.spread(v), lse, delta, mask, c.get<AttentionAttrs>()).ds;
    r.push(Gradient(sum_to_like(ds, *mask)));
  } else {
    r.push(Gradient());
  }
  return r;
}

// Whether the fused op takes these shapes: keys and values with the same leading axes, none larger than q's. Sizes that
// are all unknown are taken to fit, which the op checks when it runs.
TANDEM_INLINE bool attention_is_fused(const Tensor& q, const Tensor& k, const Tensor& v) {
  if (q.rank() < 2 || k.rank() != v.rank() || k.rank() > q.rank() || k.rank() < 2) return true;  // or an error
  for (int a = 3; a <= k.rank(); ++a) {
    const i64 of_q = q.shape().dim(-a), of_k = k.shape().dim(-a), of_v = v.shape().dim(-a);
    if (of_k != none && of_v != none && of_k != of_v) return false;
    if ((of_q == 1 && of_k != 1) || (of_q == none && of_k > 1)) return false;
  }
  return true;
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef scaled_dot_product_attention_op{.name = "scaled_dot_product_attention",
                                                              .input_names = "q, k, v, mask",
                                                              .infer = &detail::infer_attention,
                                                              .cpu = &cpu::attention,
                                                              .gradient = &detail::gradient_attention,
                                                              .dtypes = dtypes::floating,
                                                              .inputs = at_least(3),
                                                              .outputs = 2,
                                                              .attrs = &detail::attr_type<AttentionAttrs>,
                                                              .rare = {.decomposition = &detail::reference_attention}};
TANDEM_INLINE constexpr OpDef scaled_dot_product_attention_grad_op{
    .name = "scaled_dot_product_attention_grad",
    .input_names = "g, q, k, v, lse, delta, mask",
    .infer = &detail::infer_attention_grad,
    .cpu = &cpu::attention_grad,
    .dtypes = dtypes::floating,
    .inputs = at_least(6),
    .outputs = 3,
    .saves = Saves::inputs,
    .attrs = &detail::attr_type<AttentionAttrs>,
    .rare = {.decomposition = &detail::reference_attention_grad}};

TANDEM_INLINE Tensor nn::scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                                      AttentionOptions o) {
  const tandem::detail::CallSite call(o);
  if (!(o.dropout_rate >= 0 && o.dropout_rate < 1))
    errors::raise<errors::InvalidArgumentError>(
        "scaled_dot_product_attention", "dropout_rate must be in [0, 1), not " + std::to_string(o.dropout_rate));
  const AttentionAttrs a{o.causal, !o.scale, o.scale.value_or(0)};
  const Tensor* const mask = o.mask.is_set() ? &o.mask : nullptr;
  if (o.dropout_rate > 0 || !tandem::detail::attention_is_fused(q, k, v)) {
    using tandem::detail::widened;
    if (k.dtype() != q.dtype() || v.dtype() != q.dtype())
      errors::raise<errors::InvalidArgumentError>("scaled_dot_product_attention", "dtypes of q, k and v differ");
    const Tensor keys = tandem::detail::SharedHeads(q, k).spread(widened(k));
    const Tensor bias = mask && mask->dtype() == q.dtype() ? widened(*mask) : o.mask;
    const Tensor s = tandem::detail::attention_scores(widened(q), keys, mask ? &bias : nullptr, a);
    Tensor w = tandem::detail::attention_weights(s).weights;
    if (o.dropout_rate > 0) w = dropout(w, {.rate = o.dropout_rate, .seed = o.seed});
    const Tensor values = tandem::detail::SharedHeads(q, v).spread(widened(v));
    return cast(matmul(w, values, {.name = o.name, .where = o.where}), q.dtype());
  }
  Tensor keys = k, values = v;
  while (keys.rank() < q.rank() && keys.rank() >= 2) keys = expand_dims(keys, 0), values = expand_dims(values, 0);
  InlinedVector<const Tensor*, 8> in(&q, &keys, &values);
  if (mask) in.push(mask);
  return apply_one(scaled_dot_product_attention_op, {in.begin(), in.size()}, a, {o.name, o.where});
}

}  // namespace TANDEM_NS
