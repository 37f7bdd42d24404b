// ControlCode: the definitions of the control-flow ops and of staged loops, by address. Op definitions and layers call
// them through it: a program that makes no graph never reaches them, and in header-only mode does not instantiate
// them.
#pragma once
#include <atomic>
#include <vector>

#include "tandem/core/op.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

namespace control {
struct LoopRequest;
}

namespace detail {

struct ControlCode {
  struct Op {
    Specs (*infer)(const InferCall&);
    Grads (*gradient)(const GradCall&);
    Tensors (*execute)(Inputs, const Attrs&);  // null for views
  };
  Op cond, loop, traced_gradient;
  std::vector<Tensor> (*stage_loop)(const control::LoopRequest&, const OpOptions&);
};

TANDEM_LAZY Specs infer_cond(const InferCall& c);
TANDEM_LAZY Grads cond_gradient(const GradCall& c);
TANDEM_LAZY Tensors execute_cond(Inputs in, const Attrs& attrs);
TANDEM_LAZY Specs infer_loop(const InferCall& c);
TANDEM_LAZY Grads loop_gradient(const GradCall& c);
TANDEM_LAZY Tensors execute_loop(Inputs in, const Attrs& attrs);
TANDEM_LAZY Specs infer_traced_gradient(const InferCall& c);
TANDEM_LAZY Grads traced_gradient_rule(const GradCall& c);

/// Null until a graph has been made.
inline TANDEM_API std::atomic<const ControlCode*> control_code_slot;
/// Sets the slot. Tracers and the loader of saved graphs call it before they make a graph.
TANDEM_LAZY void use_control_code();
inline const ControlCode& control_code() {
  const ControlCode* const code = control_code_slot.load(std::memory_order_acquire);
  if (!code) errors::raise<errors::InternalError>("control flow", "an op was called before a graph was made");
  return *code;
}

}  // namespace detail

}  // namespace TANDEM_NS
