// Samples of normalization ops and attention.
#include "tandem/ops/all.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

void layer_norms(Numbers& n) {
  nn::layer_norm(n.reals({3, 4}));
  nn::layer_norm(n.reals({3, 4}), {.scale = n.reals({4})});
  nn::layer_norm(n.reals({2, 3, 5}), {.axis = {1, 2}, .scale = n.reals({3, 5}), .offset = n.reals({3, 5})});
  nn::layer_norm(n.reals({2, 3}), {.offset = n.reals({3})});
}
void rms_norms(Numbers& n) {
  nn::rms_norm(n.reals({3, 4}));
  nn::rms_norm(n.reals({3, 4}), {.scale = n.reals({4})});
}
Tensor batch_norm(Numbers& n, const Tensor& x, DataFormat format) {
  return nn::fused_batch_norm(x, n.reals({3}), n.reals({3}), {.data_format = format}).y;
}

void attentions(Numbers& n) {
  const Tensor q = n.reals({1, 4, 2, 3}), k = n.reals({1, 2, 5, 3}), v = n.reals({1, 2, 5, 2});
  nn::scaled_dot_product_attention(n.reals({2, 3}), n.reals({4, 3}), n.reals({4, 2}));
  nn::scaled_dot_product_attention(q, k, v, {.causal = true, .scale = 0.7});
  nn::scaled_dot_product_attention(q, k, v, {.mask = n.reals({4, 1, 5})});
  nn::scaled_dot_product_attention(q, k, v, {.mask = n.flags({2, 5})});
  nn::scaled_dot_product_attention(n.reals({2, 2, 4, 3}), n.reals({2, 5, 2, 3}), n.reals({2, 5, 2, 2}),
                                   {.causal = true, .steps_first = true});
}

const Sample norm_table[] = {
    {"layer_norm", &layer_norms},
    {"layer_norm_grad",
     [](Numbers& n) {
       const Tensor scale = n.reals({4}), offset = n.reals({4});
       back([&](const Tensor& x) { return nn::layer_norm(x); }, n.reals({3, 4}));
       back([&](const Tensor& x) { return nn::layer_norm(x, {.scale = scale, .offset = offset}); }, n.reals({3, 4}));
     }},
    {"layer_norm_grad",
     [](Numbers& n) {
       const Tensor x = n.reals({3, 4}), offset = n.reals({4});
       back([&](const Tensor& scale) { return nn::layer_norm(x, {.scale = scale, .offset = offset}); }, n.reals({4}));
     }},
    {"rms_norm", &rms_norms},
    {"rms_norm_grad",
     [](Numbers& n) {
       const Tensor scale = n.reals({4});
       back([&](const Tensor& x) { return nn::rms_norm(x); }, n.reals({3, 4}));
       back([&](const Tensor& x) { return nn::rms_norm(x, {.scale = scale}); }, n.reals({3, 4}));
     }},
    {"fused_batch_norm",
     [](Numbers& n) {
       batch_norm(n, n.reals({5, 3}), DataFormat::nhwc);
     }},
    {"fused_batch_norm",
     [](Numbers& n) {
       batch_norm(n, n.reals({2, 2, 2, 3}), DataFormat::nhwc);
     }},
    {"fused_batch_norm",
     [](Numbers& n) {
       batch_norm(n, n.reals({2, 3, 2, 2}), DataFormat::nchw);
     }},
    {"fused_batch_norm_grad",
     [](Numbers& n) {
       back([&](const Tensor& x) { return batch_norm(n, x, DataFormat::nhwc); }, n.reals({2, 2, 3}));
       back([&](const Tensor& x) { return batch_norm(n, x, DataFormat::nchw); }, n.reals({2, 3, 2}));
     }},
    {"scaled_dot_product_attention", &attentions},
    {"attention_delta",
     [](Numbers& n) {
       for (const bool steps_first : {false, true})
         apply1(attention_delta_op, rules::AttentionAttrs{false, true, 0, steps_first}, no_options, n.reals({2, 3, 4}),
                n.reals({2, 3, 4}));
     }},
    {"scaled_dot_product_attention_grad",
     [](Numbers& n) {
       const Tensor k = n.reals({1, 2, 3, 4}), v = n.reals({1, 2, 3, 5}), mask = n.reals({3});
       back([&](const Tensor& q) { return nn::scaled_dot_product_attention(q, k, v); }, n.reals({1, 2, 2, 4}));
       back([&](const Tensor& q) { return nn::scaled_dot_product_attention(q, k, v, {.mask = mask, .causal = true}); },
            n.reals({1, 4, 2, 4}));
       back([&](const Tensor& q) { return nn::scaled_dot_product_attention(q, k, v, {.steps_first = true}); },
            n.reals({1, 3, 6, 4}));
     }},
};

}  // namespace

tandem::Span<const Sample> norm_samples() { return norm_table; }

}  // namespace samples::detail
