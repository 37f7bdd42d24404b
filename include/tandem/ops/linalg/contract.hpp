// Labelled: a tensor with a label for each axis, and the contraction of two of them: what einsum and tensordot are made
// of. Not here: equations (einsum.hpp).
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::detail {

/// The labels of a tensor's axes, each at most once.
using Labels = InlinedVector<int, 8>;
/// Labels from here on stand for axes that broadcast (an ellipsis): they are never summed by a product.
inline constexpr int first_broadcast_label = 64;

struct Labelled {
  Tensor tensor;
  Labels labels;
};

bool has_label(const Labels& labels, int label);
/// The position of a label that is there.
int place_of(const Labels& labels, int label);
/// Sums over the labels that are not in `keep`.
Labelled sum_labels(const Labelled& x, const Labels& keep);
/// Transposes to this order of labels; the same tensor if it has it already.
Tensor in_order(const Labelled& x, const Labels& order);
/// The product of two tensors, summed over the labels that both have and `keep` has not: one batched matrix product, or
/// one multiplication where nothing is summed. Labels that one of them has alone must be in `keep`. The labels of the
/// result are those of both, the remaining ones of a first.
Labelled contract(const Labelled& a, const Labelled& b, const Labels& keep);

}  // namespace TANDEM_NS::detail
