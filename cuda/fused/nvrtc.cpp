// NVRTC (compiler.hpp).
#include <cuda_runtime.h>

#include <iterator>
#include <vector>

#include "cuda/driver/opener.hpp"
#include "cuda/fused/compiler.hpp"
#include "cuda/fused/embedded.hpp"

namespace TANDEM_NS::cuda {
namespace {

Library<Nvrtc> open_nvrtc() {
  Library<Nvrtc> r;
  Opener o(places_of("libnvrtc.so." + std::to_string(CUDART_VERSION / 1000)));
  Nvrtc& f = r.functions;
  o.find(f.version, "nvrtcVersion");
  o.find(f.error_string, "nvrtcGetErrorString");
  o.find(f.create, "nvrtcCreateProgram");
  o.find(f.destroy, "nvrtcDestroyProgram");
  o.find(f.compile, "nvrtcCompileProgram");
  o.find(f.log_size, "nvrtcGetProgramLogSize");
  o.find(f.log, "nvrtcGetProgramLog");
  o.find(f.image_size, "nvrtcGetCUBINSize");
  o.find(f.image, "nvrtcGetCUBIN");
  r.error = o.error();
  return r;
}

// A text of NVRTC, by the functions for its size and for itself.
template <class Size, class Get>
std::string text_of(nvrtcProgram program, Size size_of, Get get) {
  std::size_t size = 0;
  if (size_of(program, &size) != NVRTC_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  return get(program, text.data()) == NVRTC_SUCCESS ? text : std::string();
}

}  // namespace

const Library<Nvrtc>& nvrtc() {
  static const auto* const r = new Library<Nvrtc>(open_nvrtc());
  return *r;
}

KernelImage compile_by_nvrtc(const std::string& source, int capability) {
  if (!nvrtc().is_open()) return {{}, nvrtc().error};
  const Nvrtc& f = nvrtc().functions;
  std::vector<const char*> texts, names;
  for (const EmbeddedFile& file : embedded_files()) texts.push_back(file.text), names.push_back(file.name);
  nvrtcProgram program = nullptr;
  nvrtcResult status =
      f.create(&program, source.c_str(), "fused.cu", static_cast<int>(texts.size()), texts.data(), names.data());
  if (status != NVRTC_SUCCESS) return {{}, f.error_string(status)};
  const std::string architecture = "--gpu-architecture=sm_" + std::to_string(capability);
  std::vector<const char*> options(std::begin(nvrtc_options), std::end(nvrtc_options));
  options.push_back(architecture.c_str());
  KernelImage r;
  status = f.compile(program, static_cast<int>(options.size()), options.data());
  if (status == NVRTC_SUCCESS) r.bytes = text_of(program, f.image_size, f.image);
  if (r.bytes.empty()) r.error = f.error_string(status) + (": " + text_of(program, f.log_size, f.log));
  f.destroy(&program);
  return r;
}

}  // namespace TANDEM_NS::cuda
