// Activations, losses, metrics, layers, optimizers, schedules and regularizers with their default options against Keras
// 3. Not here: initializers and the values of defaults (keras_defaults_test.cpp).
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/golden/golden.hpp"

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

// Keras has its constants (slopes, rates, steps, gelu's root) as float32 even where its numbers are float64: 6e-8.
constexpr GoldenBounds of_keras{.output = Of::largest, .float64 = 2e-7};
// tf.image.resize is float32 throughout.
constexpr GoldenBounds of_resizing{.output = Of::largest, .float64 = 2e-6};

using Ops = std::map<std::string, GoldenOp>;
#define METRIC(name) GOLDEN_WITHIN(of_keras, "metric." #name, metric(metrics::name(), x)[0])
#define LAYER(name, ...) GOLDEN_WITHIN(of_keras, "layer." #name, layer(layers::name(__VA_ARGS__), x)[0])
#define OPTIMIZER(name)                                                                             \
  {                                                                                                 \
    "optimizer." #name, {                                                                           \
      [](const GoldenCase&, const GoldenList& x) { return steps(optimizers::name(), x); }, of_keras \
    }                                                                                               \
  }
const Ops of_activations{GOLDEN_WITHIN(of_keras, "activation.elu", nn::elu(x[0])),
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
    GOLDEN_WITHIN(of_keras, "loss.CategoricalFocalCrossentropy", losses::CategoricalFocalCrossentropy()(x[0], x[1]))};
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
                     METRIC(SparseCategoricalCrossentropy)};
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
const Ops of_training{
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
#undef LAYER
#undef OPTIMIZER

}  // namespace

TEST_CASE("Keras 3: activations, losses, metrics, layers, optimizers, schedules, regularizers") {
  Ops all;
  for (const Ops& some : {of_activations, of_losses, of_metrics, of_layers, of_training})
    all.insert(some.begin(), some.end());
  check("keras", all, "initializer.");
}

}  // namespace keras_golden_test
