// fused: a group of elementwise ops as one op, whose attribute is a small program. Made by the pass `fuse`
// (graph/passes.hpp). Not here: how the program runs (cpu/fused.hpp).
#pragma once
#include <memory>
#include <vector>

#include "tandem/core/op.hpp"

namespace TANDEM_NS {

namespace cpu {
class FusedCode;
}

/// Elementwise instructions over one iteration space, the shape that the inputs broadcast to. Values are numbered: the
/// inputs are 0, 1, ..., instruction i makes value inputs.size() + i.
class TANDEM_API FusedProgram final : public Opaque {
 public:
  struct Instruction {
    const OpDef* op;  // its row has a `loop`
    Attrs attrs;
    Small<int, 3> in;  // values made before
    DType dtype;       // of the result
  };

  /// inputs: their dtypes; outputs: values that instructions make, each once.
  ///   throws  errors::InvalidArgumentError for a value that is not made before its use, an output that no instruction
  ///           makes or that is named twice, or an op without a loop for its dtype
  FusedProgram(std::vector<DType> inputs, std::vector<Instruction> code, std::vector<int> outputs);
  TANDEM_INLINE ~FusedProgram() override;
  const char* kind() const override { return "fused program"; }

  const std::vector<DType> inputs;
  const std::vector<Instruction> code;
  const std::vector<int> outputs;

  DType dtype_of(int value) const;
  /// About, in ns an element.
  double cost() const;
  /// What the CPU runs.
  const cpu::FusedCode& compiled() const { return *compiled_; }

 private:
  void check() const;
  std::unique_ptr<cpu::FusedCode> compiled_;
};

struct FusedAttrs {
  Ref<FusedProgram> program;
  static constexpr auto fields = field_list(field("program", &FusedAttrs::program));
};

/// The program's outputs, all of the shape that its inputs broadcast to. No gradient: gradients are taken before
/// fusion.
extern TANDEM_API const OpDef fused_op;

/// Whether a loop is all there is to the op, so that it may stand in a program.
///   last  dtype of the op's last input
inline bool can_fuse(const OpDef& op, DType last, const Attrs& attrs) { return op.loop && op.loop(last, attrs).run; }

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_FUSED
#include <algorithm>

#include "tandem/cpu/fused.hpp"
#include "tandem/ops/rule.hpp"
namespace TANDEM_NS {

TANDEM_INLINE FusedProgram::FusedProgram(std::vector<DType> in, std::vector<Instruction> instructions,
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
    for (int v : c.in) require(v >= 0 && v < first + i, "an instruction uses a value before it is made");
    const bool complete = !c.in.empty() && c.in.size() <= 3 && static_cast<int>(c.in.size()) == c.op->inputs;
    require(complete && can_fuse(*c.op, dtype_of(c.in[c.in.size() - 1]), c.attrs), "an instruction has no loop");
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    require(outputs[i] >= first && outputs[i] < values, "an output is not made by an instruction");
    require(std::find(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(i), outputs[i]) ==
                outputs.begin() + static_cast<std::ptrdiff_t>(i),
            "an output is named twice");
  }
}

namespace detail {
// The specs of the program's outputs.
TANDEM_INLINE Specs infer_program(const InferCall& c, const FusedProgram& p) {
  if (c.in.size() != p.inputs.size()) raise_specs(c, "the program has " + std::to_string(p.inputs.size()) + " inputs");
  Spec s = c.spec(0);
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    if (c.spec(i).dtype != p.inputs[i]) raise_specs(c, "the program has other dtypes");
    if (!(c.spec(i).shape == s.shape)) s.shape = broadcast_shape(c, s.shape, c.spec(i).shape);
  }
  Specs r;
  for (int v : p.outputs) r.push(s).dtype = p.dtype_of(v);
  return r;
}
TANDEM_INLINE Specs infer_fused(const InferCall& c) { return infer_program(c, *c.get<FusedAttrs>().program); }
TANDEM_INLINE void fused_kernel(const KernelCall& c) { c.attrs.get<FusedAttrs>().program->compiled().run(c); }
}  // namespace detail

TANDEM_INLINE constexpr OpDef fused_op{.name = "fused",
                                       .infer = &detail::infer_fused,
                                       .cpu = &detail::fused_kernel,
                                       .typed = -1,
                                       .inputs = at_least(1),
                                       .outputs = -1,
                                       .saves = Saves::nothing,
                                       .flags = {.pointwise = true, .in_place = true},
                                       .attrs = &detail::attr_type<FusedAttrs>};

}  // namespace TANDEM_NS
#endif
