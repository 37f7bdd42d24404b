// Definitions of image/flip.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/image/flip.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::image {

namespace impl {
inline Tensor exchanged(const Tensor& x, const OpOptions& o) {
  return x.rank() == 3 ? tandem::transpose(x, {o.name, o.where, {1, 0, 2}})
                       : tandem::transpose(x, {o.name, o.where, {0, 2, 1, 3}});
}
// Reverses an axis of each image, or with a coin for each.
inline Tensor random_flip(const char* op, const Tensor& x, i64 axis, const RandomOptions& o) {
  check_rank(op, x);
  const Dims coins = x.rank() == 4 ? Dims{get_shape(x)[0], 1, 1, 1} : Dims{1, 1, 1};
  const Tensor coin = random::uniform(coins, {.seed = o.seed, .generator = o.generator}) < 0.5;
  return where(coin, reverse(x, axis), x, {o.name, o.where});
}
}  // namespace impl

TANDEM_INLINE Tensor flip_left_right(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "flip_left_right");
  impl::check_rank("flip_left_right", x);
  return reverse(x, -2, o);
}
TANDEM_INLINE Tensor flip_up_down(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "flip_up_down");
  impl::check_rank("flip_up_down", x);
  return reverse(x, -3, o);
}
TANDEM_INLINE Tensor rot90(const Tensor& x, i64 k, OpOptions o) {
  const tandem::detail::CallSite call(o, "rot90");
  impl::check_rank("rot90", x);
  switch (k & 3) {
    case 1: return reverse(impl::exchanged(x, no_options), -3, o);
    case 2: return reverse(x, {-3, -2}, o);
    case 3: return reverse(impl::exchanged(x, no_options), -2, o);
    default: return identity(x, o);
  }
}
TANDEM_INLINE Tensor transpose(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "transpose");
  impl::check_rank("transpose", x);
  return impl::exchanged(x, o);
}
TANDEM_INLINE Tensor random_flip_left_right(const Tensor& x, RandomOptions o) {
  const tandem::detail::CallSite call(o, "random_flip_left_right");
  return impl::random_flip("random_flip_left_right", x, -2, o);
}
TANDEM_INLINE Tensor random_flip_up_down(const Tensor& x, RandomOptions o) {
  const tandem::detail::CallSite call(o, "random_flip_up_down");
  return impl::random_flip("random_flip_up_down", x, -3, o);
}

}  // namespace TANDEM_NS::image
