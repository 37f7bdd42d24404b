// Definitions of ops/fused/fused.hpp.
#pragma once
#include <algorithm>

#include "tandem/cpu/fused/fused.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/fused/fused.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

TANDEM_INLINE FusedProgram::FusedProgram(std::vector<DType> in, LeanVector<Instruction> instructions,
                                         std::vector<int> out)
    : inputs(std::move(in)), code(std::move(instructions)), outputs(std::move(out)) {
  check();
  compiled_ = std::make_unique<cpu::FusedCode>(*this);
}
TANDEM_INLINE FusedProgram::~FusedProgram() = default;
TANDEM_INLINE DType FusedProgram::dtype_of(int value) const {
  const auto v = static_cast<std::size_t>(value);
  return v < inputs.size() ? inputs[v] : code[v - inputs.size()].dtype;
}
TANDEM_INLINE double FusedProgram::cost() const { return compiled_->cost(); }
TANDEM_INLINE void FusedProgram::check() const {
  const auto require = [](bool ok, const char* what) {
    if (!ok) errors::raise<errors::InvalidArgumentError>("fused", what);
  };
  const int first = static_cast<int>(inputs.size()), values = first + static_cast<int>(code.size());
  for (int i = 0; i < values - first; ++i) {
    const Instruction& c = code[static_cast<std::size_t>(i)];
    for (int v : c.in) require(v >= 0 && v < first + i, "an instruction uses a value before it is computed");
    const bool complete = !c.in.empty() && c.in.size() <= 3 && static_cast<int>(c.in.size()) == c.op->inputs;
    require(complete && can_fuse(*c.op, dtype_of(c.in[c.in.size() - 1]), c.attrs), "an instruction has no loop");
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    require(outputs[i] >= first && outputs[i] < values, "an output is not computed by an instruction");
    require(std::find(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(i), outputs[i]) ==
                outputs.begin() + static_cast<std::ptrdiff_t>(i),
            "an output is listed twice");
  }
}

namespace detail {
// The specs of the program's outputs.
TANDEM_INLINE Specs infer_program(const InferCall& c, const FusedProgram& p) {
  if (c.in.size() != p.inputs.size()) raise_specs(c, "the program has " + std::to_string(p.inputs.size()) + " inputs");
  Spec s = c.spec(0);
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    if (c.spec(i).dtype != p.inputs[i]) raise_specs(c, "the dtypes do not match the program's inputs");
    if (!(c.spec(i).shape == s.shape)) s.shape = broadcast_shape(c, s.shape, c.spec(i).shape);
  }
  Specs r;
  for (int v : p.outputs) r.push_back(s).dtype = p.dtype_of(v);
  return r;
}
TANDEM_INLINE Specs infer_fused(const InferCall& c) { return infer_program(c, *c.get<rules::FusedAttrs>().program); }
TANDEM_INLINE void fused_kernel(const KernelCall& c) { c.attrs.get<rules::FusedAttrs>().program->compiled().run(c); }
}  // namespace detail

TANDEM_INLINE constexpr OpDef fused_op{.name = "fused",
                                       .input_names = "inputs...",
                                       .infer = &detail::infer_fused,
                                       .cpu = &detail::fused_kernel,
                                       .cuda = TANDEM_CUDA(&cuda::fused),
                                       .dtype_input = -1,
                                       .inputs = at_least(1),
                                       .outputs = -1,
                                       .saves = Saves::nothing,
                                       .flags = {.pointwise = true, .in_place = true},
                                       .attrs = &detail::attr_type<rules::FusedAttrs>};

}  // namespace TANDEM_NS
