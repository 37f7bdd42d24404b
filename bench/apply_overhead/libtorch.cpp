// The cost of one small operation in LibTorch: a + b of 32 elements, without and with gradient recording.
#include "../support/libtorch.hpp"

namespace {
using bench::torch_normal;

bench::Work no_tape() {
  return bench::repeat_no_grad([a = torch_normal({32}, 1), b = torch_normal({32}, 2)] { return a + b; });
}

bench::Work inference() {
  bench::Work work = bench::repeat([a = torch_normal({32}, 1), b = torch_normal({32}, 2)] { return a + b; });
  work.run = [run = work.run](std::int64_t n) {
    const c10::InferenceMode guard;
    run(n);
  };
  return work;
}

bench::Work out() {
  auto c = torch::zeros({32});
  return bench::repeat_no_grad(
      [a = torch_normal({32}, 1), b = torch_normal({32}, 2), c]() mutable { return torch::add_out(c, a, b); });
}

bench::Work recorded() {
  return bench::repeat(
      [a = torch_normal({32}, 1).requires_grad_(), b = torch_normal({32}, 2).requires_grad_()] { return a + b; });
}

[[maybe_unused]] const bool added[] = {
    bench::add("apply_overhead/add_32", no_tape), bench::add("apply_overhead/add_32@inference", inference),
    bench::add("apply_overhead/add_32@out", out), bench::add("apply_overhead/add_32_recorded", recorded)};
}  // namespace
