// fused: a group of elementwise ops as one op, whose attribute is a program. Created by the pass `fuse`
// (graph/passes/passes.hpp).
// Not here: how the program is executed (cpu/fused/fused.hpp).
#pragma once
#include <memory>
#include <vector>

#include "tandem/core/op.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace cpu {
class FusedCode;
}

/// Elementwise instructions over one iteration space, the broadcast shape of the inputs. Values are numbered: the
/// inputs are 0, 1, ..., and instruction i computes value inputs.size() + i.
class TANDEM_API FusedProgram final : public Opaque {
 public:
  struct Instruction {
    const OpDef* op;  // its definition has a `loop`
    Attrs attrs;
    InlinedVector<int, 3> in;  // values computed earlier
    DType dtype;               // of the result
  };

  /// inputs: the dtypes of the inputs; outputs: values computed by instructions, without duplicates.
  ///  throws  errors::InvalidArgumentError for a value that is used before it is computed, an output that is not
  ///  computed by an instruction or is listed twice, or an op without a loop for its dtype
  TANDEM_LAZY FusedProgram(std::vector<DType> inputs, LeanVector<Instruction> code, std::vector<int> outputs);
  TANDEM_INLINE ~FusedProgram() override;
  const char* kind() const override { return "fused program"; }

  const std::vector<DType> inputs;
  const LeanVector<Instruction> code;
  const std::vector<int> outputs;

  DType dtype_of(int value) const;
  /// Estimated cost in ns per element.
  TANDEM_LAZY double cost() const;
  /// The compiled form that the CPU executes.
  const cpu::FusedCode& compiled() const { return *compiled_; }

 private:
  TANDEM_LAZY void check() const;
  std::unique_ptr<cpu::FusedCode> compiled_;
};

struct FusedAttrs {
  Ref<FusedProgram> program;
  static constexpr auto fields = field_list(field("program", &FusedAttrs::program));
};

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
