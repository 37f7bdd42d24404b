// The attributes of fused ops: a program of elementwise instructions, and the reduction that follows it. Shared by the
// ops, which define the program's functions, and their kernels.
#pragma once
#include <memory>
#include <vector>

#include "tandem/attrs/attrs.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

struct OpDef;
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
  FusedProgram(std::vector<DType> inputs, LeanVector<Instruction> code, std::vector<int> outputs);
  TANDEM_INLINE ~FusedProgram() override;
  const char* kind() const override { return "fused program"; }

  const std::vector<DType> inputs;
  const LeanVector<Instruction> code;
  const std::vector<int> outputs;

  DType dtype_of(int value) const;
  /// Estimated cost in ns per element.
  double cost() const;
  /// The compiled form that the CPU executes.
  const cpu::FusedCode& compiled() const { return *compiled_; }

 private:
  void check() const;
  std::unique_ptr<cpu::FusedCode> compiled_;
};

enum class Reduction : std::uint8_t { sum, mean, max, min };
template <>
inline constexpr int enumerators<Reduction> = 4;

namespace rules {
struct FusedAttrs {
  Ref<FusedProgram> program;
  TANDEM_ATTRS(FusedAttrs, program);
};
struct FusedReduceAttrs {
  Ref<FusedProgram> program;
  Reduction reduction;
  Axes axis;  // the trailing axes of the program's result
  bool keepdims;
  TANDEM_ATTRS(FusedReduceAttrs, program, reduction, axis, keepdims);
};
}  // namespace rules

}  // namespace TANDEM_NS
