// SpectralNormalization: a known singular value, the state that goes on, modes, wrapped layers, traced calls, errors.
#include "tandem/layers/spectral_normalization.hpp"

#include <cmath>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace spectral_normalization_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using Floats = std::vector<float>;

const Tensor x = testing::wave({3, 2}, 1);

// With the kernel diag(4, 2) and vector_u (1, 1).
auto diagonal(i64 iterations = 1) {
  const layers::SpectralNormalization l(layers::Dense(2), {.power_iterations = iterations});
  (void)l(x);
  l.set_weights({constant({{4.f, 0.f}, {0.f, 2.f}}), zeros({2}), ones({1, 2})});
  return l;
}
Floats kernel_of(const Module& l) { return l.variables_by_name("kernel")[0].to_vector<float>(); }
Floats u_of(const Module& l) { return l.variables_by_name("vector_u")[0].to_vector<float>(); }

TEST_CASE("SpectralNormalization: one power iteration by hand, then the singular value") {
  const auto l = diagonal();
  const Tensor y = l(x, {.training = true});
  // v = (4, 2) / sqrt(20); u = (16, 4) / sqrt(272); u' W v = 272 / sqrt(20 272)
  const float largest = std::sqrt(272.f / 20);
  CHECK(kernel_of(l)[0] == Approx(4 / largest));
  CHECK(kernel_of(l)[3] == Approx(2 / largest));
  CHECK(u_of(l)[0] == Approx(16 / std::sqrt(272.f)));
  const Tensor want = matmul(x, reshape(constant(kernel_of(l)), {2, 2}));
  CHECK(reduce_max(abs(y - want)).item<float>() < 1e-6f);
  for (int i = 0; i < 20; ++i) (void)l(x, {.training = true});
  CHECK(kernel_of(l)[0] == Approx(1).epsilon(1e-5));
  CHECK(kernel_of(l)[3] == Approx(.5).epsilon(1e-5));
  const auto many = diagonal(30);
  (void)many(x, {.training = true});
  CHECK(kernel_of(many)[0] == Approx(1).epsilon(1e-5));
}
TEST_CASE("SpectralNormalization: inference, frozen layers and kernels of 0 do not change") {
  const auto l = diagonal();
  const Floats before = kernel_of(l);
  (void)l(x, {.training = false});
  (void)l(x);
  CHECK(kernel_of(l) == before);
  l.set_trainable(false);
  (void)l(x, {.training = true});
  CHECK(kernel_of(l) == before);
  CHECK(u_of(l) == Floats{1, 1});
  l.set_trainable(true);
  l.set_weights({zeros({2, 2}), ones({2}), ones({1, 2})});
  CHECK(l(x, {.training = true}).to_vector<float>() == Floats(6, 1));
  CHECK(kernel_of(l) == Floats(4, 0));
  CHECK(u_of(l) == Floats{1, 1});
  CHECK(l.trainable_variables().size() == 2);
}
TEST_CASE("SpectralNormalization: a u that says nothing of the kernel; small and large kernels") {
  const auto l = diagonal();
  l.set_weights({constant({{0.f, 0.f}, {0.f, 2.f}}), zeros({2}), constant({{1.f, 0.f}})});
  (void)l(x, {.training = true});
  CHECK(kernel_of(l) == Floats{0, 0, 0, 2});
  CHECK(u_of(l) == Floats{1, 0});
  for (const float factor : {1e-7f, 1e-15f, 1e-30f, 1e30f})
    for (const float of_u : {1e-30f, .02f, 1e30f}) {
      l.set_weights({constant({{4.f, 0.f}, {0.f, 2.f}}) * factor, zeros({2}), fill({1, 2}, of_u)});
      (void)l(x, {.training = true});
      const float largest = std::sqrt(272.f / 20);  // as of the kernel diag(4, 2)
      CHECK(kernel_of(l)[0] == Approx(4 / largest));
      CHECK(kernel_of(l)[3] == Approx(2 / largest));
      CHECK(u_of(l)[0] == Approx(16 / std::sqrt(272.f)));
    }
}
TEST_CASE("SpectralNormalization: eager, traced and restored calls agree; gradients are those of the divided kernel") {
  const auto eager = diagonal(), traced = diagonal(), restored = diagonal();
  const auto f = function([&](const Tensor& t) { return traced(t, {.training = true}); });
  for (int i = 0; i < 3; ++i) CHECK(f(x).to_vector<float>() == eager(x, {.training = true}).to_vector<float>());
  CHECK(kernel_of(traced) == kernel_of(eager));
  restored.set_weights(eager.get_weights());
  for (int i = 0; i < 2; ++i)
    CHECK(restored(x, {.training = true}).to_vector<float>() == eager(x, {.training = true}).to_vector<float>());
  GradientTape tape;
  const Tensor loss = reduce_sum(square(eager(x, {.training = true})));
  const Variable kernel = eager.variables_by_name("kernel")[0];
  const Tensor want = 2 * matmul(x, matmul(x, kernel), {.transpose_a = true});
  CHECK(reduce_max(abs(tape.gradient(loss, kernel) - want)).item<float>() < 1e-5f);
}
TEST_CASE("SpectralNormalization: kernels of convolutions, embeddings, half precision; in models") {
  const layers::SpectralNormalization conv(layers::Conv2D(4, 3), {.power_iterations = 50});
  CHECK(conv(testing::wave({1, 5, 5, 2}, 1), {.training = true}).shape() == Shape{1, 3, 3, 4});
  const Tensor w = reshape(conv.variables_by_name("kernel")[0], {18, 4});
  Tensor v = testing::wave({1, 4}, 2);
  for (int i = 0; i < 50; ++i) {
    v = matmul(matmul(v, w, {.transpose_b = true}), w);
    v = v / reduce_euclidean_norm(v);
  }
  CHECK(reduce_euclidean_norm(matmul(v, w, {.transpose_b = true})).item<float>() == Approx(1).epsilon(1e-3));
  CHECK(conv.variables_by_name("vector_u")[0].shape() == Shape{1, 4});
  const layers::SpectralNormalization table(layers::Embedding(5, 3));
  CHECK(table(constant({{1, 2}, {3, 4}}), {.training = true}).shape() == Shape{2, 2, 3});
  const layers::SpectralNormalization half(layers::Dense(2, {.dtype = bfloat16}));
  CHECK(half(cast(x, bfloat16), {.training = true}).dtype() == bfloat16);
  const layers::Sequential net{layers::SpectralNormalization(layers::Dense(4)), layers::Dense(1)};
  (void)net(x);
  const std::vector<Tensor> before = net.get_weights();
  {
    const training_scope scope(true);
    (void)net(x);
  }
  CHECK(net.get_weights()[0].to_vector<float>() != before[0].to_vector<float>());
  CHECK(net.variables_by_name("spectral_normalization/dense/kernel").size() == 1);
  CHECK(net.variables_by_name("spectral_normalization/vector_u").size() == 1);
}
TEST_CASE("SpectralNormalization: errors") {
  CHECK_THROWS_WITH(layers::SpectralNormalization(layers::Dense(2), {.power_iterations = 0}),
                    ContainsSubstring("power_iterations must be positive"));
  CHECK_THROWS_WITH(layers::SpectralNormalization(layers::LayerNormalization())(x),
                    ContainsSubstring("needs a layer with one kernel") && ContainsSubstring("gamma, beta"));
  CHECK_THROWS_WITH(layers::SpectralNormalization(layers::SeparableConv1D(2, 2))(testing::wave({1, 4, 2}, 1)),
                    ContainsSubstring("depthwise_kernel, pointwise_kernel"));
}
}  // namespace spectral_normalization_test
