// Fuses elementwise ops into the reduction that is the only consumer of their result. Benchmark row: word2vec @traced
// (the sums of its loss).
#pragma once
#include <optional>

#include "tandem/core/backend.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/ops/fused/fused_reduce.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_LAZY class ReductionFuser {
 public:
  explicit ReductionFuser(const Graph& g) : rewrite_(g) {}
  Ref<Graph> run() {
    for (const NodeId i : rewrite_.graph->nodes.ids()) {
      Node& n = rewrite_.node(i);
      if (const auto reduction = reduction_of(n)) fuse(n, *reduction, rewrite_.effects_before(i));
    }
    return rewrite_.finish();
  }

 private:
  static std::optional<Reduction> reduction_of(const Node& n) {
    if (n.op == &reduce_sum_op) return Reduction::sum;
    if (n.op == &reduce_mean_op) return Reduction::mean;
    if (n.op == &reduce_max_op) return Reduction::max;
    if (n.op == &reduce_min_op) return Reduction::min;
    return {};
  }
  void fuse(Node& n, Reduction reduction, int effects) {
    const NodeId at = rewrite_.producer(n.in[0]);
    const Spec& s = rewrite_.spec(n.in[0]);
    const auto& a = n.attrs.get<rules::ReduceAttrs>();
    if (!rewrite_.has_one_use(n.in[0]) || rewrite_.effects_before(at) != effects ||
        !has_kernel(fused_reduce_op, s.device) || !dtypes::floating.has(s.dtype) ||
        !names_last_axes(a.axis.mask(n.op->name, s.shape.rank()), s.shape.rank()))
      return;
    const Node& producer = rewrite_.graph->nodes[at];
    const Ref<FusedProgram> program = program_of(producer);
    if (!program || !pays(*program, s, rewrite_.spec(n.first_out))) return;
    n.op = &fused_reduce_op;
    n.attrs = rules::FusedReduceAttrs{program, reduction, a.axis, a.keepdims};
    n.in = producer.in;
    rewrite_.remove(at);
  }
  // The node's computation as a program with one result; null if there is none.
  Ref<FusedProgram> program_of(const Node& n) const {
    if (n.outputs != 1) return {};
    if (n.op == &fused_op) return n.attrs.get<rules::FusedAttrs>().program;
    if (!is_fusible(*rewrite_.graph, n)) return {};
    std::vector<int> inputs;
    std::vector<DType> dtypes;
    for (ValueId v : n.in) {
      inputs.push_back(static_cast<int>(inputs.size()));
      dtypes.push_back(rewrite_.spec(v).dtype);
    }
    LeanVector<FusedProgram::Instruction> code(1);
    code[0] = {n.op, n.attrs, {}, rewrite_.spec(n.first_out).dtype};
    for (int i : inputs) code[0].in.push_back(i);
    return make_ref<FusedProgram>(std::move(dtypes), std::move(code),
                                  std::vector<int>{static_cast<int>(inputs.size())});
  }
  // A reduction of medium length runs on one thread; if its operand is expensive enough for several threads, they
  // are better run separately.
  static bool pays(const FusedProgram& program, const Spec& operand, const Spec& reduced) {
    constexpr double most = 20000;  // ns
    constexpr i64 one_chunk = 65536;
    if (!operand.shape.is_fully_defined() || reduced.shape.size() == 0) return true;
    const i64 size = operand.shape.size();
    return size / reduced.shape.size() > one_chunk || reduced.shape.size() >= 8 ||
           static_cast<double>(size) * program.cost() < most;
  }

  Rewrite rewrite_;
};

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> fuse_reductions(const Graph& from) { return detail::ReductionFuser(from).run(); }

}  // namespace TANDEM_NS
