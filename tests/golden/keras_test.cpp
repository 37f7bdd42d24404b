// Activations, losses, metrics, layers, optimizers, schedules and regularizers with their default options against Keras
// 3. Not here: initializers, noise and the values of defaults (keras_defaults_test.cpp), which names Keras has
// (keras_coverage_test.cpp).
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/golden/golden.hpp"
#include "tests/golden/keras_layers.hpp"

namespace keras_golden_test {

using namespace ::golden;

namespace {

/// What a layer returns for x[0] with the weights x[1], x[2], ...
template <class L>
GoldenList layer(const L& l, const GoldenList& x) {
  (void)l(x[0]);
  l.set_weights(GoldenList(x.begin() + 1, x.end()));
  return {l(x[0])};
}
template <class M>
GoldenList metric(const M& m, const GoldenList& x) {
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) m.update_state(x[i], x[i + 1]);
  return {m.result()};
}
// w after each of four steps on the sum of w^2 times factors.
template <class O>
GoldenList steps(const O& optimizer, const GoldenList& x) {
  const Variable w(x[0]);
  GoldenList path;
  for (int i = 0; i < 4; ++i) {
    optimizer.minimize([&] { return reduce_sum(square(w) * x[1]); }, {w});
    path.push_back(w.read_value());
  }
  return path;
}
Tensor embedded(const GoldenList& x) {
  const layers::Embedding l(6, 4, {.dtype = x[1].dtype()});
  (void)l(cast(x[0], int32));
  l.set_weights({x[1]});
  return l(cast(x[0], int32));
}
GoldenList trained_batch_norm(const GoldenCase&, const GoldenList& x) {
  const layers::BatchNormalization l({.dtype = x[0].dtype()});
  const Tensor y = l(x[0], {.training = true});
  return {y, l.get_weights()[2], l.get_weights()[3]};
}

Tensor averaged(const GoldenList& x, const metrics::ValueMetric& m) {
  for (std::size_t i = 0; i < x.size(); i += 2) m.update_state(x[i + 1], x[i]);
  return m.result();
}
template <class L>
GoldenList recurrent(const L& l, const GoldenList& x) {
  return weighted(l, x, 1, [&] { return l(x[0]).output; });
}
GoldenList lstm_cell(const GoldenList& x) {
  const layers::LSTMCell cell(4, {.weights = {.dtype = x[0].dtype()}});
  return weighted(cell, x, 3, [&] { return cell(x[0], {x[1], x[2]}).h; });
}
template <class L>
GoldenList state_cell(const L& l, const GoldenList& x) {
  return weighted(l, x, 2, [&] { return l(x[0], x[1]); });
}
template <class L>
Tensor adapted(const L& l, const Tensor& data, const Tensor& x) {
  l.adapt(data);
  return l(x);
}
GoldenList discretized(const GoldenList& x) {
  if (x.size() == 1)
    return {layers::Discretization({-1, 0, .5}, {.output_mode = layers::OutputMode::one_hot})(x[0](Ellipsis, 0))};
  const layers::Discretization l({.num_bins = 5});
  const Tensor bins = adapted(l, x[0], x[1]);
  return {bins, constant(l.bin_boundaries())};
}
GoldenList encoded(const GoldenCase& c, const GoldenList& x) {
  using enum layers::OutputMode;
  const int number = c.name.back() - '0';
  const layers::CategoryEncoding l(5, {.output_mode = number == 0 ? multi_hot : number == 1 ? one_hot : count});
  return {l(number == 1 ? x[0](Ellipsis, 0) : x[0])};
}
GoldenList by_equation(const GoldenCase& c, const GoldenList& x) {
  struct Arguments {
    const char* equation;
    Shape output_shape;
    const char* bias_axes;
  };
  const Arguments all[] = {{"ab,bc->ac", {5}, ""},
                           {"abc,cd->abd", {none, 4}, "d"},
                           {"abc,cde->abde", {none, 2, 3}, "de"},
                           {"abc,dce->aebd", {3, none, 2}, "ed"},
                           {"...x,xy->...y", {4}, "y"},
                           {"abc...,cd->abd...", {none, 4}, "d"}};
  const Arguments& a = all[c.name.back() - '0'];
  return layer(layers::EinsumDense(a.equation, a.output_shape, {.bias_axes = a.bias_axes, .dtype = x[0].dtype()}), x);
}
template <class L>
GoldenList normalized(const L& inner, const GoldenList& x) {
  const layers::SpectralNormalization l(inner, {.power_iterations = 2});
  (void)l(x[0]);
  l.set_weights({x[1], x[2], x[3]});
  const Tensor first = l(x[0], {.training = true}), second = l(x[0], {.training = true}), third = l(x[0]);
  return {first, second, third, l.get_weights()[0], l.get_weights()[2]};
}
GoldenList spectral(const GoldenCase& c, const GoldenList& x) {
  const DType dtype = x[0].dtype();
  if (c.name.back() == '0') return normalized(layers::Dense(5, {.dtype = dtype}), x);
  return normalized(layers::Conv2D(4, 3, {.dtype = dtype}), x);
}
GoldenList regularized(const GoldenList& x) {
  const layers::ActivityRegularization l({.l1 = .1, .l2 = .2});
  const Tensor y = l(x[0], {.training = true});
  return {y, l.losses().at(0)};
}

// Keras has its constants (slopes, rates, steps, gelu's root) as float32 even where its numbers are float64: 6e-8.
constexpr GoldenBounds of_keras{.output = Of::largest, .float64 = 2e-7};
// Keras adds 1e-7 to denominators, which is 0 / 0 without it.
constexpr GoldenBounds of_ratios{.output = Of::largest, .float64 = 1e-6};
// Keras sums the weights of quantiles in float32.
constexpr GoldenBounds of_quantiles{.output = Of::largest, .float64 = 1e-5, .float32 = 1e-5};
// tf.image.resize is float32 throughout.
constexpr GoldenBounds of_resizing{.output = Of::largest, .float64 = 2e-6};

using Ops = std::map<std::string, GoldenOp>;
#define METRIC(name, ...) GOLDEN_WITHIN(of_keras, "metric." #name, metric(metrics::name(__VA_ARGS__), x)[0])
#define RATIO(name, ...) GOLDEN_WITHIN(of_ratios, "metric." #name, metric(metrics::name(__VA_ARGS__), x)[0])
#define MERGED(name, ...) GOLDEN_WITHIN(of_keras, "layer." #name, layers::name(__VA_ARGS__)({x[0], x[1]}))
#define LAYER(name, ...) GOLDEN_WITHIN(of_keras, "layer." #name, layer(layers::name(__VA_ARGS__), x)[0])
#define OPTIMIZER(name)                                                                             \
  {                                                                                                 \
    "optimizer." #name, {                                                                           \
      [](const GoldenCase&, const GoldenList& x) { return steps(optimizers::name(), x); }, of_keras \
    }                                                                                               \
  }
const Ops of_activations{GOLDEN_WITHIN(of_keras, "activation.linear", Activation::linear(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.elu", nn::elu(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.exponential", exp(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.gelu", nn::gelu(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.hard_sigmoid", nn::hard_sigmoid(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.leaky_relu", nn::leaky_relu(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.log_sigmoid", log_sigmoid(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.log_softmax", nn::log_softmax(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.mish", nn::mish(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.relu", nn::relu(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.relu6", nn::relu6(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.selu", nn::selu(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.sigmoid", sigmoid(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.silu", nn::silu(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.softmax", nn::softmax(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.softplus", nn::softplus(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.softsign", nn::softsign(x[0])),
                         GOLDEN_WITHIN(of_keras, "activation.tanh", tanh(x[0]))};
const Ops of_losses{
    GOLDEN_WITHIN(of_keras, "loss.MeanSquaredError", losses::MeanSquaredError()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.MeanAbsoluteError", losses::MeanAbsoluteError()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.MeanAbsolutePercentageError", losses::MeanAbsolutePercentageError()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.MeanSquaredLogarithmicError", losses::MeanSquaredLogarithmicError()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.Huber", losses::Huber()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.LogCosh", losses::LogCosh()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.Poisson", losses::Poisson()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.CosineSimilarity", losses::CosineSimilarity()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.Hinge", losses::Hinge()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.SquaredHinge", losses::SquaredHinge()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.CategoricalHinge", losses::CategoricalHinge()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.BinaryCrossentropy", losses::BinaryCrossentropy()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.CategoricalCrossentropy", losses::CategoricalCrossentropy()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.SparseCategoricalCrossentropy", losses::SparseCategoricalCrossentropy()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.KLDivergence", losses::KLDivergence()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.BinaryFocalCrossentropy", losses::BinaryFocalCrossentropy()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.CategoricalFocalCrossentropy", losses::CategoricalFocalCrossentropy()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.Dice", losses::Dice()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.Tversky", losses::Tversky()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.CategoricalGeneralizedCrossEntropy",
                  losses::CategoricalGeneralizedCrossEntropy()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.CTC", losses::CTC()(x[0], x[1])),
    GOLDEN_WITHIN(of_keras, "loss.Circle", losses::Circle()(x[0], x[1]))};
const Ops of_metrics{METRIC(Accuracy),
                     METRIC(BinaryAccuracy),
                     METRIC(CategoricalAccuracy),
                     METRIC(SparseCategoricalAccuracy),
                     METRIC(TopKCategoricalAccuracy),
                     METRIC(SparseTopKCategoricalAccuracy),
                     METRIC(TruePositives),
                     METRIC(FalsePositives),
                     METRIC(TrueNegatives),
                     METRIC(FalseNegatives),
                     METRIC(Precision),
                     METRIC(Recall),
                     METRIC(AUC),
                     METRIC(F1Score),
                     METRIC(FBetaScore),
                     METRIC(R2Score),
                     METRIC(MeanSquaredError),
                     METRIC(RootMeanSquaredError),
                     METRIC(MeanAbsoluteError),
                     METRIC(MeanAbsolutePercentageError),
                     METRIC(MeanSquaredLogarithmicError),
                     METRIC(LogCoshError),
                     METRIC(Poisson),
                     METRIC(Hinge),
                     METRIC(SquaredHinge),
                     METRIC(CosineSimilarity),
                     METRIC(KLDivergence),
                     METRIC(CategoricalHinge),
                     METRIC(BinaryCrossentropy),
                     METRIC(CategoricalCrossentropy),
                     METRIC(SparseCategoricalCrossentropy),
                     METRIC(SensitivityAtSpecificity, .5),
                     METRIC(SpecificityAtSensitivity, .5),
                     METRIC(PrecisionAtRecall, .5),
                     METRIC(RecallAtPrecision, .5),
                     METRIC(PearsonCorrelation),
                     METRIC(MeanMetricWrapper, "error", &losses::mean_absolute_error),
                     RATIO(ConcordanceCorrelation),
                     RATIO(MeanIoU, 3),
                     RATIO(IoU, 3, {0, 2}),
                     RATIO(OneHotIoU, 3, {0, 2}),
                     RATIO(OneHotMeanIoU, 3),
                     RATIO(BinaryIoU),
                     GOLDEN_WITHIN(of_keras, "metric.Mean", averaged(x, metrics::Mean())),
                     GOLDEN_WITHIN(of_keras, "metric.Sum", averaged(x, metrics::Sum()))};
const Ops of_layers{LAYER(ReLU),
                    LAYER(LeakyReLU),
                    LAYER(PReLU, {.dtype = x[0].dtype()}),
                    LAYER(ELU),
                    LAYER(Softmax),
                    LAYER(Dense, 5, {.dtype = x[0].dtype()}),
                    LAYER(Conv1D, 4, 3, {.dtype = x[0].dtype()}),
                    LAYER(Conv2D, 4, 3, {.dtype = x[0].dtype()}),
                    LAYER(Conv3D, 2, 2, {.dtype = x[0].dtype()}),
                    LAYER(Conv1DTranspose, 4, 3, {.dtype = x[0].dtype()}),
                    LAYER(Conv2DTranspose, 2, 3, {.dtype = x[0].dtype()}),
                    LAYER(DepthwiseConv1D, 3, {.dtype = x[0].dtype()}),
                    LAYER(DepthwiseConv2D, 3, {.dtype = x[0].dtype()}),
                    LAYER(SeparableConv1D, 4, 3, {.dtype = x[0].dtype()}),
                    LAYER(SeparableConv2D, 4, 3, {.dtype = x[0].dtype()}),
                    LAYER(MaxPooling1D, 2),
                    LAYER(MaxPooling2D, 2),
                    LAYER(AveragePooling1D, 2),
                    LAYER(AveragePooling2D, 2),
                    LAYER(GlobalMaxPooling1D),
                    LAYER(GlobalAveragePooling2D),
                    LAYER(LayerNormalization, {.dtype = x[0].dtype()}),
                    LAYER(GroupNormalization, {.groups = 4, .dtype = x[0].dtype()}),
                    LAYER(RMSNormalization, {.dtype = x[0].dtype()}),
                    LAYER(UnitNormalization),
                    LAYER(BatchNormalization, {.dtype = x[0].dtype()}),
                    LAYER(UpSampling1D, 2),
                    LAYER(UpSampling2D, 2),
                    LAYER(ZeroPadding1D, 1),
                    LAYER(ZeroPadding2D, 1),
                    LAYER(Cropping1D, 1),
                    LAYER(Cropping2D, 1),
                    GOLDEN_WITHIN(of_resizing, "layer.Resizing", layer(layers::Resizing(5, 9), x)[0]),
                    LAYER(Rescaling, 0.5),
                    LAYER(SimpleRNN, 4, {}, {.weights = {.dtype = x[0].dtype()}}),
                    LAYER(LSTM, 4, {}, {.weights = {.dtype = x[0].dtype()}}),
                    LAYER(GRU, 4, {}, {.weights = {.dtype = x[0].dtype()}}),
                    LAYER(Flatten),
                    GOLDEN_WITHIN(of_keras, "layer.Embedding", embedded(x)),
                    {"layer.BatchNormalization, training", {&trained_batch_norm, of_keras}}};
const Ops of_other_layers{
    GOLDEN_WITHIN(of_keras, "layer.Activation", layers::Activation(tandem::tanh)(x[0])),
    {"layer.EinsumDense", {&by_equation, of_keras}},
    LAYER(Reshape, {6, 2}),
    LAYER(Permute, {2, 1}),
    LAYER(RepeatVector, 3),
    LAYER(Conv3DTranspose, 2, 2, {.dtype = x[0].dtype()}),
    LAYER(MaxPooling3D, 2),
    LAYER(AveragePooling3D, 2),
    LAYER(GlobalMaxPooling2D),
    LAYER(GlobalMaxPooling3D),
    LAYER(GlobalAveragePooling1D),
    LAYER(GlobalAveragePooling3D),
    LAYER(AdaptiveAveragePooling1D, 3),
    LAYER(AdaptiveAveragePooling2D, 3),
    LAYER(AdaptiveAveragePooling3D, 2),
    LAYER(AdaptiveMaxPooling1D, 3),
    LAYER(AdaptiveMaxPooling2D, 3),
    LAYER(AdaptiveMaxPooling3D, 2),
    LAYER(UpSampling3D, 2),
    LAYER(ZeroPadding3D, 1),
    LAYER(Cropping3D, 1),
    LAYER(Dropout, .3),
    LAYER(SpatialDropout1D, .3),
    LAYER(SpatialDropout2D, .3),
    LAYER(SpatialDropout3D, .3),
    LAYER(GaussianNoise, .5),
    LAYER(GaussianDropout, .3),
    LAYER(AlphaDropout, .3),
    LAYER(RandomFlip),
    MERGED(Add),
    MERGED(Subtract),
    MERGED(Multiply),
    MERGED(Average),
    MERGED(Maximum),
    MERGED(Minimum),
    MERGED(Concatenate),
    MERGED(Dot, 1),
    GOLDEN_WITHIN(of_keras, "layer.Attention", attention(layers::Attention(), x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.AdditiveAttention", attention(layers::AdditiveAttention(), x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.TimeDistributed",
                  layer(layers::TimeDistributed(layers::Dense(2, {.dtype = x[0].dtype()})), x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.Bidirectional",
                  recurrent(layers::Bidirectional(layers::LSTM(4, {}, {.weights = {.dtype = x[0].dtype()}})), x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.RNN",
                  recurrent(layers::RNN(layers::SimpleRNNCell(4, {.weights = {.dtype = x[0].dtype()}})), x)[0]),
    GOLDEN_WITHIN(
        of_keras, "layer.StackedRNNCells",
        recurrent(layers::RNN(layers::StackedRNNCells(layers::LSTMCell(4, {.weights = {.dtype = x[0].dtype()}}),
                                                      layers::GRUCell(2, {.weights = {.dtype = x[0].dtype()}}))),
                  x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.SimpleRNNCell",
                  state_cell(layers::SimpleRNNCell(4, {.weights = {.dtype = x[0].dtype()}}), x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.GRUCell",
                  state_cell(layers::GRUCell(4, {.weights = {.dtype = x[0].dtype()}}), x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.LSTMCell", lstm_cell(x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.MultiHeadAttention",
                  attention(layers::MultiHeadAttention(2, 3, {.dtype = x[0].dtype()}), x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.MultiHeadAttention, gated",
                  attention(layers::MultiHeadAttention(2, 3, {.value_dim = 5, .use_gate = true, .dtype = x[0].dtype()}),
                            x)[0]),
    {"layer.GroupQueryAttention", {&grouped, of_keras}},
    {"layer.ReversibleEmbedding", {&reversible, of_keras}},
    GOLDEN_WITHIN(of_keras, "layer.Masking", layers::Masking()(x[0]), layers::Masking().compute_mask(x[0])),
    GOLDEN_WITHIN(of_keras, "layer.Normalization", adapted(layers::Normalization(), x[0], x[0])),
    GOLDEN_WITHIN(of_keras, "layer.IntegerLookup", adapted(layers::IntegerLookup(), x[0], x[0] + 1)),
    {"layer.Discretization", {[](const GoldenCase&, const GoldenList& x) { return discretized(x); }, of_quantiles}},
    {"layer.CategoryEncoding", {&encoded, of_keras}},
    {"layer.SpectralNormalization", {&spectral, of_keras}},
    GOLDEN_WITHIN(of_keras, "layer.ConvLSTM1D", recurrent(layers::ConvLSTM1D(3, 2, {.dtype = x[0].dtype()}), x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.ConvLSTM2D", recurrent(layers::ConvLSTM2D(2, 3, {.dtype = x[0].dtype()}), x)[0]),
    GOLDEN_WITHIN(of_keras, "layer.ConvLSTM3D", recurrent(layers::ConvLSTM3D(2, 2, {.dtype = x[0].dtype()}), x)[0]),
    {"layer.ActivityRegularization",
     {[](const GoldenCase&, const GoldenList& x) { return regularized(x); }, of_keras}}};
const Ops of_training{
    OPTIMIZER(Lion),
    OPTIMIZER(Adafactor),
    OPTIMIZER(Muon),
    OPTIMIZER(ScheduleFreeAdamW),
    GOLDEN_WITHIN(of_keras, "regularizer.OrthogonalRegularizer", regularizers::OrthogonalRegularizer()(x[0])),
    OPTIMIZER(SGD),
    OPTIMIZER(RMSprop),
    OPTIMIZER(Adam),
    OPTIMIZER(AdamW),
    OPTIMIZER(Adamax),
    OPTIMIZER(Nadam),
    OPTIMIZER(Lamb),
    OPTIMIZER(Adagrad),
    OPTIMIZER(Adadelta),
    OPTIMIZER(Ftrl),
    GOLDEN_WITHIN(of_keras, "schedule.ExponentialDecay", optimizers::schedules::ExponentialDecay(0.1, 10, 0.5)(x[0])),
    GOLDEN_WITHIN(of_keras, "schedule.InverseTimeDecay", optimizers::schedules::InverseTimeDecay(0.1, 10, 0.5)(x[0])),
    GOLDEN_WITHIN(of_keras, "schedule.PolynomialDecay", optimizers::schedules::PolynomialDecay(0.1, 10)(x[0])),
    GOLDEN_WITHIN(of_keras, "schedule.CosineDecay", optimizers::schedules::CosineDecay(0.1, 10)(x[0])),
    GOLDEN_WITHIN(of_keras, "schedule.CosineDecayRestarts", optimizers::schedules::CosineDecayRestarts(0.1, 4)(x[0])),
    GOLDEN_WITHIN(of_keras, "schedule.PiecewiseConstantDecay",
                  optimizers::schedules::PiecewiseConstantDecay({3, 7}, {0.1, 0.05, 0.01})(x[0])),
    GOLDEN_WITHIN(of_keras, "regularizer.L1", regularizers::L1()(x[0])),
    GOLDEN_WITHIN(of_keras, "regularizer.L2", regularizers::L2()(x[0])),
    GOLDEN_WITHIN(of_keras, "regularizer.L1L2", regularizers::L1L2()(x[0])),
    GOLDEN_WITHIN(of_keras, "constraint.MaxNorm", constraints::MaxNorm()(x[0])),
    GOLDEN_WITHIN(of_keras, "constraint.NonNeg", constraints::NonNeg()(x[0])),
    GOLDEN_WITHIN(of_keras, "constraint.UnitNorm", constraints::UnitNorm()(x[0])),
    GOLDEN_WITHIN(of_keras, "constraint.MinMaxNorm", constraints::MinMaxNorm()(x[0]))};
#undef METRIC
#undef RATIO
#undef MERGED
#undef LAYER
#undef OPTIMIZER

}  // namespace

TEST_CASE("Keras 3: activations, losses, metrics, layers, optimizers, schedules, regularizers") {
  Ops all;
  for (const Ops& some : {of_activations, of_losses, of_metrics, of_layers, of_other_layers, of_training})
    all.insert(some.begin(), some.end());
  check("keras", all, {"initializer.", "noise."});
}

}  // namespace keras_golden_test
