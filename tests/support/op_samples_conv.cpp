// Samples of convolutions and pooling.
#include "tandem/ops/all.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

Shape image(int spatial) {
  return spatial == 1 ? Shape{2, 5, 2} : spatial == 2 ? Shape{2, 4, 5, 2} : Shape{1, 3, 4, 3, 2};
}
Shape filter(int spatial, i64 in, i64 out) {
  Shape s;
  for (int i = 0; i < spatial; ++i) s.push_back(i + 2 > 3 ? 3 : i + 2);
  s.push_back(in), s.push_back(out);
  return s;
}
// The convolution and its gradients, as calls of the three ops.
template <int spatial>
void convolved(Numbers& n) {
  const nn::ConvOptions same{.strides = 2, .padding = Padding::same};
  for (const nn::ConvOptions& o : {nn::ConvOptions{}, same, nn::ConvOptions{.padding = Padding::same, .dilations = 2}})
    for (i64 in : {2, 1}) {  // in one group and in two
      const Tensor x = n.reals(image(spatial)), w = n.reals(filter(spatial, in, 4));
      GradientTape tape;
      tape.watch(x);
      tape.watch(w);
      const Tensor y = nn::convolution(x, w, o);
      (void)tape.gradient(square(y), std::vector<Tensor>{x, w});
    }
}
// Convolutions with all kinds of epilogues.
template <int inputs>
void with_epilogue(Numbers& n) {
  using A = FusedActivation;
  for (const A activation : {A::none, A::relu, A::tanh, A::sigmoid})
    for (i64 in : {2, 1}) {
      rules::FusedConvAttrs a;
      a.strides = a.dilations = Shape{1, 1}, a.padding = PaddingKind::same, a.activation = activation;
      const Tensor t[] = {n.reals(image(2)), n.reals(filter(2, in, 4)), n.reals({4}), n.reals({4}), n.reals({4})};
      const Tensor* const all[] = {&t[0], &t[1], &t[2], &t[3], &t[4]};
      (void)apply(fused_conv_op, {all, inputs}, a);
    }
}
void transposed(Numbers& n) {
  nn::conv2d_transpose(n.reals({2, 2, 3, 3}), n.reals({3, 2, 2, 3}), {2, 4, 5, 2}, {.strides = 2});
}
template <Tensor (*f)(const Tensor&, nn::PoolOptions)>
void pooled(Numbers& n) {
  const nn::PoolOptions same{.ksize = 3, .strides = 2, .padding = Padding::same};
  for (int spatial : {1, 2, 3})
    for (const nn::PoolOptions& o : {nn::PoolOptions{}, same})
      back([&](const Tensor& x) { return f(x, o); }, n.reals(image(spatial)));
}

const Sample conv_table[] = {
    {"conv1d", convolved<1>},
    {"conv2d", convolved<2>},
    {"conv3d", convolved<3>},
    {"conv1d_transpose", convolved<1>},
    {"conv2d_transpose", convolved<2>},
    {"conv2d_transpose", transposed},
    {"conv3d_transpose", convolved<3>},
    {"conv1d_filter_grad", convolved<1>},
    {"conv2d_filter_grad", convolved<2>},
    {"conv3d_filter_grad", convolved<3>},
    {"fused_conv", with_epilogue<2>},
    {"fused_conv", with_epilogue<3>},
    {"fused_conv", with_epilogue<4>},
    {"fused_conv", with_epilogue<5>},
    {"max_pool", pooled<nn::max_pool>},
    {"max_pool_grad", pooled<nn::max_pool>},
    {"max_pool_pick", pooled<nn::max_pool>},
    {"max_pool_argmax",
     [](Numbers& n) {
       nn::max_pool_with_argmax(n.reals({2, 4, 5, 2}));
       nn::max_pool_with_argmax(n.reals({2, 4, 5, 2}), {.padding = Padding::same, .include_batch_in_index = true});
     }},
    {"avg_pool", pooled<nn::avg_pool>},
    {"avg_pool_grad", pooled<nn::avg_pool>},
};

}  // namespace

tandem::Span<const Sample> conv_samples() { return conv_table; }

}  // namespace samples::detail
