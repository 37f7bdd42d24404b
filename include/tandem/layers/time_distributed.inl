// Definitions of layers/time_distributed.hpp.
#pragma once
#include "tandem/layers/time_distributed.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS::layers::detail {

TANDEM_INLINE Tensor merge_steps(const Tensor& x) {
  if (x.rank() < 2)
    errors::raise<errors::InvalidArgumentError>("TimeDistributed",
                                                "needs [batch, time, ...], not " + to_string(x.spec()));
  const std::vector<DimValue> dims = get_shape(x);
  Dims merged;
  if (dims[0].is_known() && dims[1].is_known()) merged.push_back(dims[0].number * dims[1].number);
  else merged.push_back(dims[0].value() * dims[1].value());
  for (std::size_t i = 2; i < dims.size(); ++i) merged.push_back(dims[i]);
  return reshape(x, merged);
}
TANDEM_INLINE Tensor split_steps(const Tensor& y, const Tensor& x) {
  const std::vector<DimValue> of_x = get_shape(x), of_y = get_shape(y);
  Dims dims{of_x[0], of_x[1]};
  for (std::size_t i = 1; i < of_y.size(); ++i) dims.push_back(of_y[i]);
  return reshape(y, dims);
}

}  // namespace TANDEM_NS::layers::detail
