// The pass that fuses what follows a convolution into it. Not here: matrix products (passes_test.cpp), the kernels
// (tests/ops/conv/fused_conv_test.cpp).
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/conv.hpp"
#include "tandem/layers/normalization.hpp"
#include "tandem/layers/sequential.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/wave.hpp"

namespace conv_epilogues_test {
using namespace tandem;
using testing::count, testing::evaluate, testing::List, testing::traced, testing::wave;

const Spec image{{2, 6, 5, 3}, DType::float32, {}}, filter{{3, 3, 3, 4}, DType::float32, {}},
    vector{{4}, DType::float32, {}};
const nn::ConvOptions same{.padding = Padding::same};

void check_near(const List& a, const List& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].shape() == b[i].shape());
    CHECK(reduce_max(abs(a[i] - b[i])).item<float>() <= 2e-6f);
  }
}

TEST_CASE("conv epilogues: bias, batch normalization and activation join the convolution") {
  const Ref<Graph> g = traced({image, filter, vector, vector, vector}, [](const List& a) {
    const auto conv = [&](float by) { return nn::conv2d(a[0] * by, a[1], same); };
    const auto norm = [&](const Tensor& y) { return nn::batch_normalization(y, a[2], square(a[3]), a[4], a[3], 1e-3); };
    return List{nn::relu(conv(1) + a[2]), tanh(a[2] + conv(2)), nn::relu(norm(conv(3))),
                norm(conv(4) + a[4]),     sigmoid(conv(5)),     conv(6) + reshape(a[2], {1, 1, 4})};
  });
  const Ref<Graph> r = eliminate_dead_code(*fuse_epilogues(*g));
  CHECK(count(*r, fused_conv_op) == 6);
  CHECK(count(*r, conv2d_op) == 0);
  CHECK(count(*r, relu_op) == 0);
  const List arguments{wave({2, 6, 5, 3}), wave({3, 3, 3, 4}), wave({4}), wave({4}) + 2, wave({4})};
  check_near(evaluate(*g, arguments), evaluate(*r, arguments));
  CHECK(count(*optimize(*g, {.fuse_epilogues = false}), fused_conv_op) == 0);
}

TEST_CASE("conv epilogues: what has other users, other shapes or other dtypes stays") {
  const Ref<Graph> g = traced({image, filter, vector, {{5, 4}, float32, {}}}, [](const List& a) {
    const auto conv = [&](float by) { return nn::conv2d(a[0] * by, a[1], same); };
    const Tensor shared = conv(1);
    return List{shared + a[2],      shared,        conv(2) + a[3], a[2] - conv(3), conv(4) * a[2], conv(5) + conv(6),
                nn::relu(a[0] + 1), conv(7) / a[2]};
  });
  const Ref<Graph> r = fuse_epilogues(*g);
  CHECK(count(*r, fused_conv_op) == 0);
  // A second scale and a third offset do not fit in.
  const Ref<Graph> longer = traced({image, filter, vector}, [](const List& a) {
    const Tensor y = (nn::conv2d(a[0], a[1], same) + a[2]) * a[2] + a[2];
    return List{nn::relu((y + a[2]) * a[2])};
  });
  const Ref<Graph> s = fuse_epilogues(*longer);
  CHECK(count(*s, fused_conv_op) == 1);
  CHECK(count(*s, add_op) == 1);
  CHECK(count(*s, multiply_op) == 1);
  const List arguments{wave({2, 6, 5, 3}), wave({3, 3, 3, 4}), wave({4})};
  check_near(evaluate(*longer, arguments), evaluate(*s, arguments));
}

TEST_CASE("conv epilogues: a variance of zero gives the same special values") {
  const Ref<Graph> g = traced({image, filter, vector, vector}, [](const List& a) {
    return List{nn::batch_normalization(nn::conv2d(a[0], a[1], same), a[2], a[3], a[2], Tensor(), 0)};
  });
  const Ref<Graph> r = fuse_epilogues(*g);
  CHECK(count(*r, fused_conv_op) == 1);
  const List arguments{ones({2, 6, 5, 3}), ones({3, 3, 3, 4}), constant({1.f, 27.f, 12.f, 18.f}),
                       constant({0.f, 0.f, 0.f, 1.f})};
  const auto a = evaluate(*g, arguments)[0].to_vector<float>(), b = evaluate(*r, arguments)[0].to_vector<float>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(std::isnan(a[i]) == std::isnan(b[i]));
    if (std::isinf(a[i])) CHECK(a[i] == b[i]);
  }
}

TEST_CASE("conv epilogues: a traced network in both modes equals the eager one") {
  layers::Sequential net{layers::Conv2D(4, 3, {.padding = Padding::same, .use_bias = false}),
                         layers::BatchNormalization(), layers::Conv2D(5, 3, {.activation = Activation::relu}),
                         layers::BatchNormalization(), layers::DepthwiseConv2D(3, {.use_bias = true})};
  const Tensor x = wave({2, 6, 5, 3});
  {
    const training_scope training(true);
    (void)net(x);  // moves the averages
  }
  const auto traced_net = function([&](const Tensor& in) { return net(in); });
  check_near({net(x)}, {traced_net(x)});
  const std::vector<Variable> weights = net.trainable_variables();
  const auto gradients = [&](const Tensor& in) {
    GradientTape tape;
    const Tensor loss = reduce_mean(square(net(in)));
    const auto g = tape.gradient(loss, weights);
    return List(g.begin(), g.end());
  };
  const auto traced_gradients = function(gradients);
  for (const bool training : {false, true}) {
    const training_scope scope(training);
    check_near(gradients(x), traced_gradients(x));
  }
}

}  // namespace conv_epilogues_test
