// Definitions of image/mix.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/image/mix.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/random/distributions.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/random/sample.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::image {

namespace impl {
inline void check_mix(const char* op, const Tensor& images, const Tensor& labels, const MixOptions& o) {
  if (!is_floating(labels.dtype()) || labels.rank() < 1 || images.rank() < 1)
    raise(op, "needs a batch of images and floating labels [n, classes], not " + to_string(images.spec()) + " and " +
                  to_string(labels.spec()) + " (one_hot makes labels of classes)");
  if (!(o.alpha > 0)) raise(op, "alpha must be positive, not " + tandem::detail::shortest_text(o.alpha));
}
inline Tensor random_order(const Tensor& images, const MixOptions& o) {
  return random::shuffle(cast(range(get_shape(images)[0].value()), DType::int64),
                         {.seed = o.seed, .generator = o.generator});
}
inline Tensor share_of(const MixOptions& o) {
  return random::beta(Shape{}, o.alpha, o.alpha, {.seed = o.seed, .generator = o.generator});
}
inline Tensor mixed_with(const Tensor& x, const Tensor& order, const Tensor& share) {
  const Tensor part = cast(share, x.dtype());
  return x * part + gather(x, order) * (1 - part);
}
}  // namespace impl

TANDEM_INLINE MixedExamples mixup(const Tensor& images, const Tensor& labels, MixOptions o) {
  const tandem::detail::CallSite call(o, "mixup");
  impl::check_mix("mixup", images, labels, o);
  if (!is_floating(images.dtype())) impl::raise("mixup", "images must be floating: " + to_string(images.spec()));
  const Tensor order = impl::random_order(images, o), share = impl::share_of(o);
  return {impl::mixed_with(images, order, share), impl::mixed_with(labels, order, share)};
}
TANDEM_INLINE MixedExamples cutmix(const Tensor& images, const Tensor& labels, MixOptions o) {
  const tandem::detail::CallSite call(o, "cutmix");
  impl::check_mix("cutmix", images, labels, o);
  if (images.rank() != 4)
    impl::raise("cutmix", "images must be [n, height, width, channels], not " + to_string(images.spec()));
  const Tensor order = impl::random_order(images, o), side = sqrt(1 - impl::share_of(o));
  const Tensor center = random::uniform({2}, {.seed = o.seed, .generator = o.generator});
  const std::vector<DimValue> n = get_shape(images);
  // The pixels of an axis that the rectangle covers.
  const auto covered = [&](std::size_t axis) {
    const DimValue& d = n[axis + 1];
    const Tensor size = cast(d.value(), DType::float32), middle = floor(center[static_cast<i64>(axis)] * size);
    const Tensor length = floor(side * size), begin = middle - floor(length / 2.);
    const Tensor at = cast(d.is_known() ? range(d.number) : range(d.tensor), DType::float32);
    return (at >= begin) & (at < begin + length);
  };
  const Tensor rectangle = reshape(covered(0), {-1, 1, 1}) & reshape(covered(1), {1, -1, 1});
  const Tensor share = 1 - reduce_mean(cast(rectangle, DType::float32));
  return {where(rectangle, gather(images, order), images), impl::mixed_with(labels, order, share)};
}

}  // namespace TANDEM_NS::image
