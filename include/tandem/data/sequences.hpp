// pad_sequences: lists of different lengths as one tensor. Part of the component tandem::data.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "tandem/core/tensor.hpp"

namespace TANDEM_NS::data {

/// An end of a sequence: its beginning or its end.
enum class Side { pre, post };

struct PadSequencesOptions {
  std::optional<i64> maxlen = {};  ///< default: the longest length
  Side padding = Side::pre;        ///< where values are added to shorter sequences
  Side truncating = Side::pre;     ///< where longer ones are cut
  std::int32_t value = 0;          ///< what is added
};
struct PaddedSequences {
  Tensor sequences;  ///< int32 [n, maxlen]
  Tensor lengths;    ///< int32 [n]: the number of elements that are not padding
};
/// Pads and cuts sequences to one length. Defaults are Keras': both at the beginning; with masks or lengths, `.padding
/// = Side::post` is usual.
///   throws  errors::InvalidArgumentError for a negative maxlen
TANDEM_API PaddedSequences pad_sequences(const std::vector<std::vector<std::int32_t>>& sequences,
                                         PadSequencesOptions = {});

}  // namespace TANDEM_NS::data
