// From operands to a kernel that runs: the one place where kernel calls are built, for eager calls, interpreted and
// planned programs. Not here: tensors (run() in apply.hpp).
#pragma once
#include "tandem/core/backend.hpp"
#include "tandem/core/op.hpp"

namespace TANDEM_NS {

/// The number of inputs and outputs up to which operands are on the stack.
inline constexpr std::size_t few_operands = 8;

/// The call of an op's kernel on `inputs` operands and the `outputs` that follow them.
inline KernelCall kernel_call(const OpDef& op, const Operand* operands, std::size_t inputs, std::size_t outputs,
                              const Attrs& attrs, void* workspace = nullptr) {
  return {{operands, inputs}, {operands + inputs, outputs}, attrs, workspace, op.name, {}};
}
/// Runs the kernel of a call whose buffers and scratch exist: on the CPU at once, elsewhere by a launch.
inline void invoke(const OpDef& op, const KernelCall& call, Stream stream) {
  if (stream.device.kind == Device::cpu) [[likely]]
    return op.cpu(call);
  backend_of(stream.device).launch(op, call, stream);
}

namespace detail {
/// Whether a call with so many inputs has host_inputs: `resolve` then reads these alone.
inline bool has_host_inputs(const OpDef& op, std::size_t inputs) {
  for (std::size_t i = 0; i < inputs; ++i)
    if (lives_on_host(op, i, inputs)) return true;
  return false;
}
/// Raises unless the sizes that an op computed from data are those that its shape rule had given, where it had given
/// any: it takes them from an attribute, which a graph file may hold with other sizes than the data has.
void check_resolved(const OpDef& op, const Specs& resolved, Span<const Spec> given);
/// Runs a kernel on any device with the scratch that it needs; all else in the call is set.
void launch(const OpDef& op, KernelCall& call, Span<const Operand> in);
}  // namespace detail

}  // namespace TANDEM_NS
