// Activations: the reference's values at -1, 0, 1, 2, edges, dtypes.
#include "tandem/ops/pointwise/activation.hpp"

#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;

TEST_CASE("activation: the values of the reference") {
  const Tensor x = f32({-1, 0, 1, 2});
  CHECK(close<float>(nn::leaky_relu(x, {.alpha = .1}), {-.1f, 0, 1, 2}));
  CHECK(close<float>(nn::leaky_relu(x), {-.2f, 0, 1, 2}));
  CHECK(close<float>(nn::elu(x), {-.6321206f, 0, 1, 2}));
  CHECK(close<float>(nn::selu(x), {-1.1113307f, 0, 1.0507010f, 2.1014020f}));
  CHECK(close<float>(nn::gelu(x), {-.1586553f, 0, .8413447f, 1.9544997f}));
  CHECK(close<float>(nn::gelu(x, {.approximate = true}), {-.1588080f, 0, .8411920f, 1.9545977f}));
  CHECK(close<float>(nn::swish(x), {-.2689414f, 0, .7310586f, 1.7615942f}));
  CHECK(close<float>(nn::silu(x), {-.2689414f, 0, .7310586f, 1.7615942f}));
  CHECK(close<float>(nn::swish(x, {.beta = 2}), {-.1192029f, 0, .8807971f, 1.9640275f}));
  CHECK(close<float>(nn::softsign(x), {-.5f, 0, .5f, .6666667f}));
  CHECK(close<float>(nn::hard_sigmoid(x), {.3333333f, .5f, .6666667f, .8333333f}));
  CHECK(same(nn::hard_sigmoid(f32({-3, 3})), {0, 1}));
  CHECK(close<float>(nn::mish(x), {-.3034015f, 0, .8650984f, 1.9439590f}));
  CHECK(close<float>(nn::tanh(x), {-.76159418f, 0, .76159418f, .96402758f}));
  CHECK(close<float>(nn::sigmoid(x), {.26894143f, .5f, .7310586f, .88079703f}));
  CHECK(close<float>(nn::softplus(x), {.3132617f, .6931472f, 1.3132617f, 2.1269280f}));
  CHECK(close<double>(nn::gelu(f64({1})), {0.8413447460685429}, 4));
  CHECK(close<double>(nn::mish(f64({-30, 30})), {-30 * std::tanh(std::log1p(std::exp(-30.))), 30.}));
}

TEST_CASE("relu: integers, NaN, signed zeros") {
  CHECK(nn::relu(i32({-2, -1, 0, 1, 2})).to_vector<std::int32_t>() == Ints{0, 0, 0, 1, 2});
  CHECK(nn::relu(i32({1})).dtype() == int32);
  CHECK(same(nn::relu(f32({qnan, -inf, inf, 3})), {qnan, 0, inf, 3}));
  CHECK(same(nn::relu6(f32({qnan, -1, 7, 3})), {qnan, 0, 6, 3}));
  CHECK(nn::relu6(i32({-1, 7})).to_vector<std::int32_t>() == Ints{0, 6});
}

TEST_CASE("activation: far out") {
  const Tensor x = f32({-1000, 1000, qnan});
  CHECK(same(nn::elu(x), {-1, 1000, qnan}));
  CHECK(same(nn::gelu(x), {-0.f, 1000, qnan}));
  CHECK(same(nn::gelu(x, {.approximate = true}), {-0.f, 1000, qnan}));
  CHECK(same(nn::silu(x), {-0.f, 1000, qnan}));
  CHECK(same(nn::mish(x), {-0.f, 1000, qnan}));
  CHECK(same(nn::hard_sigmoid(x), {0, 1, qnan}));
  CHECK_THROWS_WITH(nn::gelu(i32({1})), ContainsSubstring("gelu: no kernel for int32"));
  CHECK_THROWS_WITH(nn::elu(i32({1})), ContainsSubstring("elu: no kernel for int32"));
}
