#include "cuda/fused/source.hpp"

namespace TANDEM_NS::cuda {
namespace {

const char* const code_names[] = {
#define TANDEM_CODE(name) #name,
    TANDEM_CUDA_FUSED(TANDEM_CODE) TANDEM_CUDA_FUSED_CASTS(TANDEM_CODE)
#undef TANDEM_CODE
};
const char* type_name(FusedType t) {
  switch (t) {
    case FusedType::number: return "float";
    case FusedType::half: return "Half";
    case FusedType::bfloat: return "BFloat16";
    default: return "bool";
  }
}

class Writer {
 public:
  Writer(const FusedMachine& machine, const FusedForm& form) : machine_(machine), form_(form) {}
  std::string write() {
    line("#include \"cuda/fused/rules.inc\"");  // of the embedded files; before compute.inc, which uses it
    line("#include \"cuda/fused/compute.inc\"");
    line("namespace TANDEM_NS::cuda {");
    line("extern \"C\" __global__ void __launch_bounds__(" + number(block_size) + ") " + fused_kernel_name +
         "(const __grid_constant__ FusedLaunch l) {");
    line("  constexpr int N = " + number(form_.width) + ";");
    line("  const FusedOperands& o = l.operands;");
    line("  const std::uint32_t parts = (o.n + N - 1) / N, step = gridDim.x * blockDim.x;");
    line("  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < parts; i += step) {");
    line("    const FusedPart<N> part{i * N, o.n, o.whole && i * N + N <= o.n};");
    std::string values = "    Chunk<float, N> c{}";
    for (int s = 0; s < machine_.slots; ++s) values += ", " + slot(s);
    line(values + ";");
    load_inputs();
    for (int k = 0; k < machine_.count; ++k) instruction(machine_.code[k]);
    line("  }");
    line("}");
    line("}");
    return std::move(text_);
  }

 private:
  static std::string number(unsigned n) { return std::to_string(n); }
  static std::string number(int n) { return std::to_string(n); }
  static std::string slot(int s) { return "s" + std::to_string(s); }
  void line(const std::string& s) { (text_ += s) += '\n'; }

  std::string pointer(int input) const {
    return std::string("static_cast<const ") + type_name(machine_.in_type[input]) + "*>(o.in[" + number(input) + "])";
  }
  // Before the first result is written: it may have the buffer of an input.
  void load_inputs() {
    std::string at, add, read;
    for (int k = 0; k < machine_.inputs; ++k) {
      if (form_.access[k] != FusedAccess::mapped) {
        const char* const how = form_.access[k] == FusedAccess::flat ? "load" : "load_scalar";
        line(std::string("    part.") + how + "(" + pointer(k) + ", " + slot(k) + ".at);");
        continue;
      }
      const std::string offset = "a" + number(k);
      at += (at.empty() ? "" : ", ") + offset + " = 0";
      add += " " + offset + " += l.stride[" + number(k) + "][d] * x;";
      read += "      " + slot(k) + ".at[j] = inside ? as_number(" + pointer(k) + "[" + offset + "]) : 0;\n";
    }
    if (at.empty()) return;
    line("#pragma unroll");
    line("    for (int j = 0; j < N; ++j) {");
    line("      const bool inside = part.first + j < o.n;");
    line("      std::int64_t " + at + ";");
    line("      each_axis<" + number(form_.axes) + ">(l, inside ? part.first + j : 0, [&](int d, std::int64_t x) {" +
         add + " });");
    text_ += read;
    line("    }");
  }
  void instruction(const FusedInstruction& i) {
    std::string operands;
    for (int n = 0; n < operand_count(i.code); ++n)
      operands +=
          (n ? ", " : "") + (i.in[n] == FusedInstruction::carried ? std::string("c") : slot(i.in[n])) + ".at[j]";
    line("#pragma unroll");
    line(std::string("    for (int j = 0; j < N; ++j) c.at[j] = compute<FusedCode::") +
         code_names[static_cast<int>(i.code)] + ">(" + operands + ");");
    if (i.slot != FusedInstruction::nowhere) line("    " + slot(i.slot) + " = c;");
    if (i.output != FusedInstruction::nowhere)
      line(std::string("    part.store(static_cast<") + type_name(machine_.out_type[i.output]) + "*>(o.out[" +
           number(i.output) + "]), c.at);");
  }

  const FusedMachine& machine_;
  const FusedForm& form_;
  std::string text_;
};

}  // namespace

std::string fused_source(const FusedMachine& machine, const FusedForm& form) { return Writer(machine, form).write(); }

}  // namespace TANDEM_NS::cuda
