// nn::last_relevant: the last step of each sequence of a batch.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::nn {

/// Returns the output of the last step of each sequence: outputs[i, lengths[i] - 1], and zeros where the length is 0.
///   outputs   numbers or bool_, [batch, time, ...]
///   lengths   int32 or int64 [batch], in [0, time]
///   returns   [batch, ...]
///   throws    errors::InvalidArgumentError if shapes do not match or a length is out of range
///   gradient  g at the steps that were read
TANDEM_API Tensor last_relevant(const Tensor& outputs, const Tensor& lengths, OpOptions = {});

}  // namespace TANDEM_NS::nn
