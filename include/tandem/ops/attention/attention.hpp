// nn::scaled_dot_product_attention: one kernel forward and one backward, which never store the matrix of weights.
// Not here: projections and heads (layers), additive attention.
#pragma once
#include <optional>

#include "tandem/attrs/attention.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace nn {

struct AttentionOptions {
  TANDEM_OP_OPTIONS;
  Tensor mask = {};                  ///< bool_: true keeps; floating: added to the scores; broadcasts to [..., m, n]
  bool causal = false;               ///< query i sees keys 0 to i
  std::optional<double> scale = {};  ///< of the products; default: 1 / sqrt(d)
  bool steps_first = false;          ///< q, k, v and the result are [..., steps, heads, width], as projections are
  double dropout_rate = 0;           ///< the fraction of weights to drop, in [0, 1)
  std::optional<i64> seed = {};      ///< of the dropout: selects a separate random sequence
};
/// Scaled dot-product attention: softmax(q k^T scale + mask) v, where softmax is over the keys. The weights are never
/// stored, so memory is linear in the lengths. Dropout's mask is not stored either: it is drawn again for the gradient.
/// On a device without this kernel, and where k or v have more matrices than q, the same is composed of small ops.
///   q         floating [..., m, d]; k: [..., n, d]; v: [..., n, e]; same dtype, rank >= 2. Leading axes broadcast.
///             From rank 4 on, axis -3 of k and v (heads) may be a divisor of that of q: each of their heads serves
///             several adjacent ones of q.
///             With .steps_first, q is [..., m, heads, d], k [..., n, heads, d] and v [..., n, heads, e], rank >= 3:
///             the layout of jax.nn.dot_product_attention (BTNH) and flash-attention. A projection [batch, steps,
///             heads * d] has it after a reshape, without the copies that transposes are; the mask stays [..., heads,
///             m, n]
///   mask      what is hidden, by -inf or false or causality, may be NaN or infinite: it changes no bit of the result
///             or of a gradient. Where small ops compute, and in second gradients, that holds for keys that the mask
///             hides from all queries, and queries that see no key
///   returns   [..., m, e], with .steps_first [..., m, heads, e]; a query whose keys are all masked gives 0
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match, or the rate is outside of [0, 1)
///   gradient  exact, to q, k, v and a floating mask; the weights are computed again, tile by tile
///   source    Vaswani et al. 2017, "Attention Is All You Need"
TANDEM_API Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                               AttentionOptions = {});

}  // namespace nn

namespace detail {
/// Queries [..., m, d], keys [..., n, d] and values [..., n, e] with 0 in place of what a mask hides wholly: keys and
/// values that no query sees, and queries that see no key. They may be NaN or infinite, and 0 times that is NaN.
///   mask  as AttentionOptions::mask, or unset
struct TANDEM_API VisibleParts {
  Tensor q, k, v;
  VisibleParts(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& mask);
};
/// The weights of attention, softmax over the last axis of scores [..., m, n]; 0 for a query whose keys are all masked.
///   mask  as AttentionOptions::mask, or unset
TANDEM_API Tensor attention_probabilities(const Tensor& scores, const Tensor& mask, bool causal);
}  // namespace detail

TANDEM_OPS(attention_ops, scaled_dot_product_attention, attention_delta, scaled_dot_product_attention_grad)

}  // namespace TANDEM_NS
