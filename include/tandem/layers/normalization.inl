// Definitions of layers/normalization.hpp.
#pragma once
#include "tandem/core/replication.hpp"
#include "tandem/layers/normalization.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/norm/batch_norm.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/norm/moments.hpp"
#include "tandem/ops/norm/weighted_moments.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::layers {

namespace detail {
// The sizes of x on some axes, in the order of x.
TANDEM_INLINE Shape sizes_on(const char* layer, const Tensor& x, const Axes& axes) {
  const std::uint32_t mask = axes.mask(layer, x.rank());
  Shape r;
  for (int i = 0; i < x.rank(); ++i) {
    if (!(mask >> i & 1u)) continue;
    r.push_back(x.shape().dim(i));
    if (r.dim(-1) == none)
      errors::raise<errors::InvalidArgumentError>(
          layer, "the size of axis " + std::to_string(i) + " must be known at the first call: " + to_string(x.spec()));
  }
  return r;
}
inline void check_dtype(const char* layer, const Tensor& x, DType dtype) {
  if (x.dtype() != dtype) raise_input_dtype(layer, x, dtype);
}
}  // namespace detail

TANDEM_INLINE BatchNormalization::BatchNormalization(BatchNormalizationOptions options)
    : Layer("batch_normalization"), options_(options) {
  if (!(options.momentum >= 0 && options.momentum <= 1))
    errors::raise<errors::InvalidArgumentError>("BatchNormalization", "momentum must be in [0, 1]");
}
TANDEM_INLINE int BatchNormalization::channel_axis(const Tensor& x) const {
  if (x.rank() < 2)
    errors::raise<errors::InvalidArgumentError>(
        "BatchNormalization", "needs an input of rank 2 or more, [batch, ..., channels], not " + to_string(x.spec()));
  detail::check_dtype("BatchNormalization", x, options_.dtype);
  return resolve_axis("BatchNormalization", options_.axis, x.rank());
}
TANDEM_INLINE Layer::Weights BatchNormalization::weights_for(const Tensor& x) const {
  const BatchNormalizationOptions& o = options_;
  const Shape channels = detail::sizes_on("BatchNormalization", x, channel_axis(x));
  const DType wide = tandem::detail::widened(o.dtype);
  Weights w;
  if (o.scale) w.push_back({"gamma", channels, o.gamma_initializer, o.dtype, o.gamma_regularizer, o.gamma_constraint});
  if (o.center) w.push_back({"beta", channels, o.beta_initializer, o.dtype, o.beta_regularizer, o.beta_constraint});
  w.push_back({"moving_mean", channels, o.moving_mean_initializer, wide, {}, {}, false});
  w.push_back({"moving_variance", channels, o.moving_variance_initializer, wide, {}, {}, false});
  return w;
}
TANDEM_INLINE void BatchNormalization::check_channels(const Tensor& x, const Tensor& mean) const {
  if (!Shape{x.shape().dim(channel_axis(x))}.is_compatible_with(mean.shape()))
    errors::raise<errors::InvalidArgumentError>("BatchNormalization",
                                                "the layer was built for " + std::to_string(mean.shape().dim(0)) +
                                                    " channels, the input is " + to_string(x.spec()));
}
TANDEM_INLINE BatchNormalization::Result BatchNormalization::by_batch(const Tensor& x, const Tensors& w) const {
  const Shape& channels = w[first_average()].shape();
  const Tensor scale = options_.scale ? gamma(w) : ones(channels, {.dtype = x.dtype()});
  const Tensor offset = options_.center ? beta(w) : zeros(channels, {.dtype = x.dtype()});
  const Tensor* const in[] = {&x, &scale, &offset};
  Tensors out = apply(fused_batch_norm_op, in, rules::BatchNormAttrs{channel_axis(x), options_.epsilon});
  return {std::move(out[0]), std::move(out[1]), std::move(out[2])};
}
// Of the batches of all replicas, of which some may be empty.
TANDEM_INLINE BatchNormalization::Result BatchNormalization::by_replicas(const Tensor& x, const Tensors& w) const {
  Replication& replicas = *tandem::detail::replication;
  const auto sum = [&](const Tensor& t) { return TANDEM_VIRTUAL(replicas, Replication::sum)(t); };
  const int axis = channel_axis(x);
  Axes others = Axes::none();
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) others.push_back(i);
  const Tensor wide = tandem::detail::widened(x);
  const Tensor count = sum(tandem::detail::size_over(x, others, wide.dtype()));
  const Tensor mean = sum(reduce_sum(wide, {.axis = others})) / count;
  const Tensor distance = wide - tandem::detail::along_axes(mean, 1u << axis, x);
  const Tensor variance = sum(reduce_sum(square(distance), {.axis = others})) / count;
  return {by_statistics(x, mean, variance, w), mean, variance, count};
}
// What the mask leaves out is replaced by 0 before anything is computed: it may be NaN.
TANDEM_INLINE BatchNormalization::Result BatchNormalization::by_masked(const Tensor& x, const Tensor& mask,
                                                                       const Tensors& w) const {
  const int axis = channel_axis(x);
  Axes others = Axes::none();
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) others.push_back(i);
  const Tensor wide = tandem::detail::widened(x), kept = where(mask, wide, 0);
  const Tensor mean = nn::masked_mean(kept, mask, {.axis = others});
  const Tensor distance = kept - tandem::detail::along_axes(mean, 1u << axis, x);
  const Tensor variance = nn::masked_mean(square(distance), mask, {.axis = others});
  return {by_statistics(x, mean, variance, w), mean, variance};
}
TANDEM_INLINE Tensor BatchNormalization::by_statistics(const Tensor& x, const Tensor& mean, const Tensor& variance,
                                                       const Tensors& w) const {
  const int axis = channel_axis(x);
  const auto spread = [&](const Tensor& t) {
    return t.is_set() ? tandem::detail::along_axes(tandem::detail::widened(t), 1u << axis, x) : t;
  };
  const Tensor y = nn::batch_normalization(tandem::detail::widened(x), spread(mean), spread(variance), spread(beta(w)),
                                           spread(gamma(w)), options_.epsilon);
  return cast(y, x.dtype());
}
// Parts of a batch that one process computes one after another do not know of each other's moments.
TANDEM_INLINE void check_synchronized(const Replication& replicas) {
  const i64 own = tandem::detail::parts_of_batch;
  if (own <= 1) return;
  const i64 processes = TANDEM_VIRTUAL(replicas, Replication::size)(), parts = own * processes;
  errors::raise<errors::UnimplementedError>(
      "BatchNormalization",
      ".synchronized needs the moments of all rows of a batch, but the strategy divides it into " +
          std::to_string(parts) + " parts for " + std::to_string(processes) +
          " process(es), which compute them one after another: use MultiWorkerMirroredStrategy with a process for each "
          "part and without .virtual_shards, or omit .synchronized");
}
// is_counted: whether the batch has elements, a bool_ scalar; unset: it has.
TANDEM_INLINE void BatchNormalization::move_averages(const Result& batch, const Tensor& is_counted) const {
  const tandem::detail::Unobserved quiet;
  const Variable &mean = variable(first_average()), &variance = variable(first_average() + 1);
  const auto moved = [&](const Variable& moving, const Tensor& statistic) {
    const Tensor next = moving * options_.momentum + statistic * (1 - options_.momentum);
    const tandem::detail::ShapeChecks lenient(false);
    return is_counted.is_set() ? where(is_counted, next, moving) : next;
  };
  const Tensor next_mean = moved(mean, batch.mean), next_variance = moved(variance, batch.variance);
  const tandem::detail::ShapeChecks lenient(false);
  mean.assign(next_mean);
  variance.assign(next_variance);
}
TANDEM_INLINE Tensor BatchNormalization::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  const bool training = call.is_training() && !is_frozen();
  const Replication* const replicas = tandem::detail::replication;
  const bool is_synchronized = options_.synchronized && replicas && TANDEM_VIRTUAL(*replicas, Replication::size)() > 1;
  if (training && options_.synchronized && replicas) check_synchronized(*replicas);
  if (!training && call.may_be_forgotten() && !is_frozen()) detail::warn_inference();
  Result r;
  run_with_weights([&] { return weights_for(x); },
                   [&](const Tensors& w) {
                     const Tensor &mean = w[first_average()], &variance = w[first_average() + 1];
                     check_channels(x, mean);
                     if (!training) r = {by_statistics(x, mean, variance, w), {}, {}};
                     else r = is_synchronized ? by_replicas(x, w) : by_batch(x, w);
                     return r.y;
                   });
  if (!training) return r.y;
  if (is_synchronized) return move_averages(r, r.count > 0), r.y;
  const bool is_known = x.shape().is_fully_defined();
  if (is_known && x.size() == 0) return r.y;  // an empty batch has no statistics
  move_averages(r, is_known ? Tensor() : tandem::detail::size_over(x, Axes(), DType::float32) > 0);
  return r.y;
}
TANDEM_INLINE Tensor BatchNormalization::operator()(const Tensor& all, const Tensor& mask,
                                                    const CallOptions& call) const {
  if (!mask.is_set()) return (*this)(all, call);
  const InCall here(*this);
  const int rank = mask.rank();
  const Shape& steps = mask.shape();
  bool fits = mask.dtype() == DType::bool_ && rank >= 1 && rank < all.rank();
  for (int i = 0; fits && i < rank; ++i) fits = Shape{steps.dim(i)}.is_compatible_with(Shape{all.shape().dim(i)});
  if (!fits)
    errors::raise<errors::InvalidArgumentError>(
        "BatchNormalization", "the mask must be bool with the first sizes of x, " + to_string(all.spec()) + ", not " +
                                  to_string(mask.spec()));
  Tensor wide = mask;
  while (wide.rank() < all.rank()) wide = expand_dims(wide, -1);
  // The gradients of gamma and of the statistics sum products with x over all elements: with gradients of 0 and a NaN
  // they would be NaN.
  const Tensor x = where(logical_or(wide, is_finite(all)), all, tandem::detail::scalar_like(0, all));
  if (!call.is_training() || is_frozen()) return (*this)(x, call);
  Result r;
  run_with_weights([&] { return weights_for(x); },
                   [&](const Tensors& w) {
                     check_channels(x, w[first_average()]);
                     r = by_masked(x, wide, w);
                     return r.y;
                   });
  move_averages(r, reduce_any(mask));
  return r.y;
}

TANDEM_INLINE Tensor LayerNormalization::operator()(const Tensor& x) const {
  const InCall here(*this);
  const LayerNormalizationOptions& o = options_;
  detail::check_dtype("LayerNormalization", x, o.dtype);
  return run_with_weights(
      [&] {
        const Shape shape = detail::sizes_on("LayerNormalization", x, o.axis);
        Weights w;
        if (o.scale)
          w.push_back({"gamma", shape, o.gamma_initializer, o.dtype, o.gamma_regularizer, o.gamma_constraint});
        if (o.center) w.push_back({"beta", shape, o.beta_initializer, o.dtype, o.beta_regularizer, o.beta_constraint});
        return w;
      },
      [&](const Tensors& w) {
        return nn::layer_norm(x, {.axis = o.axis,
                                  .epsilon = o.epsilon,
                                  .scale = o.scale ? w[0] : Tensor(),
                                  .offset = o.center ? w[w.size() - 1] : Tensor()});
      });
}

TANDEM_INLINE Tensor RMSNormalization::operator()(const Tensor& x) const {
  const InCall here(*this);
  const RMSNormalizationOptions& o = options_;
  detail::check_dtype("RMSNormalization", x, o.dtype);
  return run_with_weights(
      [&] {
        return Weights{{"scale", detail::sizes_on("RMSNormalization", x, o.axis), o.scale_initializer, o.dtype,
                        o.scale_regularizer}};
      },
      [&](const Tensors& w) { return nn::rms_norm(x, {.axis = o.axis, .epsilon = o.epsilon, .scale = w[0]}); });
}

TANDEM_INLINE GroupNormalization::GroupNormalization(GroupNormalizationOptions options)
    : Layer("group_normalization"), options_(options) {
  if (options.groups < 1 && options.groups != -1)
    errors::raise<errors::InvalidArgumentError>(
        "GroupNormalization",
        "groups must be positive, or -1 for one for each channel; not " + std::to_string(options.groups));
}
TANDEM_INLINE Tensor GroupNormalization::operator()(const Tensor& x) const {
  const InCall here(*this);
  const GroupNormalizationOptions& o = options_;
  detail::check_dtype("GroupNormalization", x, o.dtype);
  return run_with_weights(
      [&] {
        const Shape channels = detail::sizes_on("GroupNormalization", x, o.axis);
        Weights w;
        if (o.scale)
          w.push_back({"gamma", channels, o.gamma_initializer, o.dtype, o.gamma_regularizer, o.gamma_constraint});
        if (o.center)
          w.push_back({"beta", channels, o.beta_initializer, o.dtype, o.beta_regularizer, o.beta_constraint});
        return w;
      },
      [&](const Tensors& w) {
        const nn::GroupNormOptions norm{.axis = o.axis,
                                        .epsilon = o.epsilon,
                                        .scale = o.scale ? w[0] : Tensor(),
                                        .offset = o.center ? w[w.size() - 1] : Tensor()};
        return o.groups == -1 ? nn::instance_norm(x, norm) : nn::group_norm(x, o.groups, norm);
      });
}

TANDEM_INLINE Tensor UnitNormalization::operator()(const Tensor& x) const {
  const InCall here(*this);
  return nn::l2_normalize(x, {.axis = axis_});
}

}  // namespace TANDEM_NS::layers
