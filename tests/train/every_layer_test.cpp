// Every layer in a model: parameters, its row in summary(), clone(), weights saved and restored before and after the
// first call, what becomes of a mask in Sequential.
#include <filesystem>
#include <random>

#include "tandem/tandem.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using namespace tandem::layers;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats, testing::wave;

namespace {

struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tandem_layer_" + std::to_string(std::random_device()()))).string();
  ~File() { std::filesystem::remove(path); }
};

template <class L>
struct One : Model<One<L>> {
  L layer;
  explicit One(L l) : layer(std::move(l)) {}
  template <class X>
  Floats operator()(const X& x) const {
    const Tensor y = layer(x);
    return floats(cast(y, float32));
  }
};

// Checks a layer that make() makes, with so many trainable and other parameters, called `name` in lists.
template <class Make, class X>
void check(const char* name, i64 trainable, i64 others, const X& x, const Make& make) {
  INFO(name);
  using Net = One<decltype(make())>;
  const Net net(make()), fresh(make()), built(make());
  const Floats y = net(x);
  CHECK(net(x) == y);
  CHECK(net.count_params() == trainable);
  i64 all = 0;
  for (const Variable& v : net.variables()) all += v.size();
  CHECK(all == trainable + others);
  CHECK_THAT(net.summary(), ContainsSubstring("\n" + std::string(name) + " (" + name + ")"));
  const Net clone = net.clone();
  CHECK(clone(x) == y);
  for (std::size_t i = 0; i < net.variables().size(); ++i)
    CHECK_FALSE(clone.variables()[i].is_same(net.variables()[i]));
  if (all == 0) return;
  const File file;
  train::save_weights(net, file.path);
  train::load_weights(fresh, file.path);
  CHECK(fresh(x) == y);
  built(x);
  train::load_weights(built, file.path);
  CHECK(built(x) == y);
  for (const Variable& v : clone.variables()) v.assign(zeros_like(v) - 1);
  CHECK(net(x) == y);
}
// The same for a layer without Variables.
template <class L, class X>
void check_plain(const char* name, const X& x, const L& layer) {
  check(name, 0, 0, x, [&] { return layer; });
}

const Tensor rows = wave({2, 6}), sequence = wave({2, 4, 6}), image = wave({2, 5, 5, 4}),
             volume = wave({1, 4, 4, 4, 2});

}  // namespace

TEST_CASE("layers with dense weights: counted, listed, cloned, saved") {
  check("dense", 6 * 3 + 3, 0, rows, [] { return Dense(3); });
  check("einsum_dense", 6 * 2 * 3 + 3, 0, sequence, [] {
    return EinsumDense("abc,cde->abde", {none, 2, 3}, {.bias_axes = "e"});
  });
  check("embedding", 7 * 3, 0, constant({{1, 6}}), [] { return Embedding(7, 3); });
  check("reversible_embedding", 7 * 3 * 2, 0, constant({{1, 6}}),
        [] { return ReversibleEmbedding(7, 3, {.tie_weights = false}); });
  check("position_embedding", 5 * 6, 0, sequence, [] { return PositionEmbedding(5); });
  check("p_re_lu", 6, 0, rows, [] { return PReLU({.alpha_initializer = initializers::RandomNormal()}); });
  check("multi_head_attention", 6 * 8 * 3 + 8 * 3 + 8 * 6 + 6, 0, sequence, [] { return MultiHeadAttention(2, 4); });
  check("group_query_attention", 6 * 8 + 8 + 2 * (6 * 4 + 4) + 8 * 6 + 6, 0, sequence,
        [] { return GroupQueryAttention(4, 2, 1); });
  check("transformer_block", 4 * (6 * 6 + 6) + 6 * 8 + 8 + 8 * 6 + 6 + 4 * 6, 0, sequence,
        [] { return TransformerBlock(8, 2); });
  check("time_distributed", 6 * 3 + 3, 0, sequence, [] { return TimeDistributed{Dense(3)}; });
  check("sequential", 6 * 3 + 3 + 3 * 2, 0, rows, [] {
    return Sequential{Dense(3), Dropout(.5), Dense(2, {.use_bias = false})};
  });
}
TEST_CASE("convolution layers: counted, listed, cloned, saved") {
  check("conv1d", 3 * 6 * 5 + 5, 0, sequence, [] { return Conv1D(5, 3); });
  check("conv2d", 9 * 4 * 5 + 5, 0, image, [] { return Conv2D(5, 3); });
  check("conv3d", 8 * 2 * 3 + 3, 0, volume, [] { return Conv3D(3, 2); });
  check("conv1d_transpose", 3 * 6 * 5 + 5, 0, sequence, [] { return Conv1DTranspose(5, 3); });
  check("conv2d_transpose", 9 * 4 * 5 + 5, 0, image, [] { return Conv2DTranspose(5, 3); });
  check("conv3d_transpose", 8 * 2 * 3 + 3, 0, volume, [] { return Conv3DTranspose(3, 2); });
  check("depthwise_conv1d", 3 * 6 + 6, 0, sequence, [] { return DepthwiseConv1D(3); });
  check("depthwise_conv2d", 9 * 4 * 2 + 8, 0, image, [] { return DepthwiseConv2D(3, {.depth_multiplier = 2}); });
  check("separable_conv1d", 3 * 6 + 6 * 5 + 5, 0, sequence, [] { return SeparableConv1D(5, 3); });
  check("separable_conv2d", 9 * 4 + 4 * 5 + 5, 0, image, [] { return SeparableConv2D(5, 3); });
}
TEST_CASE("normalization layers: counted, listed, cloned, saved") {
  const Initializer any = initializers::RandomUniform(.5, 1.5);
  check("batch_normalization", 12, 12, rows, [&] {
    return BatchNormalization({.beta_initializer = any,
                               .gamma_initializer = any,
                               .moving_mean_initializer = any,
                               .moving_variance_initializer = any});
  });
  check("layer_normalization", 12, 0, rows,
        [&] { return LayerNormalization({.beta_initializer = any, .gamma_initializer = any}); });
  check("rms_normalization", 6, 0, rows, [&] { return RMSNormalization({.scale_initializer = any}); });
  check("group_normalization", 12, 0, rows,
        [&] { return GroupNormalization({.groups = 3, .beta_initializer = any, .gamma_initializer = any}); });
  check_plain("unit_normalization", rows, UnitNormalization());
}
TEST_CASE("recurrent layers: counted, listed, cloned, saved") {
  check("lstm", 4 * (6 * 3 + 3 * 3 + 3), 0, sequence, [] { return LSTM(3); });
  check("gru", 3 * (6 * 3 + 3 * 3 + 2 * 3), 0, sequence, [] { return GRU(3); });
  check("simple_rnn", 6 * 3 + 3 * 3 + 3, 0, sequence, [] { return SimpleRNN(3); });
  check("rnn", 4 * (6 * 3 + 3 * 3 + 3), 0, sequence, [] { return RNN{LSTMCell(3)}; });
  check("rnn", 3 * (6 * 3 + 3 * 3 + 2 * 3) + 3 * 2 + 2 * 2 + 2, 0, sequence,
        [] { return RNN{StackedRNNCells(GRUCell(3), SimpleRNNCell(2))}; });
  check("bidirectional", 2 * 4 * (6 * 3 + 3 * 3 + 3), 0, sequence, [] { return Bidirectional{LSTM(3)}; });
}
TEST_CASE("layers without weights are listed and cloned") {
  check_plain("flatten", sequence, Flatten());
  check_plain("reshape", rows, Reshape({3, 2}));
  check_plain("permute", sequence, Permute({2, 1}));
  check_plain("repeat_vector", rows, RepeatVector(2));
  check_plain("lambda", rows, Lambda([](const Tensor& x) { return x * 2; }));
  check_plain("re_lu", rows, ReLU());
  check_plain("leaky_re_lu", rows, LeakyReLU());
  check_plain("elu", rows, ELU());
  check_plain("softmax", rows, Softmax());
  check_plain("dropout", rows, Dropout(.5));
  check_plain("spatial_dropout1d", sequence, SpatialDropout1D(.5));
  check_plain("spatial_dropout2d", image, SpatialDropout2D(.5));
  check_plain("spatial_dropout3d", volume, SpatialDropout3D(.5));
  check_plain("gaussian_noise", rows, GaussianNoise(.5));
  check_plain("gaussian_dropout", rows, GaussianDropout(.5));
  check_plain("alpha_dropout", rows, AlphaDropout(.5));
  check_plain("activity_regularization", rows, ActivityRegularization({.l1 = 1}));
  check_plain("sine_position_encoding", sequence, SinePositionEncoding());
  check_plain("rescaling", rows, Rescaling(.5));
  check_plain("category_encoding", constant({{1, 2}}), CategoryEncoding(3));
  check_plain("masking", sequence, Masking());
  check_plain("discretization", rows, Discretization({0., 1.}));
  check_plain("integer_lookup", constant({{4, 2}}), IntegerLookup({3, 4}));
}
TEST_CASE("layers for images without weights are listed and cloned") {
  check_plain("max_pooling1d", sequence, MaxPooling1D());
  check_plain("max_pooling2d", image, MaxPooling2D());
  check_plain("max_pooling3d", volume, MaxPooling3D());
  check_plain("average_pooling1d", sequence, AveragePooling1D());
  check_plain("average_pooling2d", image, AveragePooling2D());
  check_plain("average_pooling3d", volume, AveragePooling3D());
  check_plain("global_max_pooling1d", sequence, GlobalMaxPooling1D());
  check_plain("global_max_pooling2d", image, GlobalMaxPooling2D());
  check_plain("global_max_pooling3d", volume, GlobalMaxPooling3D());
  check_plain("global_average_pooling1d", sequence, GlobalAveragePooling1D());
  check_plain("global_average_pooling2d", image, GlobalAveragePooling2D());
  check_plain("global_average_pooling3d", volume, GlobalAveragePooling3D());
  check_plain("adaptive_average_pooling1d", sequence, AdaptiveAveragePooling1D(2));
  check_plain("adaptive_average_pooling2d", image, AdaptiveAveragePooling2D(2));
  check_plain("adaptive_max_pooling1d", sequence, AdaptiveMaxPooling1D(2));
  check_plain("adaptive_max_pooling2d", image, AdaptiveMaxPooling2D(2));
  check_plain("zero_padding1d", sequence, ZeroPadding1D());
  check_plain("zero_padding2d", image, ZeroPadding2D());
  check_plain("zero_padding3d", volume, ZeroPadding3D());
  check_plain("cropping1d", sequence, Cropping1D());
  check_plain("cropping2d", image, Cropping2D(1));
  check_plain("cropping3d", volume, Cropping3D());
  check_plain("up_sampling1d", sequence, UpSampling1D());
  check_plain("up_sampling2d", image, UpSampling2D());
  check_plain("up_sampling3d", volume, UpSampling3D());
  check_plain("resizing", image, Resizing(3, 7));
  check_plain("random_flip", image, RandomFlip());
}
TEST_CASE("layers of several inputs: counted, listed, cloned, saved") {
  const std::vector<Tensor> both{rows, wave({2, 6}, 1)};
  check_plain("add", both, Add());
  check_plain("subtract", both, Subtract());
  check_plain("multiply", both, Multiply());
  check_plain("average", both, Average());
  check_plain("maximum", both, Maximum());
  check_plain("minimum", both, Minimum());
  check_plain("concatenate", both, Concatenate());
  check_plain("dot", both, Dot(1));
  check("merge", 6 * 3 * 2 + 3, 0, both, [] { return Merge(3); });
}
TEST_CASE("Normalization: what it has learned is counted, cloned and saved") {
  check("normalization", 0, 12, rows, [] {
    const Normalization layer;
    layer.adapt(random::normal({9, 6}));
    return layer;
  });
}
