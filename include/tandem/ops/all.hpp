// Includes the public declarations of all ops, and defines namespace `math`, which contains them too:
// tandem::math::exp is tandem::exp.
#pragma once
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/debug/print.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/gather_nd.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/index/reverse_sequence.hpp"
#include "tandem/ops/index/rows.hpp"
#include "tandem/ops/index/sort.hpp"
#include "tandem/ops/linalg/band_part.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/linalg/einsum.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/linalg/norm.hpp"
#include "tandem/ops/linalg/products.hpp"
#include "tandem/ops/nn/cross_entropy.hpp"
#include "tandem/ops/nn/gru.hpp"
#include "tandem/ops/nn/lstm.hpp"
#include "tandem/ops/nn/moments.hpp"
#include "tandem/ops/nn/softmax.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/bitwise.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/complex.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/smooth_activation.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/random/candidates.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/ops/random/sample.hpp"
#include "tandem/ops/random/sampled_loss.hpp"
#include "tandem/ops/reduce/arg.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/ops/transfer.hpp"

namespace TANDEM_NS::linalg {
using nn::l2_normalize;
using tandem::eye;
}  // namespace TANDEM_NS::linalg
namespace TANDEM_NS::math {
using namespace tandem;
using nn::l2_normalize, nn::top_k, nn::zero_fraction;
}  // namespace TANDEM_NS::math
