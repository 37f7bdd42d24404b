// Lowers fused programs for the device.
#include "cuda/fused/program.hpp"

#include <algorithm>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/core/op.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/smooth_activation.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"

namespace TANDEM_NS::cuda {
namespace {

// `to`: the dtype of the result.
FusedCode code_of(const OpDef& op, DType to) {
  static constexpr std::pair<const OpDef*, FusedCode> codes[] = {
#define TANDEM_CODE(name) {&name##_op, FusedCode::name},
      TANDEM_CUDA_FUSED(TANDEM_CODE)
#undef TANDEM_CODE
  };
  for (const auto& [known, code] : codes)
    if (known == &op) return code;
#define TANDEM_CODE(name) &op == &name##_op ||
  const bool casts = TANDEM_FUSED_CASTS(TANDEM_CODE) false;
#undef TANDEM_CODE
  if (!casts) return FusedCode::unknown;
  switch (to) {
    case DType::bool_: return FusedCode::to_flag;
    case DType::float16: return FusedCode::round_half;
    case DType::bfloat16: return FusedCode::round_bfloat;
    default: return FusedCode::copy;
  }
}
constexpr DTypes fusible = dtypes::half_floating | dtypes::boolean | DType::float32;
// With the casts that compute nothing.
constexpr std::size_t most_fused_values = most_fused_inputs + 2 * most_fused_instructions;
FusedType type_of(DType d) {
  switch (d) {
    case DType::float16: return FusedType::half;
    case DType::bfloat16: return FusedType::bfloat;
    case DType::bool_: return FusedType::flag;
    default: return FusedType::number;
  }
}

// Gives each value a slot from its computation to its last use; a value that only the next instruction uses needs
// none. Values are float32 whatever their dtype, so a cast to float32 computes nothing: its result is its operand.
class Lowering {
 public:
  Lowering(const FusedProgram& p, FusedMachine& to) : p_(p), to_(to) {
    for (int v = 0; v < to.inputs; ++v) value_[v] = {.same_as = v, .slot = static_cast<std::uint8_t>(to.slots++)};
    for (int k = 0; k < count(); ++k) {
      Value& v = value_[to.inputs + k];
      v.same_as = computes_nothing(k) ? value_[code(k).in[0]].same_as : to.inputs + k;
      for (const int in : code(k).in) operand(in).last_use = k;
    }
    for (int v = 0; v < to.inputs; ++v)
      if (value_[v].last_use < 0) release(value_[v]);
  }
  // Returns false if the program is too large.
  bool run() {
    int before = -1;
    for (int k = 0; k < count(); ++k) {
      const int value = to_.inputs + k;
      if (value_[value].same_as != value) continue;
      if (to_.count == most_fused_instructions) return false;
      const FusedProgram::Instruction& from = code(k);
      FusedInstruction i{code_of(*from.op, from.dtype), {}, FusedInstruction::nowhere, FusedInstruction::nowhere};
      for (std::size_t n = 0; n < from.in.size(); ++n)
        i.in[n] = value_[from.in[n]].same_as == before ? FusedInstruction::carried : operand(from.in[n]).slot;
      for (const int in : from.in)
        if (operand(in).last_use == k) release(operand(in));
      if (value_[value].last_use > k + 1) {
        if (free_ == 0 && to_.slots == most_fused_slots) return false;
        i.slot = value_[value].slot = free_ > 0 ? unused_[--free_] : static_cast<std::uint8_t>(to_.slots++);
      }
      if (const int o = output(value); o >= 0) i.output = static_cast<std::uint8_t>(o);
      to_.code[to_.count++] = i;
      before = value;
    }
    return true;
  }

 private:
  struct Value {
    int same_as = -1, last_use = -1;
    std::uint8_t slot = FusedInstruction::nowhere;
  };

  int count() const { return static_cast<int>(p_.code.size()); }
  const FusedProgram::Instruction& code(int k) const { return p_.code[static_cast<std::size_t>(k)]; }
  Value& operand(int v) { return value_[value_[v].same_as]; }
  int output(int value) const {
    const auto o = std::find(p_.outputs.begin(), p_.outputs.end(), value);
    return o == p_.outputs.end() ? -1 : static_cast<int>(o - p_.outputs.begin());
  }
  bool computes_nothing(int k) const {
    return code_of(*code(k).op, code(k).dtype) == FusedCode::copy && output(to_.inputs + k) < 0;
  }
  void release(Value& v) {
    if (v.slot != FusedInstruction::nowhere) unused_[free_++] = std::exchange(v.slot, FusedInstruction::nowhere);
  }

  const FusedProgram& p_;
  FusedMachine& to_;
  Value value_[most_fused_values];
  std::uint8_t unused_[most_fused_slots];
  int free_ = 0;
};

std::size_t width_of(FusedType t) { return t == FusedType::number ? 4 : t == FusedType::flag ? 1 : 2; }

}  // namespace

FusedOperands operands_of(const KernelCall& c, const FusedMachine& machine, const FusedAxes& axes, const i64* at,
                          int width) {
  constexpr int of_result = most_fused_inputs;
  FusedOperands o{};
  o.n = static_cast<std::uint32_t>(axes.count());
  o.whole = true;
  const auto place = [&](void* p, FusedType t, i64 first, bool flat) {
    const std::size_t bytes = width_of(t), chunk = std::min<std::size_t>(16, static_cast<std::size_t>(width) * bytes);
    char* const from = static_cast<char*>(p) + first * static_cast<i64>(bytes);
    o.whole = o.whole && (!flat || reinterpret_cast<std::uintptr_t>(from) % chunk == 0);
    return from;
  };
  for (int k = 0; k < machine.inputs; ++k) {
    bool scalar = true, flat = true;
    for (int d = 0; d < axes.axes; ++d) {
      scalar = scalar && axes.stride[k][d] == 0;
      flat = flat && axes.stride[k][d] == axes.stride[of_result][d];
    }
    o.access[k] = flat ? FusedAccess::flat : scalar ? FusedAccess::scalar : FusedAccess::mapped;
    o.in[k] = place(c.in[static_cast<std::size_t>(k)].data, machine.in_type[k], at[k], flat);
  }
  for (std::size_t k = 0; k < c.out.size(); ++k)
    o.out[k] = place(c.out[k].data, machine.out_type[k], at[of_result], true);
  return o;
}

bool can_fuse(const OpDef& op, Span<const DType> dtypes) {
  for (const DType d : dtypes)
    if (!fusible.has(d)) return false;
  return code_of(op, dtypes[dtypes.size() - 1]) != FusedCode::unknown;
}

FusedMachine::FusedMachine(const KernelCall& c, const FusedProgram& p) {
  const auto refuse = [&](const std::string& what) {
    errors::raise<errors::UnimplementedError>(c.op, "a program with " + what + " has no kernel on a GPU");
  };
  const bool fits = p.code.size() <= most_fused_values - most_fused_inputs && p.inputs.size() <= most_fused_inputs &&
                    p.outputs.size() <= most_fused_ops;
  const auto refuse_size = [&] {
    refuse(std::to_string(p.code.size()) + " instructions, " + std::to_string(p.inputs.size()) + " inputs and " +
           std::to_string(p.outputs.size()) + " outputs");
  };
  if (!fits) refuse_size();
  for (const DType d : p.inputs) {
    if (!fusible.has(d)) refuse("operands of " + std::string(name(d)));
    in_type[inputs++] = type_of(d);
  }
  for (std::size_t o = 0; o < p.outputs.size(); ++o) out_type[o] = type_of(p.dtype_of(p.outputs[o]));
  for (const FusedProgram::Instruction& i : p.code)
    if (!fusible.has(i.dtype) || code_of(*i.op, i.dtype) == FusedCode::unknown)
      refuse(std::string(i.op->name) + " of " + std::string(name(i.dtype)));
  if (!Lowering(p, *this).run()) refuse_size();
}

}  // namespace TANDEM_NS::cuda
