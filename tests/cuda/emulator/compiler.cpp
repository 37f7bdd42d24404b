// In the place of cuda/fused/compiler.cpp: the host's compiler makes a shared library of a kernel's source, with the
// headers that NVRTC gets. A second for each.
#include "tests/cuda/emulator/compiler.hpp"

#include <dlfcn.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "cuda/fused/compiler.hpp"
#include "cuda/fused/embedded.hpp"
#include "tests/cuda/emulator/memory.hpp"
#include "tests/cuda/emulator/stream.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using Run = void (*)(unsigned blocks, unsigned threads, const void* parameter);
struct Compiled {
  Run run;
  std::size_t bytes;  // of the parameter
};

const char* const before = R"(
#define __global__
#define __launch_bounds__(...)
#define __grid_constant__
static struct { unsigned x; } threadIdx, blockIdx, blockDim, gridDim;
)";
// Threads run one after the other: they do not meet.
const char* const behind = R"(
extern "C" const unsigned long parameter_bytes = sizeof(tandem::cuda::FusedLaunch);
extern "C" void run(unsigned blocks, unsigned threads, const void* parameter) {
  gridDim.x = blocks, blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x)
      tandem::cuda::tandem_fused(*static_cast<const tandem::cuda::FusedLaunch*>(parameter));
}
)";

bool is_broken = false;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

namespace TANDEM_NS::cuda {

const KernelCompiler& kernel_compiler() {
  static const KernelCompiler r{{}, "the host's compiler"};
  return r;
}
// The image: the length of the library, and the library.
KernelImage compile_kernel(const std::string& source, int) {
  if (is_broken) return {{}, "a broken compiler"};
  const testing::TemporaryFolder folder;
  for (const EmbeddedFile& file : embedded_files())
    if (const std::filesystem::path path = folder / file.name; std::strchr(file.name, '/')) {
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << file.text;
    }
  folder.file("kernel.cpp", before + source + behind);
  const std::string command = TANDEM_HOST_COMPILER " -std=c++20 -O1 -ffp-contract=off -fPIC -shared -w -I" +
                              folder.path + " -o " + (folder / "kernel.so ") + (folder / "kernel.cpp") + " > " +
                              (folder / "log") + " 2>&1";
  if (std::system(command.c_str()) != 0) return {{}, content(folder / "log")};
  const std::string library = content(folder / "kernel.so");
  const std::size_t size = library.size();
  return {std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + library, {}};
}

}  // namespace TANDEM_NS::cuda

namespace emulator {

void break_compiler(bool broken) { is_broken = broken; }

CUresult load_kernel(CUmodule* module, const void* image) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  std::size_t size = 0;
  std::memcpy(&size, image, sizeof(size));
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("kernel.so", {static_cast<const char*>(image) + sizeof(size), size});
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  *module = static_cast<CUmodule>(library);
  return library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
CUresult kernel_function(CUfunction* function, CUmodule module, const char*) {
  auto* const kernel = new Compiled{reinterpret_cast<Run>(dlsym(module, "run")), 0};
  std::memcpy(&kernel->bytes, dlsym(module, "parameter_bytes"), sizeof(kernel->bytes));
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}
CUresult launch_kernel(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                       unsigned, CUstream stream, void** parameters, void**) {
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  const Compiled* const kernel = reinterpret_cast<const Compiled*>(function);
  const std::string parameter(static_cast<const char*>(parameters[0]), kernel->bytes);
  submit(stream, [=] {
    const Unlocked unlocked;
    kernel->run(blocks, threads, parameter.data());
  });
  return CUDA_SUCCESS;
}

}  // namespace emulator
