// The source of a kernel that does what the interpreter (fused.cu) does with one program: its instructions as
// statements, its slots as variables, loads and stores of known types. Not here: the texts that it includes
// (embedded.hpp), its compilation (compiler.hpp).
#pragma once
#include <string>

#include "cuda/fused/program.hpp"

namespace TANDEM_NS::cuda {

/// What a kernel is compiled for beside the program: elements a thread, how inputs are read, and in how many axes.
struct FusedForm {
  int width, axes;
  FusedAccess access[most_fused_inputs];
};

inline constexpr const char* fused_kernel_name = "tandem_fused";

/// CUDA C++ of one kernel, `fused_kernel_name`, whose parameter is a FusedLaunch.
std::string fused_source(const FusedMachine& machine, const FusedForm& form);

}  // namespace TANDEM_NS::cuda
