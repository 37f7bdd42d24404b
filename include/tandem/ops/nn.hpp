// Includes the public declarations of the ops of nn.hpp.
#pragma once
#include "tandem/ops/attention/attention.hpp"
#include "tandem/ops/conv/adaptive_pool.hpp"
#include "tandem/ops/conv/channels.hpp"
#include "tandem/ops/conv/conv.hpp"
#include "tandem/ops/conv/conv_transpose.hpp"
#include "tandem/ops/conv/fused_conv.hpp"
#include "tandem/ops/conv/pool.hpp"
#include "tandem/ops/embedding/embedding.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/norm/batch_norm.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/norm/moments.hpp"
#include "tandem/ops/norm/weighted_moments.hpp"
#include "tandem/ops/random/sampled_loss.hpp"
#include "tandem/ops/rnn/gru.hpp"
#include "tandem/ops/rnn/last_relevant.hpp"
#include "tandem/ops/rnn/lstm.hpp"
#include "tandem/ops/softmax/cross_entropy.hpp"
#include "tandem/ops/softmax/ctc.hpp"
#include "tandem/ops/softmax/information.hpp"
#include "tandem/ops/softmax/scores.hpp"
#include "tandem/ops/softmax/softmax.hpp"

namespace TANDEM_NS::linalg {
using nn::l2_normalize;
}  // namespace TANDEM_NS::linalg
namespace TANDEM_NS::math {
using nn::l2_normalize, nn::zero_fraction;
}  // namespace TANDEM_NS::math
