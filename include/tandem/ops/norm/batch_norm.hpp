// nn::batch_normalization with given statistics, and nn::fused_batch_norm, whose training form is one kernel forward
// and one backward.
// Not here: the layer with its moving averages (layers/normalization.hpp), statistics per example (layer_norm.hpp).
#pragma once
#include "tandem/attrs/norm.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/data_format.hpp"

namespace TANDEM_NS {
namespace nn {

/// Normalizes by given statistics: (x - mean) * scale / sqrt(variance + variance_epsilon) + offset.
///   x         floating; the other tensors have its dtype and broadcast to its shape
///   offset, scale   may be unset: Tensor()
///   gradient  to all inputs
///   source    Ioffe and Szegedy 2015, "Batch Normalization"
TANDEM_API Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& offset,
                                      const Tensor& scale, double variance_epsilon, OpOptions = {});

struct FusedBatchNormOptions {
  TANDEM_OP_OPTIONS;
  Tensor mean = {};      ///< [channels]: the statistics used if not training, or those updated by the average factor
  Tensor variance = {};  ///< [channels]
  double epsilon = 0.001;
  DataFormat data_format = DataFormat::channels_last;
  bool is_training = true;
  double exponential_avg_factor = 1;  ///< share of the batch in the returned statistics; below 1 needs mean, variance
};
struct FusedBatchNorm {
  Tensor y, mean, variance;  ///< shape of x; statistics: [channels]
};
/// Batch normalization: (x - mean) * scale / sqrt(variance + epsilon) + offset for each channel. In training, mean and
/// population variance are those of the batch; otherwise they are given.
///   x         floating, rank 2 to 5, channels on the last axis or on axis 1; squares of differences from the mean must
///             not overflow: in float32, below 1e19
///   scale, offset   [channels], dtype of x
///   returns   y with the shape of x; in training the batch's mean and its variance times n / (n - 1), for moving
///             averages, or old * (1 - f) + batch * f with the average factor f; otherwise the given statistics. NaN
///             statistics for an empty batch
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match, or if mean and variance are missing
///             where they are needed
///   gradient  exact, to x (through the batch's statistics in training), scale, offset and the statistics
TANDEM_API FusedBatchNorm fused_batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                           FusedBatchNormOptions = {});

}  // namespace nn

TANDEM_OPS(batch_norm_ops, fused_batch_norm, fused_batch_norm_grad)

}  // namespace TANDEM_NS
