// Definitions of layers/preprocessing.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tandem/core/print.hpp"
#include "tandem/layers/preprocessing.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/norm/moments.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS::layers {

namespace detail {
inline Tensor floating(const Tensor& x) { return is_floating(x.dtype()) ? x : cast(x, DType::float32); }
// gather names an element that is not in the range, and its position.
TANDEM_INLINE Tensor in_range(const char* layer, const Tensor& x, i64 n) {
  return gather(range(i64(0), n), cast(x, DType::int64), {.name = layer});
}
TANDEM_INLINE void check_integers(const char* layer, const Tensor& x) {
  if (!dtypes::index.has(x.dtype()))
    errors::raise<errors::InvalidArgumentError>(layer, "x must be int32 or int64, not " + to_string(x.spec()));
}
TANDEM_INLINE void raise_empty(const char* layer) {
  errors::raise<errors::InvalidArgumentError>(layer, "cannot adapt to empty data");
}

/// A float64 statistic in float32.
///   throws  errors::InvalidArgumentError, in the name of Normalization, for one that is not finite then
TANDEM_INLINE Tensor in_float32(const char* what, const Tensor& statistic) {
  const Tensor narrow = cast(statistic, DType::float32);
  if (reduce_all(is_finite(narrow)).item<bool>()) return narrow;
  const std::vector<float> values = reshape(narrow, {-1}).to_vector<float>();
  const auto at = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  const double exact = reshape(statistic, {-1}).to_vector<double>()[static_cast<std::size_t>(at - values.begin())];
  const Shape& shape = statistic.shape();
  const std::string which = std::string("the ") + what +
                            (shape.rank() > 0 ? " of column " + index_to_string(shape, at - values.begin()) : "") +
                            " is ";
  errors::raise<errors::InvalidArgumentError>(
      "Normalization",
      which + (std::isfinite(exact)
                   ? "beyond the range of float32, in which it is kept; scale the data first, for example by Rescaling"
               : std::isnan(exact) ? "NaN: the data has NaN or infinities there; replace them first"
                                   : "infinite: the data has infinities there, which must be replaced first, or "
                                     "squares beyond float64: scale it first"));
}
TANDEM_INLINE void RunningMoments::add(const Tensor& batch) {
  if (batch.size() == 0) return;
  const std::uint32_t kept = kept_.mask("Normalization", batch.rank());
  Shape shape;
  Axes over = Axes::none();
  for (int i = 0; i < batch.rank(); ++i)
    if (kept >> i & 1u) shape.push_back(batch.shape().dim(i));
    else over.push_back(i);
  if (count_ > 0 && !(shape == shape_))
    errors::raise<errors::InvalidArgumentError>(
        "Normalization",
        "statistics of shape " + to_string(shape) + " differ from those of the elements before, " + to_string(shape_));
  shape_ = shape;
  // In parts: a copy of everything in float64 would take several times its memory.
  constexpr i64 part = i64{1} << 20;
  const i64 n = batch.rank() > 0 ? batch.shape().dim(0) : 1;
  if (batch.size() <= part || (kept & 1u)) return add_part(batch, over);
  const i64 rows = std::max<i64>(part / (batch.size() / n), 1);
  for (i64 i = 0; i < n; i += rows) add_part(batch(Slice(i, std::min(i + rows, n))), over);
}
TANDEM_INLINE void RunningMoments::add_part(const Tensor& part, const Axes& over) {
  const nn::Moments m = nn::moments(cast(part, DType::float64), over);
  const auto n = static_cast<double>(part.size() / std::max<i64>(m.mean.size(), 1));
  const double sum = count_ + n;
  if (count_ == 0) {
    mean_ = m.mean, variance_ = m.variance;
  } else {
    const Tensor d = m.mean - mean_;
    mean_ = mean_ + d * (n / sum);
    variance_ = variance_ * (count_ / sum) + m.variance * (n / sum) + d * d * (count_ / sum * (n / sum));
  }
  count_ = sum;
}
}  // namespace detail

TANDEM_INLINE Tensor Rescaling::operator()(const Tensor& x) const {
  const InCall here(*this);
  return detail::floating(x) * scale_ + offset_;
}

TANDEM_INLINE Normalization::Normalization(NormalizationOptions options) : Layer("normalization"), options_(options) {
  if (options.mean.is_set() != options.variance.is_set())
    errors::raise<errors::InvalidArgumentError>("Normalization", "needs both .mean and .variance, or neither");
}
TANDEM_INLINE void Normalization::adapt(const Tensor& data) const {
  detail::RunningMoments moments = begin_adapt();
  moments.add(data);
  learn(moments);
}
TANDEM_INLINE detail::RunningMoments Normalization::begin_adapt() const {
  if (options_.mean.is_set())
    errors::raise<errors::FailedPreconditionError>("Normalization", ".mean and .variance are given");
  return detail::RunningMoments(options_.axis);
}
TANDEM_INLINE void Normalization::learn(const detail::RunningMoments& moments) const {
  if (moments.is_empty()) detail::raise_empty("Normalization");
  const Shape& shape = moments.shape();
  if (is_built() && !(variable(0).shape() == shape))
    errors::raise<errors::InvalidArgumentError>(
        "Normalization",
        "statistics of shape " + to_string(shape) + " differ from the present ones, " + to_string(variable(0).shape()));
  const Tensor mean = detail::in_float32("mean", moments.mean());
  const Tensor variance = detail::in_float32("variance", moments.variance());
  make_statistics(shape);
  variable(0).assign(mean);
  variable(1).assign(variance);
}
TANDEM_INLINE void Normalization::make_statistics(const Shape& shape) const {
  add_weights({{"mean", shape, initializers::Zeros(), DType::float32, {}, {}, false},
               {"variance", shape, initializers::Ones(), DType::float32, {}, {}, false}});
}
// Those of a checkpoint that was restored before adapt() are made here.
TANDEM_INLINE void Normalization::check_sizes(const Tensor& x, std::uint32_t kept) const {
  if (!is_built() && !is_expected())
    errors::raise<errors::FailedPreconditionError>("Normalization",
                                                   "has no statistics: call adapt(data), or give .mean and .variance");
  Shape sizes;
  for (int i = 0; i < x.rank(); ++i)
    if (kept >> i & 1u) sizes.push_back(x.shape().dim(i));
  if (!is_built()) {
    if (!sizes.is_fully_defined())
      errors::raise<errors::InvalidArgumentError>(
          "Normalization", "the sizes of its axes must be known at the first call: " + to_string(x.spec()));
    make_statistics(sizes);
  }
  if (!sizes.is_compatible_with(variable(0).shape()))
    errors::raise<errors::InvalidArgumentError>(
        "Normalization",
        "the statistics have the shape " + to_string(variable(0).shape()) + ", the input is " + to_string(x.spec()));
}
TANDEM_INLINE Tensor Normalization::operator()(const Tensor& input) const {
  const InCall here(*this);
  const Tensor x = detail::floating(input);
  const std::uint32_t kept = options_.axis.mask("Normalization", x.rank());
  const bool given = options_.mean.is_set();
  if (!given) check_sizes(x, kept);
  const auto spread = [&](const Tensor& statistic) {
    const Tensor t = cast(statistic, x.dtype());
    return given ? t : tandem::detail::along_axes(t, kept, x);
  };
  const Tensor mean = spread(given ? options_.mean : variable(0).value());
  const Tensor deviation = maximum(sqrt(spread(given ? options_.variance : variable(1).value())), 1e-7);
  return options_.invert ? x * deviation + mean : (x - mean) / deviation;
}

TANDEM_INLINE CategoryEncoding::CategoryEncoding(i64 num_tokens, CategoryEncodingOptions options)
    : Layer("category_encoding"),
      num_tokens_(detail::positive("CategoryEncoding", "num_tokens", num_tokens)),
      options_(options) {
  if (options.output_mode == OutputMode::integer)
    errors::raise<errors::InvalidArgumentError>("CategoryEncoding", "output_mode must be one_hot, multi_hot or count");
}
TANDEM_INLINE Tensor CategoryEncoding::encoded(const Tensor& input, const Tensor& weights) const {
  detail::check_integers("CategoryEncoding", input);
  const bool is_one_hot = options_.output_mode == OutputMode::one_hot;
  Tensor x = detail::in_range("CategoryEncoding", input, num_tokens_);
  if (is_one_hot && x.rank() > 1 && x.shape().dim(-1) == 1) x = squeeze(x, {-1});
  if (!is_one_hot && x.rank() == 0) x = expand_dims(x, 0);
  const Tensor rows = one_hot(x, num_tokens_, {.dtype = options_.dtype});
  if (is_one_hot) return rows;
  if (options_.output_mode == OutputMode::multi_hot)
    return maximum(reduce_max(rows, {.axis = -2}), 0);  // 0 also without categories
  return reduce_sum(weights.is_set() ? rows * expand_dims(cast(weights, options_.dtype), -1) : rows, {.axis = -2});
}
TANDEM_INLINE Tensor CategoryEncoding::operator()(const Tensor& x) const {
  const InCall here(*this);
  return encoded(x, {});
}
TANDEM_INLINE Tensor CategoryEncoding::operator()(const Tensor& x, const Tensor& count_weights) const {
  const InCall here(*this);
  if (options_.output_mode != OutputMode::count || !x.shape().is_compatible_with(count_weights.shape()))
    errors::raise<errors::InvalidArgumentError>(
        "CategoryEncoding", "count_weights are for OutputMode::count, and have the shape of x: " + to_string(x.spec()) +
                                ", " + to_string(count_weights.spec()));
  return encoded(x, count_weights);
}

TANDEM_INLINE Tensor Masking::operator()(const Tensor& x) const {
  const InCall here(*this);
  return where(expand_dims(compute_mask(x), -1), x, tandem::detail::scalar_like(0, x));
}
TANDEM_INLINE Tensor Masking::compute_mask(const Tensor& x) const {
  if (x.rank() < 1)
    errors::raise<errors::InvalidArgumentError>("Masking", "needs an axis of features, not " + to_string(x.spec()));
  return reduce_any(x != mask_value_, {.axis = -1});
}

}  // namespace TANDEM_NS::layers
