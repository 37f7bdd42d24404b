// Definitions of ops/softmax/information.hpp.
#pragma once
#include <cmath>
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/norm/weighted_moments.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/softmax/information.hpp"
#include "tandem/ops/softmax/softmax.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Tensor code_length(const char* op, const Tensor& p, const Tensor& q, const nn::EntropyOptions& o) {
  if (!(o.base > 0) || o.base == 1 || !std::isfinite(o.base))
    errors::raise<errors::InvalidArgumentError>(
        op, "the base must be positive and not 1, not " + detail::shortest_text(o.base));
  const Tensor sum = reduce_sum(xlogy(p, q), {.axis = o.axis});
  return multiply(sum, scalar_like(-1 / std::log(o.base), sum), {o.name, o.where});
}

}  // namespace detail

TANDEM_INLINE Tensor nn::entropy(const Tensor& p, EntropyOptions o) {
  const tandem::detail::CallSite call(o, "entropy");
  return tandem::detail::code_length("entropy", p, p, o);
}
TANDEM_INLINE Tensor nn::cross_entropy(const Tensor& p, const Tensor& q, EntropyOptions o) {
  const tandem::detail::CallSite call(o, "cross_entropy");
  return tandem::detail::code_length("cross_entropy", p, q, o);
}

TANDEM_INLINE Tensor nn::softmax_entropy(const Tensor& logits, SoftmaxEntropyOptions o) {
  const tandem::detail::CallSite call(o, "softmax_entropy");
  // e^-1000 is 0 in every dtype: the bound changes no value, and makes 0 log 0 and its gradient 0.
  const Tensor log_p = maximum(log_softmax(logits, o.axis), tandem::detail::scalar_like(-1000, logits));
  return negative(reduce_sum(exp(log_p) * log_p, {.axis = o.axis}), {o.name, o.where});
}

TANDEM_INLINE Tensor nn::gaussian_kl(const Gaussian& q, const Gaussian& p, OpOptions o) {
  const tandem::detail::CallSite call(o, "gaussian_kl");
  if (!q.mean.is_set() && !q.log_variance.is_set())
    errors::raise<errors::InvalidArgumentError>("gaussian_kl", "needs a mean or a logarithm of the variance of q");
  const Tensor& known = q.mean.is_set() ? q.mean : q.log_variance;
  const Tensor zero = tandem::detail::scalar_like(0, known);
  const Tensor mean = q.mean.is_set() ? q.mean : zero, level = q.log_variance.is_set() ? q.log_variance : zero;
  const Tensor d = p.mean.is_set() ? mean - p.mean : mean;
  const Tensor ratio = p.log_variance.is_set() ? level - p.log_variance : level;  // of the variances, as a logarithm
  const Tensor far = p.log_variance.is_set() ? square(d) * exp(-p.log_variance) : square(d);
  const Tensor each = (expm1(ratio) - ratio + far) * 0.5;
  return each.rank() == 0 ? each : reduce_sum(each, {.name = o.name, .where = o.where, .axis = -1});
}

TANDEM_INLINE Tensor nn::perplexity(const Tensor& log_p, const Tensor& mask, OpOptions o) {
  const tandem::detail::CallSite call(o, "perplexity");
  tandem::detail::check_floating("perplexity", log_p);
  const Tensor bounded = maximum(log_p, tandem::detail::scalar_like(std::log(1e-10), log_p));
  const Tensor mean = mask.is_set() ? masked_mean(bounded, mask) : reduce_mean(bounded);
  return stop_gradient(exp(-mean), o);
}

}  // namespace TANDEM_NS
