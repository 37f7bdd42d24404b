// Gradients of convolutions and pooling by differences, to second order. Not here: values (conv_test.cpp,
// pool_test.cpp).
#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tests/ops/conv/conv_loops.hpp"
#include "tests/support/derivatives.hpp"

namespace conv_gradient_test {
using namespace tandem;
using conv_loops::wave;
using List = std::vector<Tensor>;

// The gradient of sum(f(x)^2) to every x, as one vector.
template <class F>
Tensor gradients_of(const F& f, const List& x) {
  GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  List flat;
  for (const Tensor& g : tape.gradient(square(f(x)), x)) flat.push_back(reshape(g, {-1}));
  return concat(flat, 0);
}
template <class F>
void check(const F& f, const List& x) {
  CHECK(test::compute_gradient_error(f, x, {.delta = 1e-5}) < 1e-7);
  CHECK(test::compute_gradient_error([&](const List& p) { return gradients_of(f, p); }, x, {.delta = 1e-5}) < 1e-6);
}

TEST_CASE("conv: gradients to both operands, to second order") {
  const nn::ConvOptions all[] = {{},
                                 {.strides = 2, .padding = Padding::same},
                                 {.padding = Padding::same, .dilations = 2},
                                 {.strides = {1, 2}, .padding = {{1, 0}, {2, 1}}}};
  for (const nn::ConvOptions& o : all)
    for (i64 in : {2, 1})
      check([&](const List& p) { return nn::conv2d(p[0], p[1], o); },
            {wave({1, 4, 3, 2}, .1, float64), wave({2, 2, in, 2}, .7, float64)});
  check([](const List& p) { return nn::conv1d(p[0], p[1], {.stride = 2, .padding = Padding::same}); },
        {wave({2, 5, 2}, .1, float64), wave({3, 2, 3}, .7, float64)});
  check([](const List& p) { return nn::conv3d(p[0], p[1], {.data_format = DataFormat::ncdhw}); },
        {wave({1, 2, 2, 3, 2}, .1, float64), wave({2, 2, 1, 2, 1}, .7, float64)});
}

TEST_CASE("depthwise and separable convolutions: gradients to second order") {
  check([](const List& p) { return nn::depthwise_conv2d(p[0], p[1], {.strides = 2, .padding = Padding::same}); },
        {wave({1, 3, 4, 2}, .1, float64), wave({2, 2, 2, 2}, .7, float64)});
  check([](const List& p) { return nn::separable_conv2d(p[0], p[1], p[2]); },
        {wave({1, 3, 3, 2}, .1, float64), wave({2, 2, 2, 1}, .7, float64), wave({1, 1, 2, 3}, .2, float64)});
}

TEST_CASE("transposed convolutions: gradients to second order") {
  check(
      [](const List& p) {
        return nn::conv2d_transpose(p[0], p[1], {1, 4, 3, 2}, {.strides = 2});
      },
      {wave({1, 2, 2, 3}, .1, float64), wave({3, 2, 2, 3}, .7, float64)});
  check(
      [](const List& p) {
        return nn::conv1d_transpose(p[0], p[1], {2, 4, 1}, {.padding = Padding::valid});
      },
      {wave({2, 2, 2}, .1, float64), wave({3, 1, 2}, .7, float64)});
}

TEST_CASE("pooling: gradients to second order") {
  for (const nn::PoolOptions& o :
       {nn::PoolOptions{}, nn::PoolOptions{.ksize = {3, 2}, .strides = 1, .padding = Padding::same}}) {
    check([&](const List& p) { return nn::max_pool(p[0], o); }, {wave({1, 4, 5, 2}, .1, float64)});
    check([&](const List& p) { return nn::avg_pool(p[0], o); }, {wave({1, 4, 5, 2}, .1, float64)});
  }
  check([](const List& p) { return nn::max_pool_with_argmax(p[0]).output; }, {wave({1, 4, 4, 1}, .1, float64)});
  check([](const List& p) { return nn::pool(p[0], {2}, nn::PoolingType::avg, {.dilations = 2}); },
        {wave({2, 5, 2}, .1, float64)});
  check([](const List& p) { return nn::lrn(p[0], {.depth_radius = 1, .bias = 1.5, .alpha = .3, .beta = .75}); },
        {wave({2, 1, 4}, .1, float64)});
}

TEST_CASE("convolutions and pooling: derivatives of traced calls equal the eager ones") {
  const Tensor w = wave({3, 3, 2, 3}, .4);
  testing::check_same_derivatives(
      [&](const Tensor& x) {
        const Tensor y = nn::max_pool(nn::conv2d(x, w, {.padding = Padding::same}));
        return reduce_sum(square(nn::avg_pool(y)));
      },
      wave({2, 8, 9, 2}, .3));
}

TEST_CASE("max_pool: the gradient goes to the first maximum, and to the first NaN") {
  const auto gradient = [](const std::vector<float>& v, const nn::PoolOptions& o) {
    const Tensor x = constant(v, {.shape = {1, 2, static_cast<i64>(v.size()) / 2, 1}});
    GradientTape tape;
    tape.watch(x);
    return tape.gradient(nn::max_pool(x, o), x).to_vector<float>();
  };
  const float nan = std::nanf("");
  using Floats = std::vector<float>;
  CHECK(gradient({1, 3, 3, 3}, {}) == Floats{0, 1, 0, 0});
  CHECK(gradient({0, 0, 0, 0}, {}) == Floats{1, 0, 0, 0});
  CHECK(gradient({9, 1, nan, nan}, {}) == Floats{0, 0, 1, 0});
  const float low = -std::numeric_limits<float>::infinity();
  CHECK(gradient({low, low, low, low}, {}) == Floats{1, 0, 0, 0});
  // Overlapping windows add; what no window reads gets nothing.
  CHECK(gradient({1, 5, 2, 0, 0, 0}, {.ksize = {2, 2}, .strides = 1}) == Floats{0, 2, 0, 0, 0, 0});
  CHECK(gradient({1, 2, 7, 0, 0, 7}, {}) == Floats{0, 1, 0, 0, 0, 0});
}

}  // namespace conv_gradient_test
