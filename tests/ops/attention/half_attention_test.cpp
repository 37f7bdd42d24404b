// float16 and bfloat16 in attention and batch normalization: float32's bits, rounded once, with statistics that stay
// float32 for the gradient; and no float32 copies of whole operands.
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/half_rounded.hpp"
#include "tests/support/threads.hpp"

using namespace tandem;
using namespace half_rounded;

namespace {

struct Heads {
  const char* what;
  Shape q, k, v;
  rules::AttentionAttrs attrs;
  Shape mask = {};  // rank 0: none
  bool flags = false;
};
void check_heads(const Heads& h, DType half) {
  CAPTURE(h.what);
  const Tensor q = drawn(h.q, half, 1), k = drawn(h.k, half, 2), v = drawn(h.v, half, 3);
  std::vector<Tensor> in{q, k, v};
  if (h.mask.rank() > 0) in.push_back(drawn(h.mask, half, 4));
  if (h.mask.rank() > 0 && h.flags) in.back() = greater(cast(in.back(), float32), constant(-1.f));
  const auto y = check_op(scaled_dot_product_attention_op, in, h.attrs, half);
  const Tensor g = drawn(y[0].shape(), half, 5), delta = drawn(y[1].shape(), float32, 6);
  CHECK(check_op(attention_delta_op, {g, y[0]}, h.attrs, half)[0].shape() == delta.shape());
  std::vector<Tensor> back{g, q, k, v, y[1], delta};
  if (in.size() > 3) back.push_back(in[3]);
  check_op(scaled_dot_product_attention_grad_op, back, h.attrs, half);
}

}  // namespace

TEST_CASE("half precision: attention and its gradient have float32's bits, rounded") {
  const rules::AttentionAttrs plain{false, true, 0, false}, causal{true, true, 0, false}, steps{true, false, .3, true};
  const std::vector<Heads> all{
      {"heads", {2, 3, 70, 16}, {2, 3, 300, 16}, {2, 3, 300, 24}, plain},
      {"causal", {2, 2, 150, 16}, {2, 2, 150, 16}, {2, 2, 150, 8}, causal},
      {"shared keys", {2, 4, 70, 16}, {2, 2, 40, 16}, {2, 2, 40, 16}, plain},
      {"heads in between", {2, 70, 4, 16}, {2, 290, 2, 16}, {2, 290, 2, 16}, steps},
      {"few queries", {2, 3, 5, 16}, {2, 3, 300, 16}, {2, 3, 300, 16}, plain},
      {"one query", {3, 1, 16}, {3, 30, 16}, {3, 30, 16}, plain},
      {"many heads", {4, 5, 40, 8}, {4, 5, 130, 8}, {4, 5, 130, 8}, causal},
      {"flags", {2, 3, 70, 16}, {2, 3, 80, 16}, {2, 3, 80, 16}, plain, {2, 1, 70, 80}, true},
      {"a mask", {2, 3, 70, 16}, {2, 3, 300, 16}, {2, 3, 300, 16}, plain, {70, 300}},
      {"a mask of keys", {2, 3, 70, 16}, {2, 3, 80, 16}, {2, 3, 80, 16}, plain, {2, 1, 1, 80}},
      {"a mask of queries", {2, 3, 70, 16}, {2, 3, 80, 16}, {2, 3, 80, 16}, plain, {70, 1}},
  };
  for (const int threads : {1, 3}) {
    const testing::Threads use(threads);
    for (const DType half : {bfloat16, float16})
      for (const Heads& h : all) check_heads(h, half);
  }
}

TEST_CASE("half precision: the gradient of attention reads a logsumexp that is not rounded") {
  // Scores near 100: a logsumexp that is rounded to bfloat16 would be wrong by up to 0.25, and so the weights by 25 %.
  const Tensor q = drawn({1, 40, 64}, bfloat16, 1) * 4.f, k = drawn({1, 50, 64}, bfloat16, 2) * 4.f;
  const Tensor v = drawn({1, 50, 16}, bfloat16, 3);
  const auto gradient = [](const Tensor& a, const Tensor& b, const Tensor& c) {
    GradientTape tape;
    tape.watch(c);
    return cast(tape.gradient(reduce_sum(cast(nn::scaled_dot_product_attention(a, b, c), float32)), c), float32);
  };
  const Tensor got = gradient(q, k, v), want = gradient(cast(q, float32), cast(k, float32), cast(v, float32));
  CHECK(reduce_max(abs(got - want)).item<float>() <= reduce_max(abs(want)).item<float>() * 0x1p-8f);
}

TEST_CASE("half precision: batch normalization and its gradient have float32's bits, rounded") {
  for (const DType half : {bfloat16, float16})
    for (const Shape& s : {Shape{50, 3}, {4, 30, 31, 20}, {700, 70}, {3, 5, 90, 91}, {2, 3}})
      for (const i64 axis : {1, -1}) {
        CAPTURE(s, axis);
        const i64 n = s.dim(axis < 0 ? s.rank() - 1 : 1);
        const rules::BatchNormAttrs a{axis, 1e-3};
        const Tensor x = drawn(s, half, 1) + cast(constant(3.f), half), scale = drawn({n}, half, 2);
        const auto y = check_op(fused_batch_norm_op, {x, scale, drawn({n}, half, 3)}, a, half);
        check_op(fused_batch_norm_grad_op, {drawn(s, half, 4), x, scale, y[1], y[2]}, a, half);
      }
}

TEST_CASE("half precision: attention and its gradient take scratch for heads, not for whole operands") {
  if (!kernels_take_half) TANDEM_SKIP("half precision is computed in float32 here");
  const testing::Threads two(2);
  const Tensor q = drawn({8, 8, 512, 64}, bfloat16, 1);  // 4 MiB
  CHECK(scratch_of([&] { return nn::scaled_dot_product_attention(q, q, q, {.causal = true}); }) < bytes_of(q) / 2);
  const Tensor k = identity(q), v = identity(q);
  GradientTape tape;
  for (const Tensor* t : {&q, &k, &v}) tape.watch(*t);
  const Tensor y = nn::scaled_dot_product_attention(q, k, v);
  CHECK(scratch_of([&] { return tape.gradient(y, {q, k, v}, {.output_gradients = {q}}); }) < bytes_of(q) / 2);
}
