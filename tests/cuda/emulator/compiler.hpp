// Kernels that are compiled at run time, on the emulated device: the driver's functions for them.
#pragma once
#include <cuda.h>

namespace emulator {

bool has_context();  // whether the thread has selected a device: what follows needs its context
CUresult load_kernel(CUmodule* module, const void* image);
CUresult kernel_function(CUfunction* function, CUmodule module, const char* name);
CUresult launch_kernel(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                       unsigned, CUstream stream, void** parameters, void**);

}  // namespace emulator
