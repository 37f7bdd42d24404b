// Includes the public declarations of the ops of nn.hpp.
#pragma once
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/nn/adaptive_pool.hpp"
#include "tandem/ops/nn/attention.hpp"
#include "tandem/ops/nn/batch_norm.hpp"
#include "tandem/ops/nn/conv.hpp"
#include "tandem/ops/nn/conv_transpose.hpp"
#include "tandem/ops/nn/cross_entropy.hpp"
#include "tandem/ops/nn/ctc.hpp"
#include "tandem/ops/nn/embedding.hpp"
#include "tandem/ops/nn/fused_conv.hpp"
#include "tandem/ops/nn/gru.hpp"
#include "tandem/ops/nn/information.hpp"
#include "tandem/ops/nn/layer_norm.hpp"
#include "tandem/ops/nn/lstm.hpp"
#include "tandem/ops/nn/moments.hpp"
#include "tandem/ops/nn/pool.hpp"
#include "tandem/ops/nn/recipes.hpp"
#include "tandem/ops/nn/softmax.hpp"
#include "tandem/ops/nn/weighted_moments.hpp"
#include "tandem/ops/random/sampled_loss.hpp"

namespace TANDEM_NS::linalg {
using nn::l2_normalize;
}  // namespace TANDEM_NS::linalg
namespace TANDEM_NS::math {
using nn::l2_normalize, nn::zero_fraction;
}  // namespace TANDEM_NS::math
