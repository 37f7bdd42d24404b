// Convolution and pooling against PyTorch.
#include "tandem/ops/all.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/catch.hpp"

namespace golden_test {

using namespace ::golden;

namespace {

Padding padding_of(i64 same) { return same ? Padding::same : Padding::valid; }
// p: stride, dilation, whether SAME.
nn::ConvOptions conv_options(const GoldenCase& c) {
  return {.strides = c.p[0], .padding = padding_of(c.p[2]), .dilations = c.p[1]};
}
// p: stride, whether SAME, the window's sizes.
nn::PoolOptions pool_options(const GoldenCase& c) {
  return {.ksize = std::vector<i64>(c.p.begin() + 2, c.p.end()), .strides = c.p[0], .padding = padding_of(c.p[1])};
}
#define CONV(op) GOLDEN_SUM(#op, nn::op(x[0], x[1], conv_options(c)))
#define POOL(op) GOLDEN_SUM(#op, nn::op(x[0], pool_options(c)))

GoldenList conv1d(const GoldenCase& c, const GoldenList& x) {
  return {nn::conv1d(x[0], x[1], {.stride = c.p[0], .padding = padding_of(c.p[2]), .dilations = c.p[1]})};
}
GoldenList conv2d_transpose(const GoldenCase& c, const GoldenList& x) {
  const Shape s = x[0].shape(), w = x[1].shape();
  const i64 stride = c.p[0];
  const Dims output{s[0], (s[1] - 1) * stride + w[0], (s[2] - 1) * stride + w[1], w[2]};
  return {nn::conv2d_transpose(x[0], x[1], output, {.strides = stride, .padding = Padding::valid})};
}
GoldenList lrn(const GoldenCase& c, const GoldenList& x) {
  return {nn::lrn(x[0], {.depth_radius = c.p[0], .bias = c.q[0], .alpha = c.q[1], .beta = c.q[2]})};
}

}  // namespace

TEST_CASE("golden values: convolution and pooling") {
  check("conv", {CONV(conv2d),
                 CONV(conv3d),
                 CONV(depthwise_conv2d),
                 POOL(max_pool1d),
                 POOL(max_pool2d),
                 POOL(max_pool3d),
                 POOL(avg_pool1d),
                 POOL(avg_pool2d),
                 POOL(avg_pool3d),
                 {"conv1d", GoldenOp{&conv1d, sums}},
                 {"lrn", GoldenOp{&lrn, sums}},
                 {"conv2d_transpose", GoldenOp{&conv2d_transpose, sums}},
                 GOLDEN_SUM("separable_conv2d", nn::separable_conv2d(x[0], x[1], x[2], conv_options(c)))});
}

#undef CONV
#undef POOL

}  // namespace golden_test
