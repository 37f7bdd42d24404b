// Normalization, attention, recipes and pooling to a given size against PyTorch.
#include <numbers>

#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

namespace {
GoldenList both(const nn::Moments& m) { return {m.mean, m.variance}; }
}  // namespace

TEST_CASE("golden values: normalization, attention, recipes") {
  using namespace tandem::nn;
  check("norm", {GOLDEN_SUM("layer_norm", layer_norm(x[0], {.scale = x[1], .offset = x[2]})),
                 GOLDEN_SUM("rms_norm", rms_norm(x[0], {.scale = x[1]})),
                 GOLDEN_SUM("group_norm", group_norm(x[0], c.p[0], {.scale = x[1], .offset = x[2]})),
                 GOLDEN_SUM("instance_norm", instance_norm(x[0])),
                 GOLDEN_SUM("fused_batch_norm", fused_batch_norm(x[0], x[1], x[2]).y),
                 GOLDEN_SUM("l2_normalize", l2_normalize(x[0], 1)),
                 {"moments",
                  {[](const GoldenCase&, const GoldenList& x) {
                     return both(moments(x[0], {0, 1}));
                   },
                   sums}},
                 GOLDEN_SUM("attention", scaled_dot_product_attention(x[0], x[1], x[2])),
                 GOLDEN_SUM("attention_mask", scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3]})),
                 GOLDEN_SUM("attention_causal", scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true})),
                 GOLDEN_SUM("softmax_entropy", softmax_entropy(x[0])),
                 GOLDEN_SUM("gaussian_kl", gaussian_kl({x[0], x[1]}, {x[2], x[3]})),
                 GOLDEN_SUM("log_poisson_loss", log_poisson_loss(x[0], x[1])),
                 GOLDEN_SUM("weighted_cross_entropy", weighted_cross_entropy_with_logits(x[0], x[1], c.q[0])),
                 GOLDEN_SUM("entropy", entropy(x[0], {.base = std::numbers::e})),
                 GOLDEN_SUM("cross_entropy", cross_entropy(x[0], x[1], {.base = std::numbers::e})),
                 GOLDEN_SUM("l2_loss", l2_loss(x[0])),
                 GOLDEN_SUM("bias_add", bias_add(x[0], x[1])),
                 GOLDEN_OP("crelu", crelu(x[0])),
                 GOLDEN_SUM("adaptive_avg_pool", adaptive_avg_pool(x[0], c.p)),
                 GOLDEN_SUM("adaptive_max_pool", adaptive_max_pool(x[0], c.p)),
                 GOLDEN_SUM("ctc_loss", ctc_loss(x[0], x[1], x[2], x[3])),
                 GOLDEN_SUM("embedding_lookup_sparse",
                            embedding_lookup_sparse(x[0], x[1], x[2], c.p[1],
                                                    {.weights = x[3], .combiner = static_cast<Combiner>(c.p[0])})),
                 GOLDEN_SUM("conv1d_transpose",
                            conv1d_transpose(x[0], x[1], Dims(Shape(c.p)), {.strides = 2, .padding = Padding::valid})),
                 GOLDEN_SUM("conv3d_transpose", conv3d_transpose(x[0], x[1], Dims(Shape(c.p)),
                                                                 {.strides = 2, .padding = Padding::valid}))});
}

}  // namespace golden_test
