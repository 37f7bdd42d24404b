// Layers that prepare inputs: Rescaling, Normalization, CategoryEncoding, Masking. Only Normalization has Variables,
// and none of them learns. Not here: Discretization, IntegerLookup (discrete.hpp), StringLookup
// (tandem/strings/lookup_layer.hpp), layers for images (resizing.hpp, padding.hpp).
#pragma once
#include <optional>
#include <vector>

#include "tandem/base/axes.hpp"
#include "tandem/layers/adapt.hpp"
#include "tandem/layers/layer.hpp"

namespace TANDEM_NS::layers {

/// x * scale + offset: Rescaling(1. / 255).
///   x         numbers
///   returns   floating: x's dtype, or float32 for integers
class TANDEM_API Rescaling : public Layer {
 public:
  explicit Rescaling(double scale, double offset = 0) : Layer("rescaling"), scale_(scale), offset_(offset) {}
  Tensor operator()(const Tensor& x) const;

 private:
  double scale_, offset_;
};

struct NormalizationOptions {
  Axes axis = -1;        ///< the axes with statistics of their own; Axes::none(): common ones for all elements
  Tensor mean = {};      ///< in place of adapt(); broadcasts to the shape of the axes
  Tensor variance = {};  ///< both or neither
  bool invert = false;   ///< map normalized values back: x * stddev + mean
};
namespace detail {
/// The mean and the variance of batches that come one after another, in float64. Source: Chan, Golub and LeVeque,
/// "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979.
class TANDEM_API RunningMoments {
 public:
  /// kept  the axes with statistics of their own
  explicit RunningMoments(const Axes& kept) : kept_(kept) {}
  void add(const Tensor& batch);
  /// The shape of the statistics, behind add().
  const Shape& shape() const { return shape_; }
  bool is_empty() const { return count_ == 0; }
  const Tensor& mean() const { return mean_; }
  const Tensor& variance() const { return variance_; }

 private:
  void add_part(const Tensor& part, const Axes& over);
  Axes kept_;
  Shape shape_;
  double count_ = 0;  // of the elements that each statistic is of
  Tensor mean_, variance_;
};
/// Raises where adapt() got nothing to adapt to.
[[noreturn]] TANDEM_API void raise_empty(const char* layer);
}  // namespace detail

/// Normalizes by the statistics of a data set: (x - mean) / max(sqrt(variance), 1e-7). They are given, or computed by
/// adapt().
///   x         numbers; integers become float32
///   throws    errors::FailedPreconditionError before adapt() if there are no given statistics, nor any from a
///             checkpoint; errors::InvalidArgumentError, in the layer's name, for an axis out of range or of another
///             size; from adapt() for a mean or variance beyond float32's range, 3.4e38, which deviations of 1.8e19
///             have (scale such data first), and for data with NaN or infinities
///   variables mean, variance: float32, with the shape of the axes, not trainable; none if they are given
class TANDEM_API Normalization : public Layer {
 public:
  explicit Normalization(NormalizationOptions options = {});
  /// Sets the statistics to those of `data`; replaces those of an earlier call.
  ///   data      numbers, not empty: a batch as the calls get it, usually the whole data set
  ///   throws    errors::FailedPreconditionError if the statistics are given; errors::InvalidArgumentError for empty
  ///             data, an axis out of range, or axes of other sizes than before
  void adapt(const Tensor& data) const;
  /// The same of the elements of a data set, in one pass and bounded memory: batches, or single examples if .axis
  /// counts from the end. A loop over a Dataset is its next epoch: dataset.epoch(0) leaves the count to training.
  ///
  ///   norm.adapt(train.map([](const Tensor& x, const Tensor& label) { return x; }).batch(256));
  template <detail::Batches Data>
  void adapt(const Data& data) const {
    detail::RunningMoments moments = begin_adapt();
    detail::each_batch(data, [&](const Tensor& x) { moments.add(x); });
    learn(moments);
  }
  Tensor operator()(const Tensor& x) const;

 private:
  detail::RunningMoments begin_adapt() const;
  void learn(const detail::RunningMoments& moments) const;
  void make_statistics(const Shape& shape) const;
  void check_sizes(const Tensor& x, std::uint32_t kept) const;
  NormalizationOptions options_;
};

/// How categories are encoded.
enum class OutputMode : std::uint8_t {
  integer,    ///< as their number, int64 (Keras: "int")
  one_hot,    ///< each one as a row with one 1
  multi_hot,  ///< all categories of an example as one row with 1 where they occur
  count       ///< all categories of an example as one row with their numbers of occurrences
};
struct CategoryEncodingOptions {
  OutputMode output_mode = OutputMode::multi_hot;
  DType dtype = DType::float32;
};
/// Encodes categories 0 to num_tokens - 1.
///   x         integers. multi_hot, count: [..., n] (a scalar counts as [1]), to [..., num_tokens]. one_hot: [...] or,
///             of rank 2 or more, [..., 1], to [..., num_tokens]
///   throws    errors::InvalidArgumentError for a category out of range, naming it and its position, an x that is not
///             of integers, or OutputMode::integer
class TANDEM_API CategoryEncoding : public Layer {
 public:
  explicit CategoryEncoding(i64 num_tokens, CategoryEncodingOptions options = {});
  Tensor operator()(const Tensor& x) const;
  /// count: sums of weights, of the shape of x, in place of numbers of occurrences.
  ///   throws    errors::InvalidArgumentError for another mode
  Tensor operator()(const Tensor& x, const Tensor& count_weights) const;

 private:
  Tensor encoded(const Tensor& x, const Tensor& weights) const;
  i64 num_tokens_;
  CategoryEncodingOptions options_;
};

/// Sets the steps of sequences to 0 whose features all equal `mask_value`.
///   x         [..., features], numbers
class TANDEM_API Masking : public Layer {
 public:
  explicit Masking(double mask_value = 0) : Layer("masking"), mask_value_(mask_value) {}
  Tensor operator()(const Tensor& x) const;
  /// bool_ [...], false for those steps: the mask of recurrent and attention layers.
  Tensor compute_mask(const Tensor& x) const;

 private:
  double mask_value_;
};

namespace detail {
/// x, int32 or int64, whose elements must be in [0, n): otherwise raises in the layer's name, with the position.
TANDEM_API Tensor in_range(const char* layer, const Tensor& x, i64 n);
TANDEM_API void check_integers(const char* layer, const Tensor& x);
}  // namespace detail

}  // namespace TANDEM_NS::layers
