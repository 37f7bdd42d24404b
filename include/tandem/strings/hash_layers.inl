// Definitions of strings/hash_layers.hpp.
#pragma once
#include <string>
#include <vector>

#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/strings/hash_layers.hpp"
#include "tandem/strings/numbers.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE Hashing::Hashing(i64 num_bins, const HashingOptions& options)
    : Layer("hashing"), num_bins_(detail::positive("Hashing", "num_bins", num_bins)), options_(options) {}
TANDEM_INLINE Tensor Hashing::operator()(const Tensor& x) const {
  const InCall here(*this);
  if (x.dtype() != DType::string && !is_integer(x.dtype()))
    errors::raise<errors::InvalidArgumentError>("Hashing", "needs strings or integers, not " + to_string(x.spec()));
  const Tensor text = x.dtype() == DType::string ? x : strings::as_string(x);
  const bool masks = options_.mask_value && num_bins_ > 1;
  const i64 buckets = masks ? num_bins_ - 1 : num_bins_;
  Tensor ids = options_.salt ? strings::to_hash_bucket_strong(text, buckets, *options_.salt)
                             : strings::to_hash_bucket_fast(text, buckets);
  if (masks) ids = where(equal(text, constant(*options_.mask_value)), i64{0}, ids + 1);
  return options_.output_mode(ids, num_bins_, options_.dtype);
}

TANDEM_INLINE HashedCrossing::HashedCrossing(i64 num_bins, const HashedCrossingOptions& options)
    : Layer("hashed_crossing"), num_bins_(detail::positive("HashedCrossing", "num_bins", num_bins)), options_(options) {
  if (options.output_mode != OutputMode::integer && options.output_mode != OutputMode::one_hot)
    errors::raise<errors::InvalidArgumentError>("HashedCrossing", "output_mode must be integer or one_hot");
}
TANDEM_INLINE Tensor HashedCrossing::operator()(const TensorList& inputs) const {
  const InCall here(*this);
  if (inputs.size() < 2)
    errors::raise<errors::InvalidArgumentError>(
        "HashedCrossing", "needs two inputs or more, not " + std::to_string(inputs.size()) + "; of one use Hashing");
  const Shape& s = inputs[0].shape();
  if (s.rank() > 2 || (s.rank() == 2 && !Shape{s.dim(1)}.is_compatible_with(Shape{1})))
    errors::raise<errors::InvalidArgumentError>(
        "HashedCrossing", "needs inputs [batch], [batch, 1] or [], not " + to_string(inputs[0].spec()));
  std::vector<Tensor> columns(inputs.begin(), inputs.end());
  for (Tensor& x : columns)  // a trace may not know that they have one column
    if (x.rank() == 2 && x.shape().dim(1) == none) x = ensure_shape(x, {none, 1});
  return options_.output_mode(strings::cross_hashed(columns, num_bins_), num_bins_, options_.dtype);
}

}  // namespace TANDEM_NS::layers
