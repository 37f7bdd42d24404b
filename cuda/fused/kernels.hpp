// Compiled kernels of fused programs: in memory by program and form, on disk by source (image_file.hpp), made by a
// thread of their own; and the functions of tandem/cuda.hpp for them. Not here: what is compiled (source.hpp) and by
// what (compiler.hpp).
#pragma once
#include "cuda/fused/program.hpp"

namespace TANDEM_NS::cuda {

/// Launches the program's compiled kernel on a piece of a call; false if the program is to be interpreted: it is not
/// compiled yet, or cannot be.
bool launch_compiled(const KernelCall& c, const FusedMachine& machine, const FusedAxes& piece, const i64* at);

/// How often programs became compiled: captures of their interpreted launches are then out of date.
u64 fused_kernel_changes();

/// Waits until the thread has compiled what it was asked for.
void wait_for_kernels();
/// Forgets the kernels in memory, as a new process has none.
void forget_kernels();

}  // namespace TANDEM_NS::cuda
