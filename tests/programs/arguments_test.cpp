// Arguments as TensorFlow and NumPy users write them: axes, sizes and dtypes by position, options behind.
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::floats, testing::Floats;

namespace {
Tensor numbers() { return constant({{0.f, 1.f, 2.f}, {3.f, 4.f, 5.f}}); }
Tensor cube() { return reshape(range(24.f), {2, 3, 4}); }
}  // namespace

TEST_CASE("axes by position: reductions") {
  const Tensor x = numbers(), y = cube();
  CHECK(floats(reduce_sum(x)) == Floats{15});
  CHECK(floats(reduce_sum(x, {0})) == Floats{3, 5, 7});
  CHECK(floats(reduce_sum(x, {1})) == Floats{3, 12});
  CHECK(floats(reduce_sum(x, {0, 1})) == Floats{15});
  CHECK(floats(reduce_sum(x, {-1})) == Floats{3, 12});
  CHECK(floats(reduce_sum(x, 0)) == Floats{3, 5, 7});
  CHECK(floats(reduce_sum(x, -1)) == Floats{3, 12});
  CHECK(floats(reduce_sum(x, {})) == Floats{15});
  CHECK(reduce_sum(x, -1, {.keepdims = true}).shape() == Shape{2, 1});
  CHECK(reduce_sum(x, {0, 1}, {.keepdims = true}).shape() == Shape{1, 1});
  CHECK(reduce_sum(y, {0, -1}).shape() == Shape{3});
  const std::vector<int> axes{0, 2};
  CHECK(reduce_mean(y, axes).shape() == Shape{3});
  CHECK(reduce_mean(y, std::vector<i64>{1}, {.keepdims = true}).shape() == Shape{2, 1, 4});
  const int n = 1;
  const i64 m = -1;
  CHECK(floats(reduce_max(x, {n})) == Floats{2, 5});
  CHECK(floats(reduce_max(x, {m})) == Floats{2, 5});
  CHECK(floats(reduce_max(x, m)) == Floats{2, 5});
  CHECK(floats(reduce_sum(x, {.axis = {0}})) == Floats{3, 5, 7});
  CHECK(floats(reduce_sum(x, {.axis = {0, 1}})) == Floats{15});
  CHECK(floats(reduce_sum(x, {.axis = 0})) == Floats{3, 5, 7});
  CHECK_THROWS_WITH(reduce_sum(x, {2}), ContainsSubstring("reduce_sum: axis 2 is out of range for rank 2"));
  CHECK_THROWS_WITH(reduce_sum(x, {0, 0}), ContainsSubstring("given twice"));
}

TEST_CASE("axes by position: the other reductions") {
  const Tensor x = numbers();
  CHECK(floats(reduce_prod(x, {0})) == Floats{0, 4, 10});
  CHECK(floats(reduce_min(x, {1})) == Floats{0, 3});
  CHECK(reduce_any(greater(x, 4), {0}).to_vector<bool>() == std::vector<bool>{false, false, true});
  CHECK(reduce_all(greater(x, 0), {1}).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(reduce_logsumexp(x, {1}).shape() == Shape{2});
  CHECK(floats(reduce_variance(x, {0})) == Floats{2.25, 2.25, 2.25});
  CHECK(floats(reduce_std(x, {0}, {.keepdims = true})) == Floats{1.5, 1.5, 1.5});
  CHECK(floats(reduce_euclidean_norm(x, {0})) == Floats{3, std::sqrt(17.f), std::sqrt(29.f)});
  CHECK(count_nonzero(x, {0}).to_vector<i64>() == std::vector<i64>{1, 2, 2});
}

TEST_CASE("axes by position: one axis") {
  const Tensor x = numbers();
  CHECK(floats(nn::softmax(x - x, 0)) == Floats{.5, .5, .5, .5, .5, .5});
  CHECK(nn::log_softmax(x, -1).shape() == x.shape());
  CHECK(floats(cumsum(x, 1, {.exclusive = true})) == Floats{0, 0, 1, 0, 3, 7});
  CHECK(floats(cumprod(x, 0)) == Floats{0, 1, 2, 0, 4, 10});
  CHECK(floats(sort(x, 0, {.direction = Direction::descending})) == Floats{3, 4, 5, 0, 1, 2});
  CHECK(argsort(x, 0).shape() == x.shape());
  CHECK(stack({x, x}, -1).shape() == Shape{2, 3, 2});
}

TEST_CASE("layout by position") {
  const Tensor y = cube();
  CHECK(transpose(y, {1, 0, 2}).shape() == Shape{3, 2, 4});
  CHECK(transpose(y, std::vector<int>{2, 0, 1}).shape() == Shape{4, 2, 3});
  CHECK(transpose(y).shape() == Shape{4, 3, 2});
  CHECK_THROWS_AS(transpose(y, {0, 1}), errors::InvalidArgumentError);
  CHECK(split(y, 3, 1).size() == 3);
  CHECK(split(y, 3, 1)[0].shape() == Shape{2, 1, 4});
  CHECK(split(y, {1, 2}, 1)[1].shape() == Shape{2, 2, 4});
  CHECK(split(y, {1, 3}, -1)[1].shape() == Shape{2, 3, 3});
  CHECK(unstack(y, 4, -1)[3].shape() == Shape{2, 3});
  const Tensor thin = reshape(y, {1, 24, 1});
  CHECK(squeeze(thin, {0, 2}).shape() == Shape{24});
  CHECK(squeeze(thin, {0}).shape() == Shape{24, 1});
  CHECK(squeeze(thin, -1).shape() == Shape{1, 24});
  CHECK(squeeze(thin).shape() == Shape{24});
}

TEST_CASE("gather by position; its axis defaults to batch_dims") {
  const Tensor x = numbers(), i = constant({2, 0});
  CHECK(floats(gather(x, i, 1)) == Floats{2, 0, 5, 3});
  CHECK(floats(gather(x, constant({1}))) == Floats{3, 4, 5});
  CHECK(floats(gather(x, constant({{2}, {0}}), {.batch_dims = 1})) == Floats{2, 3});
  CHECK(floats(gather(x, constant({{2}, {0}}), 1, {.batch_dims = 1})) == Floats{2, 3});
}

TEST_CASE("dtypes by position") {
  CHECK(zeros({2, 3}, float64).dtype() == float64);
  CHECK(zeros({2}, {}).dtype() == float32);
  CHECK(ones({2}, int32).dtype() == int32);
  CHECK(zeros_like(numbers(), int64).dtype() == int64);
  CHECK(ones_like(numbers(), bool_).dtype() == bool_);
  CHECK(constant({1, 2}, float32).dtype() == float32);
  CHECK(constant(7, float64).item<double>() == 7);
  const std::vector<double> v{1, 2};
  CHECK(constant(v, float32).dtype() == float32);
  CHECK(eye(2, 3).shape() == Shape{2, 3});
}

TEST_CASE("random numbers by position") {
  const Tensor u = random::uniform({1000}, 2, 3);
  CHECK(reduce_min(u).item<float>() >= 2);
  CHECK(reduce_max(u).item<float>() < 3);
  const Tensor n = random::normal({1000}, 100.f, 1.f, {.seed = 1});
  CHECK(std::abs(reduce_mean(n).item<float>() - 100) < 1);
  CHECK(random::uniform({4}, 0, 10, {.dtype = int32}).dtype() == int32);
}

TEST_CASE("optimizers and layers by position") {
  CHECK(optimizers::Adam(1e-3).learning_rate().item<float>() == 1e-3f);
  CHECK(optimizers::Adam(optimizers::AdamOptions{}).learning_rate().item<float>() == 1e-3f);
  CHECK(optimizers::SGD(0.1, 0.9).learning_rate().item<float>() == 0.1f);
  const Variable w(constant({1.f}));
  const optimizers::SGD sgd(0.5, 0.5);
  sgd.apply_gradients({{constant({1.f}), w}});
  sgd.apply_gradients({{constant({1.f}), w}});
  CHECK(floats(w.read_value()) == Floats{-0.25});  // 1 - 0.5 - (0.25 + 0.5)
  const Tensor x = numbers() - 3;
  CHECK(reduce_min(layers::Dense(4, nn::relu)(x)).item<float>() >= 0);
  CHECK(layers::Dense(4, tanh)(x).shape() == Shape{2, 4});
  CHECK(floats(reduce_sum(layers::Dense(4, nn::softmax)(x), 1))[0] == Approx(1));
  CHECK(floats(layers::Dense(2, {.activation = [](const Tensor& y) { return y * 0.f; }})(x)) == Floats{0, 0, 0, 0});
  CHECK(layers::Dense(4, Activation::relu, {.use_bias = false})(x).shape() == Shape{2, 4});
}
