// The numeric defaults of options against those of Keras 3 (keras_defaults.txt), and what initializers and noise draw.
// Every option of the file stands in the table, or among those that outputs show (keras_test.cpp) or that are not
// offered.
#include <cmath>
#include <fstream>
#include <set>

#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/source_folder.hpp"

namespace keras_defaults_test {

using namespace ::golden;

namespace {

template <class T>
double value(const T& x) {
  if constexpr (std::is_convertible_v<T, double>) return static_cast<double>(x);
  else return static_cast<double>(x.value());
}
std::map<std::string, double> defaults_of_keras() {
  std::map<std::string, double> r;
  std::ifstream file(testing::source_folder() + "/tests/golden/keras_defaults.txt");
  for (std::string name; file >> name;) {
    if (name == "#") std::getline(file, name);
    else file >> r[name];
  }
  return r;
}
std::string option_of(const std::string& name) { return name.substr(name.rfind('.') + 1); }

const std::map<std::string, double> defaults{
    {"losses.BinaryCrossentropy.from_logits", value(losses::CrossentropyLossOptions{}.from_logits)},
    {"losses.BinaryCrossentropy.label_smoothing", value(losses::CrossentropyLossOptions{}.label_smoothing)},
    {"losses.BinaryCrossentropy.axis", value(losses::CrossentropyLossOptions{}.axis)},
    {"losses.CategoricalCrossentropy.from_logits", value(losses::CrossentropyLossOptions{}.from_logits)},
    {"losses.CategoricalCrossentropy.label_smoothing", value(losses::CrossentropyLossOptions{}.label_smoothing)},
    {"losses.CategoricalCrossentropy.axis", value(losses::CrossentropyLossOptions{}.axis)},
    {"losses.SparseCategoricalCrossentropy.from_logits", value(losses::SparseCrossentropyLossOptions{}.from_logits)},
    {"losses.SparseCategoricalCrossentropy.axis", value(losses::SparseCrossentropyLossOptions{}.axis)},
    {"losses.BinaryFocalCrossentropy.apply_class_balancing",
     value(losses::BinaryFocalLossOptions{}.apply_class_balancing)},
    {"losses.BinaryFocalCrossentropy.alpha", value(losses::BinaryFocalLossOptions{}.alpha)},
    {"losses.BinaryFocalCrossentropy.gamma", value(losses::BinaryFocalLossOptions{}.gamma)},
    {"losses.BinaryFocalCrossentropy.from_logits", value(losses::BinaryFocalLossOptions{}.from_logits)},
    {"losses.BinaryFocalCrossentropy.label_smoothing", value(losses::BinaryFocalLossOptions{}.label_smoothing)},
    {"losses.BinaryFocalCrossentropy.axis", value(losses::BinaryFocalLossOptions{}.axis)},
    {"losses.CategoricalFocalCrossentropy.gamma", value(losses::CategoricalFocalLossOptions{}.gamma)},
    {"losses.CategoricalFocalCrossentropy.from_logits", value(losses::CategoricalFocalLossOptions{}.from_logits)},
    {"losses.CategoricalFocalCrossentropy.label_smoothing",
     value(losses::CategoricalFocalLossOptions{}.label_smoothing)},
    {"losses.CategoricalFocalCrossentropy.axis", value(losses::CategoricalFocalLossOptions{}.axis)},
    {"losses.Huber.delta", value(losses::HuberOptions{}.delta)},
    {"losses.CosineSimilarity.axis", value(losses::CosineSimilarityOptions{}.axis)},
    {"losses.Tversky.alpha", value(losses::TverskyLossOptions{}.alpha)},
    {"losses.Tversky.beta", value(losses::TverskyLossOptions{}.beta)},
    {"losses.CategoricalGeneralizedCrossEntropy.q", value(losses::GeneralizedCrossEntropyLossOptions{}.q)},
    {"metrics.MeanIoU.sparse_y_true", value(metrics::MeanIoUOptions{}.sparse_y_true)},
    {"metrics.MeanIoU.sparse_y_pred", value(metrics::MeanIoUOptions{}.sparse_y_pred)},
    {"metrics.MeanIoU.axis", value(metrics::MeanIoUOptions{}.axis)},
    {"metrics.IoU.sparse_y_true", value(metrics::MeanIoUOptions{}.sparse_y_true)},
    {"metrics.IoU.sparse_y_pred", value(metrics::MeanIoUOptions{}.sparse_y_pred)},
    {"metrics.IoU.axis", value(metrics::MeanIoUOptions{}.axis)},
    {"metrics.OneHotIoU.sparse_y_pred", value(metrics::OneHotIoUOptions{}.sparse_y_pred)},
    {"metrics.OneHotIoU.axis", value(metrics::OneHotIoUOptions{}.axis)},
    {"metrics.OneHotMeanIoU.sparse_y_pred", value(metrics::OneHotIoUOptions{}.sparse_y_pred)},
    {"metrics.OneHotMeanIoU.axis", value(metrics::OneHotIoUOptions{}.axis)},
    {"metrics.BinaryIoU.threshold", value(metrics::BinaryIoUOptions{}.threshold)},
    {"metrics.SensitivityAtSpecificity.num_thresholds", value(metrics::AtOptions{}.num_thresholds)},
    {"metrics.SpecificityAtSensitivity.num_thresholds", value(metrics::AtOptions{}.num_thresholds)},
    {"metrics.PrecisionAtRecall.num_thresholds", value(metrics::AtOptions{}.num_thresholds)},
    {"metrics.RecallAtPrecision.num_thresholds", value(metrics::AtOptions{}.num_thresholds)},
    {"metrics.PearsonCorrelation.axis", value(metrics::CorrelationOptions{}.axis)},
    {"metrics.ConcordanceCorrelation.axis", value(metrics::CorrelationOptions{}.axis)},
    {"optimizers.Lion.beta_1", value(optimizers::LionOptions{}.beta_1)},
    {"optimizers.Lion.beta_2", value(optimizers::LionOptions{}.beta_2)},
    {"losses.Circle.gamma", value(losses::CircleLossOptions{}.gamma)},
    {"losses.Circle.margin", value(losses::CircleLossOptions{}.margin)},
    {"losses.Circle.remove_diagonal", value(losses::CircleLossOptions{}.remove_diagonal)},
    {"optimizers.Adafactor.beta_2_decay", value(optimizers::AdafactorOptions{}.beta_2_decay)},
    {"optimizers.Adafactor.epsilon_1", value(optimizers::AdafactorOptions{}.epsilon_1)},
    {"optimizers.Adafactor.epsilon_2", value(optimizers::AdafactorOptions{}.epsilon_2)},
    {"optimizers.Adafactor.clip_threshold", value(optimizers::AdafactorOptions{}.clip_threshold)},
    {"optimizers.Muon.adam_beta_1", value(optimizers::MuonOptions{}.adam_beta_1)},
    {"optimizers.Muon.adam_beta_2", value(optimizers::MuonOptions{}.adam_beta_2)},
    {"optimizers.Muon.adam_weight_decay", value(optimizers::MuonOptions{}.adam_weight_decay)},
    {"optimizers.Muon.epsilon", value(optimizers::MuonOptions{}.epsilon)},
    {"optimizers.Muon.weight_decay", value(optimizers::MuonOptions{}.weight_decay)},
    {"optimizers.Muon.exclude_embeddings", value(optimizers::MuonOptions{}.exclude_embeddings)},
    {"optimizers.Muon.muon_a", value(optimizers::MuonOptions{}.muon_a)},
    {"optimizers.Muon.muon_b", value(optimizers::MuonOptions{}.muon_b)},
    {"optimizers.Muon.muon_c", value(optimizers::MuonOptions{}.muon_c)},
    {"optimizers.Muon.adam_lr_ratio", value(optimizers::MuonOptions{}.adam_lr_ratio)},
    {"optimizers.Muon.momentum", value(optimizers::MuonOptions{}.momentum)},
    {"optimizers.Muon.ns_steps", value(optimizers::MuonOptions{}.ns_steps)},
    {"optimizers.Muon.nesterov", value(optimizers::MuonOptions{}.nesterov)},
    {"optimizers.Muon.rms_rate", value(optimizers::MuonOptions{}.rms_rate.value_or(0))},
    {"optimizers.ScheduleFreeAdamW.beta_1", value(optimizers::ScheduleFreeAdamWOptions{}.beta_1)},
    {"optimizers.ScheduleFreeAdamW.beta_2", value(optimizers::ScheduleFreeAdamWOptions{}.beta_2)},
    {"optimizers.ScheduleFreeAdamW.epsilon", value(optimizers::ScheduleFreeAdamWOptions{}.epsilon)},
    {"optimizers.ScheduleFreeAdamW.warmup_steps", value(optimizers::ScheduleFreeAdamWOptions{}.warmup_steps)},
    {"layers.SpectralNormalization.power_iterations", value(layers::SpectralNormalizationOptions{}.power_iterations)},
    {"layers.ConvLSTM2D.use_bias", value(layers::ConvLSTMOptions{}.use_bias)},
    {"layers.ConvLSTM2D.unit_forget_bias", value(layers::ConvLSTMOptions{}.unit_forget_bias)},
    {"layers.ConvLSTM2D.return_sequences", value(layers::ConvLSTMOptions{}.return_sequences)},
    {"layers.ConvLSTM2D.stateful", value(layers::ConvLSTMOptions{}.stateful)},
    {"layers.Conv3DTranspose.use_bias", value(layers::ConvTransposeOptions{}.use_bias)},
    {"layers.GlobalMaxPooling2D.keepdims", value(layers::GlobalPoolingOptions{}.keepdims)},
    {"layers.GlobalMaxPooling3D.keepdims", value(layers::GlobalPoolingOptions{}.keepdims)},
    {"layers.GlobalAveragePooling1D.keepdims", value(layers::GlobalPoolingOptions{}.keepdims)},
    {"layers.GlobalAveragePooling3D.keepdims", value(layers::GlobalPoolingOptions{}.keepdims)},
    {"layers.Normalization.invert", value(layers::NormalizationOptions{}.invert)},
    {"layers.RNN.return_sequences", value(layers::RnnOptions{}.return_sequences)},
    {"layers.RNN.stateful", value(layers::RnnOptions{}.stateful)},
    {"layers.LSTMCell.use_bias", value(layers::LSTMCellOptions{}.use_bias)},
    {"layers.LSTMCell.unit_forget_bias", value(layers::LSTMCellOptions{}.unit_forget_bias)},
    {"layers.GRUCell.use_bias", value(layers::GRUCellOptions{}.use_bias)},
    {"layers.SimpleRNNCell.use_bias", value(layers::SimpleRNNCellOptions{}.use_bias)},
    {"metrics.BinaryAccuracy.threshold", value(metrics::BinaryAccuracyOptions{}.threshold)},
    {"metrics.TopKCategoricalAccuracy.k", value(metrics::TopKOptions{}.k)},
    {"metrics.SparseTopKCategoricalAccuracy.k", value(metrics::TopKOptions{}.k)},
    {"metrics.AUC.num_thresholds", value(metrics::AUCOptions{}.num_thresholds)},
    {"metrics.AUC.from_logits", value(metrics::AUCOptions{}.from_logits)},
    {"metrics.FBetaScore.beta", value(metrics::FBetaScoreOptions{}.beta)},
    {"metrics.R2Score.num_regressors", value(metrics::R2ScoreOptions{}.num_regressors)},
    {"metrics.CosineSimilarity.axis", value(metrics::CosineSimilarityOptions{}.axis)},
    {"metrics.BinaryCrossentropy.from_logits", value(metrics::CrossentropyOptions{}.from_logits)},
    {"metrics.BinaryCrossentropy.label_smoothing", value(metrics::CrossentropyOptions{}.label_smoothing)},
    {"metrics.CategoricalCrossentropy.from_logits", value(metrics::CrossentropyOptions{}.from_logits)},
    {"metrics.CategoricalCrossentropy.label_smoothing", value(metrics::CrossentropyOptions{}.label_smoothing)},
    {"metrics.CategoricalCrossentropy.axis", value(metrics::CrossentropyOptions{}.axis)},
    {"metrics.SparseCategoricalCrossentropy.from_logits", value(metrics::SparseCrossentropyOptions{}.from_logits)},
    {"metrics.SparseCategoricalCrossentropy.axis", value(metrics::SparseCrossentropyOptions{}.axis)},
    {"optimizers.SGD.momentum", value(optimizers::SGDOptions{}.momentum)},
    {"optimizers.SGD.nesterov", value(optimizers::SGDOptions{}.nesterov)},
    {"optimizers.RMSprop.rho", value(optimizers::RMSpropOptions{}.rho)},
    {"optimizers.RMSprop.momentum", value(optimizers::RMSpropOptions{}.momentum)},
    {"optimizers.RMSprop.epsilon", value(optimizers::RMSpropOptions{}.epsilon)},
    {"optimizers.RMSprop.centered", value(optimizers::RMSpropOptions{}.centered)},
    {"optimizers.Adam.beta_1", value(optimizers::AdamOptions{}.beta_1)},
    {"optimizers.Adam.beta_2", value(optimizers::AdamOptions{}.beta_2)},
    {"optimizers.Adam.epsilon", value(optimizers::AdamOptions{}.epsilon)},
    {"optimizers.AdamW.weight_decay", value(optimizers::AdamWOptions{}.weight_decay)},
    {"optimizers.AdamW.beta_1", value(optimizers::AdamWOptions{}.beta_1)},
    {"optimizers.AdamW.beta_2", value(optimizers::AdamWOptions{}.beta_2)},
    {"optimizers.AdamW.epsilon", value(optimizers::AdamWOptions{}.epsilon)},
    {"optimizers.Adamax.beta_1", value(optimizers::AdamaxOptions{}.beta_1)},
    {"optimizers.Adamax.beta_2", value(optimizers::AdamaxOptions{}.beta_2)},
    {"optimizers.Adamax.epsilon", value(optimizers::AdamaxOptions{}.epsilon)},
    {"optimizers.Nadam.beta_1", value(optimizers::NadamOptions{}.beta_1)},
    {"optimizers.Nadam.beta_2", value(optimizers::NadamOptions{}.beta_2)},
    {"optimizers.Nadam.epsilon", value(optimizers::NadamOptions{}.epsilon)},
    {"optimizers.Lamb.beta_1", value(optimizers::LambOptions{}.beta_1)},
    {"optimizers.Lamb.beta_2", value(optimizers::LambOptions{}.beta_2)},
    {"optimizers.Lamb.epsilon", value(optimizers::LambOptions{}.epsilon)},
    {"optimizers.Adagrad.initial_accumulator_value", value(optimizers::AdagradOptions{}.initial_accumulator_value)},
    {"optimizers.Adagrad.epsilon", value(optimizers::AdagradOptions{}.epsilon)},
    {"optimizers.Adadelta.rho", value(optimizers::AdadeltaOptions{}.rho)},
    {"optimizers.Adadelta.epsilon", value(optimizers::AdadeltaOptions{}.epsilon)},
    {"optimizers.Ftrl.learning_rate_power", value(optimizers::FtrlOptions{}.learning_rate_power)},
    {"optimizers.Ftrl.initial_accumulator_value", value(optimizers::FtrlOptions{}.initial_accumulator_value)},
    {"optimizers.Ftrl.l1_regularization_strength", value(optimizers::FtrlOptions{}.l1_regularization_strength)},
    {"optimizers.Ftrl.l2_regularization_strength", value(optimizers::FtrlOptions{}.l2_regularization_strength)},
    {"optimizers.Ftrl.l2_shrinkage_regularization_strength",
     value(optimizers::FtrlOptions{}.l2_shrinkage_regularization_strength)},
    {"optimizers.Ftrl.beta", value(optimizers::FtrlOptions{}.beta)},
    {"layers.ReLU.negative_slope", value(layers::ReLUOptions{}.negative_slope)},
    {"layers.ReLU.threshold", value(layers::ReLUOptions{}.threshold)},
    {"layers.LeakyReLU.negative_slope", value(layers::LeakyReLUOptions{}.negative_slope)},
    {"layers.ELU.alpha", value(layers::ELUOptions{}.alpha)},
    {"layers.Softmax.axis", value(layers::SoftmaxOptions{}.axis)},
    {"layers.Dense.use_bias", value(layers::DenseOptions{}.use_bias)},
    {"layers.LayerNormalization.epsilon", value(layers::LayerNormalizationOptions{}.epsilon)},
    {"layers.LayerNormalization.center", value(layers::LayerNormalizationOptions{}.center)},
    {"layers.LayerNormalization.scale", value(layers::LayerNormalizationOptions{}.scale)},
    {"layers.GroupNormalization.groups", value(layers::GroupNormalizationOptions{}.groups)},
    {"layers.GroupNormalization.axis", value(layers::GroupNormalizationOptions{}.axis)},
    {"layers.GroupNormalization.epsilon", value(layers::GroupNormalizationOptions{}.epsilon)},
    {"layers.GroupNormalization.center", value(layers::GroupNormalizationOptions{}.center)},
    {"layers.GroupNormalization.scale", value(layers::GroupNormalizationOptions{}.scale)},
    {"layers.RMSNormalization.epsilon", value(layers::RMSNormalizationOptions{}.epsilon)},
    {"layers.BatchNormalization.axis", value(layers::BatchNormalizationOptions{}.axis)},
    {"layers.BatchNormalization.momentum", value(layers::BatchNormalizationOptions{}.momentum)},
    {"layers.BatchNormalization.epsilon", value(layers::BatchNormalizationOptions{}.epsilon)},
    {"layers.BatchNormalization.center", value(layers::BatchNormalizationOptions{}.center)},
    {"layers.BatchNormalization.scale", value(layers::BatchNormalizationOptions{}.scale)},
    {"layers.GlobalMaxPooling1D.keepdims", value(layers::GlobalPoolingOptions{}.keepdims)},
    {"layers.GlobalAveragePooling2D.keepdims", value(layers::GlobalPoolingOptions{}.keepdims)},
    {"layers.Resizing.crop_to_aspect_ratio", value(layers::ResizingOptions{}.crop_to_aspect_ratio)},
    {"layers.Attention.use_scale", value(layers::AttentionLayerOptions{}.use_scale)},
    {"layers.Attention.dropout", value(layers::AttentionLayerOptions{}.dropout)},
    {"layers.AdditiveAttention.use_scale", value(layers::AdditiveAttentionOptions{}.use_scale)},
    {"layers.AdditiveAttention.dropout", value(layers::AdditiveAttentionOptions{}.dropout)},
    {"layers.MultiHeadAttention.dropout", value(layers::MultiHeadAttentionOptions{}.dropout)},
    {"layers.MultiHeadAttention.use_bias", value(layers::MultiHeadAttentionOptions{}.use_bias)},
    {"layers.GroupQueryAttention.dropout", value(layers::GroupQueryAttentionOptions{}.dropout)},
    {"layers.GroupQueryAttention.use_bias", value(layers::GroupQueryAttentionOptions{}.use_bias)},
    {"layers.GroupQueryAttention.use_gate", value(layers::GroupQueryAttentionOptions{}.use_gate)},
    {"layers.MultiHeadAttention.use_gate", value(layers::MultiHeadAttentionOptions{}.use_gate)},
    {"layers.ReversibleEmbedding.tie_weights", value(layers::ReversibleEmbeddingOptions{}.tie_weights)},
    {"layers.Discretization.epsilon", value(layers::DiscretizationOptions{}.epsilon)},
    {"layers.IntegerLookup.num_oov_indices", value(layers::IntegerLookupOptions{}.num_oov_indices)},
    {"layers.IntegerLookup.oov_token", value(layers::IntegerLookupOptions{}.oov_token)},
    {"layers.IntegerLookup.invert", value(layers::IntegerLookupOptions{}.invert)},
    {"layers.IntegerLookup.pad_to_max_tokens", value(layers::IntegerLookupOptions{}.pad_to_max_tokens)},
    {"layers.Dot.normalize", value(layers::DotOptions{}.normalize)},
    {"layers.LSTM.use_bias", value(layers::LSTMCellOptions{}.use_bias)},
    {"layers.LSTM.unit_forget_bias", value(layers::LSTMCellOptions{}.unit_forget_bias)},
    {"layers.GRU.use_bias", value(layers::GRUCellOptions{}.use_bias)},
    {"layers.SimpleRNN.use_bias", value(layers::SimpleRNNCellOptions{}.use_bias)},
    {"optimizers.schedules.ExponentialDecay.staircase", value(optimizers::schedules::StaircaseOptions{}.staircase)},
    {"optimizers.schedules.InverseTimeDecay.staircase", value(optimizers::schedules::StaircaseOptions{}.staircase)},
    {"optimizers.schedules.PolynomialDecay.end_learning_rate",
     value(optimizers::schedules::PolynomialDecayOptions{}.end_learning_rate)},
    {"optimizers.schedules.PolynomialDecay.power", value(optimizers::schedules::PolynomialDecayOptions{}.power)},
    {"optimizers.schedules.PolynomialDecay.cycle", value(optimizers::schedules::PolynomialDecayOptions{}.cycle)},
    {"optimizers.schedules.CosineDecay.alpha", value(optimizers::schedules::CosineDecayOptions{}.alpha)},
    {"optimizers.schedules.CosineDecay.warmup_steps", value(optimizers::schedules::CosineDecayOptions{}.warmup_steps)},
    {"optimizers.schedules.CosineDecayRestarts.t_mul",
     value(optimizers::schedules::CosineDecayRestartsOptions{}.t_mul)},
    {"optimizers.schedules.CosineDecayRestarts.m_mul",
     value(optimizers::schedules::CosineDecayRestartsOptions{}.m_mul)},
    {"optimizers.schedules.CosineDecayRestarts.alpha",
     value(optimizers::schedules::CosineDecayRestartsOptions{}.alpha)},
    {"layers.Conv1D.groups", value(layers::ConvOptions{}.groups)},
    {"layers.Conv1D.use_bias", value(layers::ConvOptions{}.use_bias)},
    {"layers.Conv2D.groups", value(layers::ConvOptions{}.groups)},
    {"layers.Conv2D.use_bias", value(layers::ConvOptions{}.use_bias)},
    {"layers.Conv3D.groups", value(layers::ConvOptions{}.groups)},
    {"layers.Conv3D.use_bias", value(layers::ConvOptions{}.use_bias)},
    {"layers.Conv1DTranspose.use_bias", value(layers::ConvTransposeOptions{}.use_bias)},
    {"layers.Conv2DTranspose.use_bias", value(layers::ConvTransposeOptions{}.use_bias)},
    {"layers.DepthwiseConv1D.depth_multiplier", value(layers::DepthwiseConvOptions{}.depth_multiplier)},
    {"layers.DepthwiseConv1D.use_bias", value(layers::DepthwiseConvOptions{}.use_bias)},
    {"layers.DepthwiseConv2D.depth_multiplier", value(layers::DepthwiseConvOptions{}.depth_multiplier)},
    {"layers.DepthwiseConv2D.use_bias", value(layers::DepthwiseConvOptions{}.use_bias)},
    {"layers.SeparableConv1D.depth_multiplier", value(layers::SeparableConvOptions{}.depth_multiplier)},
    {"layers.SeparableConv1D.use_bias", value(layers::SeparableConvOptions{}.use_bias)},
    {"layers.SeparableConv2D.depth_multiplier", value(layers::SeparableConvOptions{}.depth_multiplier)},
    {"layers.SeparableConv2D.use_bias", value(layers::SeparableConvOptions{}.use_bias)},
    {"layers.LSTM.return_sequences", value(layers::RnnLayerOptions{}.return_sequences)},
    {"layers.LSTM.stateful", value(layers::RnnLayerOptions{}.stateful)},
    {"layers.GRU.return_sequences", value(layers::RnnLayerOptions{}.return_sequences)},
    {"layers.GRU.stateful", value(layers::RnnLayerOptions{}.stateful)},
    {"layers.SimpleRNN.return_sequences", value(layers::RnnLayerOptions{}.return_sequences)},
    {"layers.SimpleRNN.stateful", value(layers::RnnLayerOptions{}.stateful)}};

// Shown by outputs with default options: keras_test.cpp, and the case on initializers below.
const std::set<std::string> shown{"learning_rate",
                                  "strides",
                                  "dilation_rate",
                                  "minval",
                                  "maxval",
                                  "mean",
                                  "stddev",
                                  "gain",
                                  "l1",
                                  "l2",
                                  "max_value",
                                  "min_value",
                                  "rate",
                                  "offset",
                                  "reset_after",
                                  "layers.LayerNormalization.axis",
                                  "layers.RMSNormalization.axis",
                                  "layers.UnitNormalization.axis",
                                  "constraints.MaxNorm.axis",
                                  "constraints.UnitNorm.axis",
                                  "constraints.MinMaxNorm.axis",
                                  "losses.CategoricalFocalCrossentropy.alpha",
                                  "layers.Normalization.axis",
                                  "layers.Masking.mask_value",
                                  "regularizers.OrthogonalRegularizer.factor"};
// What Tandem has otherwise, or not.
const std::set<std::string> otherwise{"amsgrad",
                                      "go_backwards",
                                      "dropout",
                                      "recurrent_dropout",  // off by default; checked by presence below
                                      "use_ema",
                                      "ema_momentum",  // optim/average.hpp
                                      "return_state",
                                      "unroll",  // states are always returned; functions unroll
                                      "mask_zero",
                                      "pool_size",
                                      "size",
                                      "padding",                             // arguments without a default
                                      "layers.Concatenate.axis",             // an argument, below
                                      "optimizers.Adafactor.relative_step",  // has no effect in Keras
                                      "from_sorted_ids",
                                      "multi_label",
                                      "renorm",
                                      "renorm_momentum",
                                      "synchronized",
                                      "sparse",
                                      "pad_to_aspect_ratio",
                                      "fill_value",
                                      "antialias",
                                      "initializers.VarianceScaling.scale",  // arguments without a default
                                      "initializers.Constant.value",
                                      "layers.RNN.zero_output_for_mask",
                                      "layers.StringLookup.num_oov_indices",  // tests/strings
                                      "layers.StringLookup.invert",
                                      "layers.StringLookup.pad_to_max_tokens",
                                      "layers.TextVectorization.pad_to_max_tokens",
                                      "layers.TextVectorization.ragged"};

// The mean, the deviation and the largest magnitude of what is drawn.
std::vector<double> moments(const Initializer& initializer, const Tensor& shape) {
  Shape s;
  for (const double d : shape.to_vector<double>()) s.push_back(static_cast<i64>(d));
  const Tensor x = initializer(s, float64);
  return {reduce_mean(x).item<double>(), reduce_std(x).item<double>(), reduce_max(abs(x)).item<double>()};
}

}  // namespace

TEST_CASE("Keras 3: the defaults of options") {
  const auto keras = defaults_of_keras();
  REQUIRE(keras.size() > 200);
  for (const auto& [name, number] : defaults) {
    INFO(name);
    REQUIRE(keras.count(name));
    CHECK(number == keras.at(name));
  }
  for (const auto& [name, number] : keras) {
    if (name.find("Spectrogram.") != std::string::npos) continue;  // tests/signal
    const std::string option = option_of(name);
    INFO(name);
    CHECK((defaults.count(name) || shown.count(name) || shown.count(option) || otherwise.count(name) ||
           otherwise.count(option)));
    if (option == "use_ema" || option == "return_state" || option == "unroll" || option == "sparse") CHECK(number == 0);
  }
  CHECK(layers::Concatenate()({ones({1, 2}), ones({1, 3})}).shape() == Shape{1, 5});
}

TEST_CASE("Keras 3: what initializers draw") {
  using namespace initializers;
  const std::map<std::string, Initializer> all{
      {"RandomUniform", RandomUniform()},
      {"RandomNormal", RandomNormal()},
      {"TruncatedNormal", TruncatedNormal()},
      {"GlorotUniform", GlorotUniform()},
      {"GlorotNormal", GlorotNormal()},
      {"HeUniform", HeUniform()},
      {"HeNormal", HeNormal()},
      {"LecunUniform", LecunUniform()},
      {"LecunNormal", LecunNormal()},
      {"VarianceScaling", VarianceScaling(1, Initializer::Fan::in, Initializer::Kind::truncated_normal)}};
  const std::map<std::string, Initializer> same{
      {"Zeros", Zeros()}, {"Ones", Ones()}, {"Constant", Constant(0)}, {"Identity", Identity()}};
  std::size_t met = 0;
  for (const auto& [name, c] : ::golden::detail::load("keras")) {
    if (name.rfind("initializer.", 0) != 0) continue;
    const std::string of = name.substr(12, name.find(':') - 12);
    INFO(name);
    if (same.count(of)) {
      ++met;
      CHECK(same.at(of)({3, 3}, float64).to_vector<double>() == c.y[0].to_vector<double>());
      continue;
    }
    if (of == "Orthogonal") {
      const Tensor x = Orthogonal()({4, 6}, float64);
      CHECK(reduce_max(abs(matmul(x, x, {.transpose_b = true}) - c.y[0])).item<double>() < 1e-12);
      continue;
    }
    ++met;
    const std::vector<double> want = c.y[0].to_vector<double>(), got = moments(all.at(of), c.x[0]);
    // At least 10^6 numbers on both sides: six standard errors of means and deviations; extremes of bounded ones.
    CHECK(std::fabs(got[0] - want[0]) < 0.009 * want[1]);
    CHECK(std::fabs(got[1] / want[1] - 1) < 0.006);
    if (of != "RandomNormal") CHECK(std::fabs(got[2] / want[2] - 1) < 1e-3);
  }
  CHECK(met == 34);
}

TEST_CASE("Keras 3: what noise in training does to ones") {
  const Tensor x = ones({1000, 1000}, float64);
  const std::map<std::string, Tensor> all{{"Dropout", layers::Dropout(.3)(x, {.training = true})},
                                          {"GaussianNoise", layers::GaussianNoise(.5)(x, {.training = true})},
                                          {"GaussianDropout", layers::GaussianDropout(.3)(x, {.training = true})},
                                          {"AlphaDropout", layers::AlphaDropout(.3)(x, {.training = true})}};
  std::size_t met = 0;
  for (const auto& [name, c] : ::golden::detail::load("keras")) {
    if (name.rfind("noise.", 0) != 0) continue;
    INFO(name);
    ++met;
    const Tensor& y = all.at(name.substr(6, name.find(':') - 6));
    const std::vector<double> want = c.y[0].to_vector<double>();
    // 10^6 numbers on both sides: six standard errors.
    CHECK(std::fabs(reduce_mean(y).item<double>() - want[0]) < 0.009 * want[1]);
    CHECK(std::fabs(reduce_std(y).item<double>() / want[1] - 1) < 0.009);
  }
  CHECK(met == all.size());
}

}  // namespace keras_defaults_test
