// The sources of compiled fused programs: NVRTC compiles them for a device, where it is installed (no GPU is needed),
// and compiled by the host's compiler they compute what the interpreter computes.
#include "cuda/fused/source.hpp"

#include "cuda/driver/device.hpp"
#include "cuda/fused/compiler.hpp"
#include "cuda/fused/kernels.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tests/cuda/internal/machines.hpp"

namespace fused_source_test {

using namespace tandem;
using cuda::FusedAccess;
using cuda::FusedForm;
using cuda::FusedMachine;

// A way of reading for each input, which depends on `turn`.
FusedForm form_of(const FusedMachine& m, int turn) {
  FusedForm form{m.slots <= 6 ? 8 : m.slots <= 16 ? 4 : 2, 1 + turn % 4, {}};
  constexpr FusedAccess accesses[] = {FusedAccess::mapped, FusedAccess::flat, FusedAccess::scalar};
  for (int k = 0; k < m.inputs; ++k) form.access[k] = accesses[(k + turn) % 3];
  return form;
}
void check_compiles(const FusedMachine& m, const FusedForm& form) {
  const std::string source = cuda::fused_source(m, form);
  const cuda::KernelImage image = cuda::compile_by_nvrtc(source, 90);
  CAPTURE(source);
  CHECK(image.error == "");
  CHECK(image.bytes.compare(0, 4,
                            "\x7f"
                            "ELF") == 0);
}

TEST_CASE("CUDA fused source: NVRTC compiles each instruction for each dtype") {
  if (!cuda::nvrtc().is_open()) TANDEM_SKIP("no NVRTC: " + cuda::nvrtc().error);
  for (int turn = 0; turn < 2; ++turn)
    for (int first = 0; first < machines::codes; first += 32) {
      const FusedMachine m = machines::of_each(first, turn);
      check_compiles(m, form_of(m, turn));
    }
}

TEST_CASE("CUDA fused source: NVRTC compiles random programs") {
  if (!cuda::nvrtc().is_open()) TANDEM_SKIP("no NVRTC: " + cuda::nvrtc().error);
  std::mt19937 draw(5);
  for (int turn = 0; turn < 8; ++turn) {
    const FusedMachine m = machines::random(draw);
    check_compiles(m, form_of(m, turn));
  }
}

TEST_CASE("CUDA fused source: NVRTC says what is wrong") {
  if (!cuda::nvrtc().is_open()) TANDEM_SKIP("no NVRTC: " + cuda::nvrtc().error);
  const cuda::KernelImage image = cuda::compile_by_nvrtc("no_type x;", 90);
  CHECK(image.bytes.empty());
  CHECK_THAT(image.error, ContainsSubstring("no_type"));
  CHECK(cuda::compile_by_nvrtc("", 7).bytes.empty());  // no such device
}

// Operands in the memory of the device; every second one broadcasts.
std::vector<Tensor> operands_for(const FusedMachine& m, const Shape& shape, const Shape& other, i64 seed) {
  std::vector<Tensor> in;
  for (int k = 0; k < m.inputs; ++k) {
    const Tensor x = gpu_test::reals(k % 2 ? other : shape, float32, seed + k) * 3.f;
    const DType d = machines::dtype_of(m.in_type[k]);
    in.push_back((d == bool_ ? x > 0.f : cast(x, d)).gpu());
  }
  return in;
}
void check_equal(const FusedMachine& m, const Shape& shape, const Shape& other, i64 seed) {
  const std::vector<Tensor> in = operands_for(m, shape, other, seed);
  cuda::set_kernel_compilation(cuda::KernelCompilation::off);
  const std::vector<Tensor> want = machines::run(m, in, shape);
  const std::uint64_t before = cuda::kernel_counts().launched;
  cuda::set_kernel_compilation(cuda::KernelCompilation::wait);
  const std::vector<Tensor> got = machines::run(m, in, shape);
  cuda::set_kernel_compilation(cuda::KernelCompilation::off);
  CHECK(cuda::kernel_counts().launched == before + 1);
  for (std::size_t o = 0; o < want.size(); ++o) {
    CAPTURE(o);
    CHECK(machines::same(got[o], want[o]));
  }
}

TEST_CASE("CUDA fused source: a compiled program computes what the interpreter does") {
  cuda::set_kernel_cache("");
  const Shape shapes[][2] = {{{4, 6, 5}, {6, 1}},       {{1027}, {1}}, {{64, 8}, {8}},
                             {{2, 3, 2, 3}, {3, 1, 3}}, {{1}, {1}},    {{3, 1, 7}, {1, 7}}};
  std::mt19937 draw(9);
  int at = 0;
  for (int first = 0; first < machines::codes; first += 32, ++at) {
    CAPTURE(first);
    check_equal(machines::of_each(first, at), {41, 6}, {6}, at);
  }
  for (const auto& s : shapes) {
    CAPTURE(to_string(s[0]), to_string(s[1]));
    check_equal(machines::random(draw), s[0], s[1], ++at);
  }
}

TEST_CASE("CUDA fused source: a traced function, whose result may have the buffer of an input") {
  cuda::set_kernel_cache("");
  const auto f = function([](const Tensor& x, const Tensor& y) { return tanh(x * y) + x; });
  const Tensor x = gpu_test::reals({67}), y = gpu_test::reals({67}, float32, 2);
  const Tensor want = tanh(x * y) + x;
  cuda::set_kernel_compilation(cuda::KernelCompilation::wait);
  for (int i = 0; i < 3; ++i) gpu_test::check_near(f(x.gpu(), y.gpu()), want);
  cuda::set_kernel_compilation(cuda::KernelCompilation::off);
}

}  // namespace fused_source_test
