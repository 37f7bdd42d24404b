// Each layer in a traced function with each axis of its input of unknown size: as eagerly, at the sample's size and at
// size 0, values and gradients; or an error that says which size must be known.
#include <set>

#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

using Pair = std::pair<Tensor, Tensor>;

class OpenAxes {
 public:
  std::set<std::string> refused;  // "Reshape 1": while tracing, axis 1 must be known
  std::set<std::string> raising;  // "MaxPooling2D 1": at size 0, eagerly and traced

  /// f's result and its gradient: eagerly, and traced with each axis open, and with all of them.
  template <class F>
  void check(const std::string& name, const F& f, const Shape& shape, DType dtype = float32) {
    const Tensor x = is_floating(dtype) ? random::stateless_normal(shape, {1, 2}, {.dtype = dtype})
                                        : random::stateless_uniform(shape, {1, 2}, {.maxval = 3, .dtype = dtype});
    f(x);  // makes the weights
    const auto both = [&](const Tensor& t) -> Pair {
      if (!is_floating(dtype)) return {f(t), constant(0.f)};
      GradientTape tape;
      tape.watch(t);
      const Tensor y = f(t);
      return {y, tape.gradient(square(y), t, {.unconnected_gradients = UnconnectedGradients::zero})};
    };
    for (int axis = 0; axis <= x.rank(); ++axis) {
      Shape open = shape;
      for (int a = 0; a < x.rank(); ++a)
        if (a == axis || axis == x.rank()) open.set(a, none);
      const std::string at = name + " " + (axis == x.rank() ? "all" : std::to_string(axis));
      INFO(at);
      const auto traced = function(both, {.input_signature = {TensorSpec(open, dtype)}});
      try {
        traced.get_concrete_function(TensorSpec(open, dtype));
      } catch (const errors::InvalidArgumentError& e) {
        INFO(e.what());
        CHECK((std::string(e.what()).find("known") != std::string::npos ||
               std::string(e.what()).find("None") != std::string::npos));
        refused.insert(at);
        continue;
      }
      same(traced(x), both(x));
      if (axis == x.rank()) continue;
      Shape none_of_it = shape;
      none_of_it.set(axis, 0);
      check_empty(at, both, traced, zeros(none_of_it, {.dtype = dtype}));
    }
  }

 private:
  template <class F, class G>
  void check_empty(const std::string& at, const F& both, const G& traced, const Tensor& x) {
    Pair want;
    try {
      want = both(x);
    } catch (const errors::OpError&) {
      raising.insert(at);
      CHECK_THROWS_AS(traced(x), errors::OpError);
      return;
    }
    same(traced(x), want);
  }
  static void same(const Pair& a, const Pair& b) {
    for (const auto& [got, want] : {std::pair(a.first, b.first), std::pair(a.second, b.second)}) {
      REQUIRE(got.spec() == want.spec());
      CHECK(value_difference(want, got).empty());
    }
  }
};
// Steps of an LSTM or GRU under a second tape: the gradient of its gradient.
template <class F>
auto second_gradient(const F& f) {
  return [&f](const Tensor& x) {
    GradientTape outer;
    outer.watch(x);
    GradientTape inner;
    inner.watch(x);
    const Tensor y = f(x);
    return outer.gradient(square(inner.gradient(square(y), x)), x,
                          {.unconnected_gradients = UnconnectedGradients::zero});
  };
}

}  // namespace

TEST_CASE("open sizes: layers of features, activations, norms, shapes") {
  OpenAxes open;
  open.check("Dense", layers::Dense(3, nn::relu), {2, 4});
  open.check("Dense", layers::Dense(3), {2, 5, 4});
  open.check("Embedding", layers::Embedding(7, 3), {2, 4}, int32);
  open.check("ReversibleEmbedding",
             [l = layers::ReversibleEmbedding(7, 4)](const Tensor& x) { return l(x, {.reverse = true}); }, {2, 3, 4});
  open.check("PReLU", layers::PReLU({.shared_axes = {1}}), {2, 5, 4});
  open.check("Softmax", layers::Softmax(), {2, 5});
  open.check("Activation", [](const Tensor& x) { return layers::LeakyReLU()(x); }, {2, 5});
  open.check("LayerNormalization", layers::LayerNormalization(), {2, 5, 4});
  open.check("RMSNormalization", layers::RMSNormalization(), {2, 5, 4});
  open.check("GroupNormalization", layers::GroupNormalization({.groups = 2}), {2, 5, 4});
  open.check("UnitNormalization", layers::UnitNormalization(), {2, 5, 4});
  const layers::BatchNormalization norm;
  open.check("BatchNormalization", norm, {2, 5, 4});
  open.check("BatchNormalization, training", [&](const Tensor& x) { return norm(x, {.training = true}); }, {3, 5, 4});
  open.check("Flatten", layers::Flatten(), {2, 3, 4});
  open.check("Reshape", layers::Reshape({4, -1}), {2, 3, 4});
  open.check("Permute", layers::Permute({2, 1}), {2, 3, 4});
  open.check("RepeatVector", layers::RepeatVector(3), {2, 4});
  open.check("EinsumDense", layers::EinsumDense("...x,xy->...y", {2}, {.bias_axes = "y"}), {2, 3, 4});
  open.check("TimeDistributed", layers::TimeDistributed(layers::Dense(2)), {2, 3, 4});
  open.check("PositionEmbedding", [p = layers::PositionEmbedding(5)](const Tensor& x) { return Tensor(p(x)); },
             {2, 3, 4});
  open.check("SinePositionEncoding", [p = layers::SinePositionEncoding()](const Tensor& x) { return Tensor(p(x)); },
             {2, 3, 4});
  open.check("Rescaling", layers::Rescaling(0.5, 1), {2, 3});
  CHECK(open.refused == std::set<std::string>{"SinePositionEncoding 2", "SinePositionEncoding all"});
  CHECK(open.raising == std::set<std::string>{"BatchNormalization 2", "BatchNormalization, training 2", "Dense 1",
                                              "Dense 2", "EinsumDense 2", "GroupNormalization 2",
                                              "LayerNormalization 2", "PReLU 2", "PositionEmbedding 2",
                                              "RMSNormalization 2", "Reshape 0", "ReversibleEmbedding 2",
                                              "TimeDistributed 2"});
}
TEST_CASE("open sizes: convolution, pooling and image layers") {
  OpenAxes open;
  open.check("Conv1D", layers::Conv1D(3, 2), {2, 5, 4});
  open.check("Conv2D", layers::Conv2D(3, 2, {.padding = Padding::same}), {2, 5, 6, 4});
  open.check("Conv2D, nchw", layers::Conv2D(3, 2, {.data_format = DataFormat::nchw}), {2, 4, 5, 6});
  open.check("Conv2DTranspose", layers::Conv2DTranspose(3, 2, {.strides = 2}), {2, 3, 4, 2});
  open.check("DepthwiseConv2D", layers::DepthwiseConv2D(2), {2, 4, 5, 3});
  open.check("SeparableConv2D", layers::SeparableConv2D(3, 2), {2, 4, 5, 3});
  open.check("MaxPooling2D", layers::MaxPooling2D(2), {2, 4, 6, 3});
  open.check("AveragePooling1D", layers::AveragePooling1D(2), {2, 6, 3});
  open.check("GlobalAveragePooling2D", layers::GlobalAveragePooling2D(), {2, 4, 6, 3});
  open.check("GlobalMaxPooling1D", layers::GlobalMaxPooling1D(), {2, 4, 3});
  open.check("AdaptiveAveragePooling2D", layers::AdaptiveAveragePooling2D(2), {2, 4, 5, 3});
  open.check("AdaptiveMaxPooling2D", layers::AdaptiveMaxPooling2D(2), {2, 4, 5, 3});
  open.check("ZeroPadding2D", layers::ZeroPadding2D(1), {2, 3, 4, 2});
  open.check("Cropping2D", layers::Cropping2D(1), {2, 4, 5, 2});
  open.check("UpSampling2D", layers::UpSampling2D(2), {2, 3, 4, 2});
  open.check("Resizing", layers::Resizing(3, 5), {2, 4, 6, 2});
  CHECK(open.refused == std::set<std::string>{"AdaptiveAveragePooling2D 1", "AdaptiveAveragePooling2D 2",
                                              "AdaptiveAveragePooling2D all", "AdaptiveMaxPooling2D 1",
                                              "AdaptiveMaxPooling2D 2", "AdaptiveMaxPooling2D all"});
  CHECK(open.raising == std::set<std::string>{"Conv1D 1", "Conv1D 2", "Conv2D 3", "Conv2D, nchw 1", "Conv2D, nchw 2",
                                              "Conv2D, nchw 3", "Conv2DTranspose 3", "Cropping2D 1", "Cropping2D 2",
                                              "DepthwiseConv2D 1", "DepthwiseConv2D 2", "DepthwiseConv2D 3",
                                              "Resizing 1", "Resizing 2", "SeparableConv2D 1", "SeparableConv2D 2",
                                              "SeparableConv2D 3"});
}
TEST_CASE("open sizes: attention layers") {
  OpenAxes open;
  open.check("Attention", [l = layers::Attention()](const Tensor& x) { return Tensor(l(x, x)); }, {2, 3, 4});
  open.check("AdditiveAttention", [l = layers::AdditiveAttention()](const Tensor& x) { return Tensor(l(x, x)); },
             {2, 3, 4});
  open.check("MultiHeadAttention", [l = layers::MultiHeadAttention(2, 2)](const Tensor& x) { return Tensor(l(x, x)); },
             {2, 3, 4});
  open.check(
      "GroupQueryAttention",
      [l = layers::GroupQueryAttention(2, 4, 2, {.sliding_window = 2})](const Tensor& x) { return Tensor(l(x, x)); },
      {2, 3, 4});
  open.check("TransformerBlock", [l = layers::TransformerBlock(8, 2)](const Tensor& x) { return Tensor(l(x)); },
             {2, 3, 4});
  CHECK(open.refused == std::set<std::string>{});
  CHECK(open.raising == std::set<std::string>{"AdditiveAttention 2", "GroupQueryAttention 2", "MultiHeadAttention 2",
                                              "TransformerBlock 2"});
}
TEST_CASE("open sizes: recurrent layers, all steps and the last one") {
  OpenAxes open;
  for (const bool all : {false, true}) {
    open.check("SimpleRNN",
               [l = layers::SimpleRNN(3, {.return_sequences = all})](const Tensor& x) { return Tensor(l(x)); },
               {2, 4, 3});
    open.check("LSTM", [l = layers::LSTM(3, {.return_sequences = all})](const Tensor& x) { return Tensor(l(x)); },
               {2, 4, 3});
    open.check("GRU", [l = layers::GRU(3, {.return_sequences = all})](const Tensor& x) { return Tensor(l(x)); },
               {2, 4, 3});
    open.check(
        "RNN of a cell",
        [l = layers::RNN(layers::GRUCell(3), {.return_sequences = all})](const Tensor& x) { return Tensor(l(x)); },
        {2, 4, 3});
    open.check("Bidirectional",
               [l = layers::Bidirectional(layers::LSTM(2, {.return_sequences = all}))](const Tensor& x) {
                 return Tensor(l(x));
               },
               {2, 4, 3});
  }
  CHECK(open.refused == std::set<std::string>{});
  CHECK(open.raising == std::set<std::string>{"Bidirectional 2", "GRU 2", "LSTM 2", "RNN of a cell 2", "SimpleRNN 2"});
}
TEST_CASE("open sizes: second gradients of recurrent layers") {
  OpenAxes open;
  const layers::LSTM lstm(3, {.return_sequences = true});
  const layers::GRU gru(3, {.return_sequences = true});
  const auto f = [&](const Tensor& x) { return Tensor(lstm(x)); };
  const auto g = [&](const Tensor& x) { return Tensor(gru(x)); };
  open.check("LSTM", second_gradient(f), {2, 4, 3});
  open.check("GRU", second_gradient(g), {2, 4, 3});
  CHECK(open.refused == std::set<std::string>{});
  CHECK(open.raising == std::set<std::string>{"GRU 2", "LSTM 2"});
}
TEST_CASE("open sizes: recurrent layers without steps, for a batch of open size") {
  const Tensor x = zeros({5, 0, 6});
  const auto check = [&](const auto& layer) {
    layer(ones({1, 3, 6}));
    const auto f = [&](const Tensor& t) { return Tensor(layer(t)); };
    const Tensor want = f(x);
    for (const Shape& open : {Shape{none, 0, 6}, Shape{none, none, 6}}) {
      CAPTURE(open);
      const Tensor y = function(f, {.input_signature = {TensorSpec(open, float32)}})(x);
      CHECK(y.spec() == want.spec());
      CHECK(value_difference(want, y).empty());
    }
  };
  for (const bool all : {true, false}) {
    check(layers::SimpleRNN(2, {.return_sequences = all}));
    check(layers::LSTM(2, {.return_sequences = all}));
    check(layers::RNN(layers::GRUCell(2), {.return_sequences = all}));
  }
}
