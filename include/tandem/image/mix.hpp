// Mixtures of training examples. Part of the component tandem::image.
#pragma once
#include "tandem/image/shapes.hpp"

namespace TANDEM_NS::image {

/// Images, and the shares of their classes.
struct MixedExamples {
  Tensor images, labels;
};

struct MixOptions {
  TANDEM_OP_OPTIONS;
  double alpha = 0.2;  ///< the share is drawn from Beta(alpha, alpha); cutmix: 1 by default
  std::optional<i64> seed = {};
  const random::Generator* generator = nullptr;
};
/// Mixes each image and its label with another one of the batch: lambda a + (1 - lambda) b (Zhang et al., "mixup",
/// 2018).
///   images    floating, [n, ...]
///   labels    floating, [n, classes]: shares, one_hot for instance
///   throws    errors::InvalidArgumentError for other dtypes, ranks below 1, or an alpha that is not positive
///   gradient  exact
TANDEM_API MixedExamples mixup(const Tensor& images, const Tensor& labels, MixOptions = {});
/// Replaces a rectangle of each image by that of another one of the batch, and mixes the labels by area (Yun et al.,
/// "CutMix", 2019). The rectangle has the images' aspect ratio and lies anywhere; its area is a share 1 - lambda of
/// theirs.
///   images    real numbers, [n, height, width, channels]
///   labels    floating, [n, classes]
///   throws    errors::InvalidArgumentError for other dtypes or ranks, or an alpha that is not positive
///   gradient  exact
TANDEM_API MixedExamples cutmix(const Tensor& images, const Tensor& labels, MixOptions = {.alpha = 1});

}  // namespace TANDEM_NS::image
