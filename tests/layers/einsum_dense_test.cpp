// layers::EinsumDense: against Dense and einsum, initial values, unknown sizes, gradients, errors. Keras' numbers are
// in tests/golden/keras_test.cpp.
#include "tandem/layers/einsum_dense.hpp"

#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/wave.hpp"

namespace einsum_dense_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using layers::EinsumDense;
using testing::floats, testing::distance, testing::wave;

TEST_CASE("EinsumDense: Dense by an equation, heads, weights in the order of the equation") {
  const Tensor x = wave({2, 3, 4});
  const layers::Dense dense(5, nn::relu);
  dense(x);
  const EinsumDense same("abc,cd->abd", {none, 5}, {.activation = nn::relu, .bias_axes = "d"});
  same(x);
  CHECK(same.named_variables()[0].path == "kernel");
  CHECK(same.named_variables()[1].path == "bias");
  dense.set_weights({wave({4, 5}, 1), wave({5}, 2)});
  same.set_weights(dense.get_weights());
  CHECK(distance(same(x), dense(x)) < 1e-6);
  const EinsumDense heads("...c,hcd->...hd", {2, 5}, {.bias_axes = "h"});
  const Tensor y = heads(x);
  REQUIRE(heads.get_weights()[0].shape() == Shape{2, 4, 5});
  CHECK(heads.get_weights()[1].shape() == Shape{2, 1});
  heads.set_weights({wave({2, 4, 5}, 3), wave({2, 1}, 4)});
  CHECK(distance(heads(x), einsum("abc,hcd->abhd", x, wave({2, 4, 5}, 3)) + wave({2, 1}, 4)) < 1e-6);
  CHECK(distance(heads(x[0]), heads(x)[0]) < 1e-6);  // any number of axes in place of the ellipsis
  CHECK(y.shape() == Shape{2, 3, 2, 5});
}
TEST_CASE("EinsumDense: initial values have the variance of all inputs and outputs") {
  // Glorot's limit of a kernel [outputs, inputs, outputs]: 64 inputs, 8 * 96 outputs.
  const EinsumDense layer("abc,hcd->abhd", {none, 8, 96});
  layer(ones({1, 1, 64}));
  const Tensor kernel = layer.get_weights()[0];
  const float limit = std::sqrt(6.f / (64 + 8 * 96));
  CHECK(reduce_max(abs(kernel)).item<float>() <= limit);
  CHECK(reduce_max(abs(kernel)).item<float>() > .99f * limit);
  // A matrix of orthonormal columns, whose axes the kernel has in another order.
  const EinsumDense orthogonal("ab,cb->ac", {3}, {.kernel_initializer = initializers::Orthogonal()});
  orthogonal(ones({1, 7}));
  const Tensor w = orthogonal.get_weights()[0];
  CHECK(w.shape() == Shape{3, 7});
  CHECK(distance(matmul(w, w, {.transpose_b = true}), eye(3)) < 1e-5);
}
TEST_CASE("EinsumDense: unknown sizes, penalties, gradients") {
  const EinsumDense layer("abc,cde->abde", {none, 2, 3},
                          {.activation = nn::tanh,
                           .bias_axes = "de",
                           .kernel_regularizer = regularizers::L2(.5),
                           .activity_regularizer = regularizers::L1(1)});
  const Tensor x = wave({2, 5, 4}), y = layer(x);
  const auto losses = layer.losses();
  REQUIRE(losses.size() == 2);
  CHECK(losses[0].item<float>() + losses[1].item<float>() ==
        Approx(reduce_sum(abs(y)).item<float>() / 2 + .5f * reduce_sum(square(layer.get_weights()[0])).item<float>()));
  const auto open = function([&](const Tensor& in) { return layer(in); },
                             {.input_signature = {TensorSpec({none, none, 4}, float32)}});
  CHECK(distance(open(x), y) < 1e-6);
  CHECK(open(zeros({0, 5, 4})).shape() == Shape{0, 5, 2, 3});
  const EinsumDense precise("ab...,bc->ac...", {3}, {.bias_axes = "c", .dtype = float64});
  precise(wave({2, 4, 2}, 0, float64));
  CHECK(test::compute_gradient_error([&](const Tensor& in) { return precise(in); }, wave({2, 4, 2}, 0, float64),
                                     {.delta = 1e-5}) < 1e-6);
  GradientTape tape;
  const Tensor loss = reduce_sum(precise(wave({2, 4, 2}, 0, float64)));
  const auto g = tape.gradient(loss, precise.trainable_variables());
  CHECK(distance(g[0].tensor(), reduce_sum(wave({2, 4, 2}, 0, float64), {.axis = {0, 2}, .keepdims = true})[0] +
                                    zeros({4, 3}, float64)) < 1e-9);
  CHECK(floats(cast(g[1].tensor(), float32)) == std::vector<float>{4, 4, 4});
}
TEST_CASE("EinsumDense: errors") {
  for (const char* const wrong : {"abc", "ab,bc", "ab->ac", "ab,bc->", "aab,bc->ac", "ab,bc,cd->ad", "...ab,bc->ac",
                                  "ab...,bc->...ac", "a b,bc->ac", "ab,...bc->ac"})
    CHECK_THROWS_WITH(EinsumDense(wrong, {3}),
                      ContainsSubstring("EinsumDense: the equation") && ContainsSubstring(wrong));
  CHECK_THROWS_WITH(EinsumDense("ab,bc->ad", {3}), ContainsSubstring("has the output's letter d"));
  CHECK_THROWS_WITH(EinsumDense("ab,bcd->ac", {3}), ContainsSubstring("has the kernel's letter d"));
  CHECK_THROWS_WITH(EinsumDense("ab,bc->ac", {2, 3}), ContainsSubstring("output_shape must have 1 sizes"));
  CHECK_THROWS_WITH(EinsumDense("...b,bc->...c", {}), ContainsSubstring("output_shape must have 1 sizes"));
  CHECK_THROWS_WITH(EinsumDense("ab,bc->ac", {3}, {.bias_axes = "b"}), ContainsSubstring("letter of bias_axes b"));
  const EinsumDense layer("abc,cd->abd", {6, 5});
  CHECK_THROWS_WITH(layer(ones({2, 3})), ContainsSubstring("does not fit the rank of the input float32[2,3]"));
  CHECK_THROWS_WITH(layer(ones({2, 3, 4})), ContainsSubstring("has the size 6 for b") && ContainsSubstring("3"));
  CHECK_THROWS_WITH(layer(ones({2, 6, 4}, float64)), ContainsSubstring("EinsumDense: the input is float64"));
  CHECK(layer.variables().empty());
  layer(ones({2, 6, 4}));
  CHECK_THROWS_AS(layer(ones({2, 6, 3})), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(EinsumDense("ab,bc->ac", {none})(ones({2, 3})), ContainsSubstring("the size of c must be known"));
}
}  // namespace einsum_dense_test
