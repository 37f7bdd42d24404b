// The pointwise rule of sigmoid_cross_entropy_with_logits.
#pragma once
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/softmax/cross_entropy.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::rules {

struct sigmoid_cross_entropy_with_logits_rule : Binary<tandem::dtypes::floating, Saves::inputs> {
  static constexpr const char* input_names = "labels, logits";
  static constexpr bool costly = true;
  template <class V>
  static TANDEM_HD V forward(V z, V x) {
    return (max(x, V(0)) - x * z) + log1p(exp(-abs(x)));
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &g = c.g[0], &z = c.in[0], &x = c.in[1];
    return {c.needs(0) ? Gradient(-(g * x)) : Gradient(),
            c.needs(1) ? Gradient(g * (tandem::sigmoid(x) - z)) : Gradient()};
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {
#define TANDEM_SIGMOID_CROSS_ENTROPY_OPS(unary, binary, other) other(sigmoid_cross_entropy_with_logits)
TANDEM_DEFINE_OPS(TANDEM_SIGMOID_CROSS_ENTROPY_OPS)
}  // namespace TANDEM_NS
