// LoopSums: the sums that a loop carries, added in blocks. For the definitions of control_ops.hpp.
#pragma once
#include <utility>

#include "tandem/core/apply.hpp"
#include "tandem/graph/control/loop_layout.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/two_sum.hpp"
#include "tandem/util/inlined_vector.hpp"

namespace TANDEM_NS::detail {

/// The body adds to the sum of a block. That is added to the total after each block, and the next block begins with
/// what rounding has left out of the total: the relative error is that of a block, whatever the number of iterations.
/// An iteration costs what it would without blocks; a loop of more than one block has one more tensor for each sum.
class LoopSums {
 public:
  static constexpr i64 block = 64;  // iterations

  TANDEM_LAZY explicit LoopSums(const rules::LoopAttrs& a) {
    for (std::size_t i = 0; i < a.sums.text.size(); ++i)
      if (is_sum(a, i)) sums_.push_back(Sum{i, Tensor()});
  }
  /// To be called after each iteration.
  TANDEM_LAZY void step(Tensors& carried) {
    if (sums_.empty() || ++iterations_ % block) return;
    for (Sum& s : sums_) {
      Tensor& part = carried[static_cast<unsigned>(s.at)];
      if (s.total.is_set()) {
        add_to_total(s.total, part);
      } else {
        s.total = std::move(part);
        part = zeros_like(s.total);
      }
    }
  }
  /// Makes each sum the one of all iterations.
  TANDEM_LAZY void finish(Tensors& carried) {
    for (Sum& s : sums_) {
      if (!s.total.is_set()) continue;
      Tensor& part = carried[static_cast<unsigned>(s.at)];
      part = std::move(s.total) + std::move(part);
    }
  }

 private:
  struct Sum {
    std::size_t at;  // among the carried values
    Tensor total;    // of the blocks that have ended; unset in the first
  };
  TANDEM_LAZY static void add_to_total(Tensor& total, Tensor& part) {
    const Tensor* const in[] = {&total, &part};
    const Specs specs = two_sum_op.infer({two_sum_op, in, no_attrs, no_options});
    Tensor buffers[2];
    for (int k = 0; k < 2; ++k)
      if (in[k]->is_unique()) buffers[k] = *in[k];
    Tensors both = run(two_sum_op, in, no_attrs, specs, buffers);
    total = std::move(both[0]), part = std::move(both[1]);
  }

  InlinedVector<Sum, 2> sums_;
  i64 iterations_ = 0;
};

}  // namespace TANDEM_NS::detail
