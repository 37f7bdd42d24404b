// The promises about layers, with their numbers.
#include "tandem/core/allocator.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace features_layers {

using namespace tandem;
using testing::distance, testing::wave;

// Two layers, which may be one, on two inputs: the sum of the results.
template <class L>
std::vector<Tensor> gradients_of_both(const L& f, const L& g, const Tensor& x, const Tensor& y,
                                      const std::vector<Variable>& weights) {
  GradientTape tape;
  const Tensor loss = reduce_sum(square(f(x))) + reduce_sum(square(g(y)) * 2.f);
  std::vector<Tensor> r;
  for (const Gradient& each : tape.gradient(loss, weights)) r.push_back(each.tensor());
  return r;
}

TEST_CASE("one layer on two inputs has one set of weights, whose gradient is the sum") {
  const Tensor x = wave({2, 3}), y = wave({4, 3}, 1);
  const layers::Dense one(5), f(5), g(5);
  one(x), one(y), f(x), g(y);
  REQUIRE(one.variables().size() == 2);
  CHECK(f.variables().size() + g.variables().size() == 4);
  f.set_weights(one.get_weights()), g.set_weights(one.get_weights());
  const auto shared = gradients_of_both(one, one, x, y, one.variables());
  const auto of_f = gradients_of_both(f, g, x, y, f.variables()), of_g = gradients_of_both(f, g, x, y, g.variables());
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(distance(shared[i], of_f[i] + of_g[i]) < 1e-6);
    CHECK(distance(of_f[i], of_g[i]) > 1e-2);
  }
  const layers::Dense copy = one;  // a handle
  CHECK(copy.variables()[0].is_same(one.variables()[0]));
  CHECK_THROWS_AS(one(wave({2, 4})), errors::InvalidArgumentError);
  struct Net : Model<Net> {
    layers::Dense dense{5};
    Tensor operator()(const Tensor& t) const { return dense(t); }
  };
  const Net net;
  net(x);
  CHECK_FALSE(net.clone().variables()[0].is_same(net.variables()[0]));
}
TEST_CASE("Dense works on the last axis; a Conv2D of size 1") {
  CHECK(layers::Dense(5)(wave({2, 3, 4})).shape() == Shape{2, 3, 5});
  const Tensor y = layers::Dense(2, {.use_bias = false})(constant({{{1.2f}, {3.4f}}}));
  REQUIRE(y.shape() == Shape{1, 2, 2});
  for (i64 unit = 0; unit < 2; ++unit)
    CHECK(y(0, 1, unit).item<float>() / y(0, 0, unit).item<float>() == Approx(2.8333).margin(1e-4));
  const Tensor image = reshape(cast(constant({1, 0, 0, 0, 1, 0, 0, 0, 1}), float32), {1, 3, 3, 1});
  const Tensor z = layers::Conv2D(4, 1, {.activation = nn::relu})(image);
  CHECK(z.shape() == Shape{1, 3, 3, 4});
  CHECK(reduce_min(z).item<float>() >= 0);
}

TEST_CASE("Merge needs less memory than the tiled form") {
  const i64 m = 200, n = 200, d1 = 16, d2 = 8;
  const Tensor a = wave({m, 1, d1}), b = wave({1, n, d2}, 1);
  const layers::Merge merge(4, {.activation = nn::relu});
  merge({a, b});
  const std::vector<Variable> w = merge.variables();
  REQUIRE(w.size() == 3);  // one bias
  const auto tiled = [&] {
    const Tensor all = concat({tile(a, {1, n, 1}), tile(b, {m, 1, 1})}, -1);
    return nn::relu(nn::dense(all, concat({w[0], w[1]}, 0), w[2]));
  };
  const auto peak_of = [](const auto& f) {
    const i64 before = memory::info().live;
    memory::reset_peak();
    Tensor y = f();
    return std::pair(memory::info().peak - before, y);
  };
  const auto [merge_peak, y] = peak_of([&] { return merge({a, b}); });
  const auto [tile_peak, z] = peak_of(tiled);
  CAPTURE(merge_peak, tile_peak);
  REQUIRE(y.shape() == Shape{m, n, 4});
  CHECK(distance(y, z) < 1e-5);
  CHECK(merge_peak < tile_peak / 2);
  CHECK(merge_peak < m * n * (d1 + d2) * 4);  // less than the joined inputs alone
}
}  // namespace features_layers
