// Connectionist temporal classification: the loss of label sequences that are not aligned with their inputs, and the
// greedy decoder. Composites.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::nn {

struct CtcLossOptions {
  TANDEM_OP_OPTIONS;
  bool logits_time_major = true;  ///< logits are [t, b, c]; otherwise [b, t, c]
  i64 blank_index = 0;  ///< the class of the blank, as in Keras 3 and PyTorch; negative: counted from the last
};
/// The negative logarithm of the probability that the steps' classes give a label sequence: repeated classes are
/// merged, then blanks removed. Infinite where the labels do not fit into the steps; a sequence without labels is all
/// blanks, one without steps has the loss 0 if it has no labels.
///   labels        int32 or int64 [b, l], classes other than the blank; what is behind label_length is ignored
///   logits        floating [t, b, c], unnormalized; t, b, c and l must be known. Steps from logit_length on are
///                 ignored, NaN included
///   label_length  int32 or int64 [b], in [0, l]
///   logit_length  int32 or int64 [b], in [0, t]
///   returns       [b], of the logits' dtype
///   throws        errors::InvalidArgumentError for other shapes or dtypes, for t = 0, for a blank_index outside [-c,
///                 c), a label outside [0, c) or of the blank, or a length out of range, with its position
///   gradient      to logits; 0 where the loss is infinite
///   source        Graves, Fernandez, Gomez, Schmidhuber, "Connectionist Temporal Classification", 2006
TANDEM_API Tensor ctc_loss(const Tensor& labels, const Tensor& logits, const Tensor& label_length,
                           const Tensor& logit_length, CtcLossOptions = {});

struct CtcGreedyDecoderOptions {
  TANDEM_OP_OPTIONS;
  bool merge_repeated = true;  ///< equal classes of adjacent steps count once
  i64 blank_index = 0;         ///< as in ctc_loss; TensorFlow's decoder has the last class, -1
};
/// The classes of all sequences, one after another.
struct CtcDecoded {
  Tensor values;          ///< int64 [the sum of row_lengths]
  Tensor row_lengths;     ///< int64 [b]
  Tensor neg_sum_logits;  ///< [b, 1]: minus the sum of each step's largest logit
};
/// Takes the most probable class of each step, merges repeated ones and removes blanks.
///   inputs           floating [t, b, c]
///   sequence_length  int32 or int64 [b], in [0, t]: how many steps belong to each sequence; the others may be NaN
///   throws           errors::InvalidArgumentError for other shapes or dtypes, a blank_index outside [-c, c), or a
///                    length out of range, with its position
///   gradient         to inputs through neg_sum_logits
TANDEM_API CtcDecoded ctc_greedy_decoder(const Tensor& inputs, const Tensor& sequence_length,
                                         CtcGreedyDecoderOptions = {});

}  // namespace TANDEM_NS::nn
