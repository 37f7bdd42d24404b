// fused: a group of elementwise ops as one op, whose attribute is a small program. Made by the pass `fuse`
// (graph/passes/passes.hpp). Not here: how the program runs (cpu/fused/fused.hpp).
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

namespace detail {
Specs infer_program(const InferCall& c, const FusedProgram& p);
}  // namespace detail

}  // namespace TANDEM_NS
