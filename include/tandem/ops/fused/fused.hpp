// fused: a group of elementwise ops as one op, whose attribute is a program (attrs/fused.hpp). Created by the pass
// `fuse` (graph/passes/passes.hpp). Not here: how the program is executed (cpu/fused/fused.hpp).
#pragma once
#include "tandem/attrs/fused.hpp"
#include "tandem/core/op.hpp"

namespace TANDEM_NS {

/// Computes the program's outputs, all with the broadcast shape of its inputs. It has no gradient: gradients are
/// computed before fusion.
extern TANDEM_API const OpDef fused_op;

/// Whether the op is fully defined by its loop, so that a program may contain it.
///  last  dtype of the op's last input
inline bool can_fuse(const OpDef& op, DType last, const Attrs& attrs) { return op.loop && op.loop(last, attrs).run; }

namespace detail {
Specs infer_program(const InferCall& c, const FusedProgram& p);
}  // namespace detail

}  // namespace TANDEM_NS
