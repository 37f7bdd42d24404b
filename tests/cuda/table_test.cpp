// Generated from the op table: every op that has a kernel for the GPU, and its gradient, give there what they give on
// the CPU; one that has none says so.
#include "tandem/autodiff/tape.hpp"
#include "tests/cuda/device.hpp"

using namespace tandem;
using namespace gpu_test;
using samples::Call;

namespace {

using List = std::vector<Tensor>;

bool runs_on_gpu(const Call& c) {
  return (c.op->cuda || c.op->flags.alias) && !has_strings(c.in) && c.op != &transfer_op;
}
void check_all(const Tensors& got, const Tensors& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    check_near(got[static_cast<unsigned>(i)], want[static_cast<unsigned>(i)]);
  }
}

}  // namespace

TEST_CASE("CUDA: every op with a kernel gives the CPU's result") {
  TANDEM_NEEDS_GPU;
  int calls = 0;
  for (const DType real : {float32, float64}) {
    table_calls::for_each_call(real, [&](const Call& c) {
      if (!runs_on_gpu(c)) return;
      const Tensors want = samples::apply_to(c, c.in);
      check_all(samples::apply_to(c, on_device(*c.op, c.in)), want);
      ++calls;
    });
    cuda::synchronize();
  }
  CHECK(calls > 300);
}

TEST_CASE("CUDA: every gradient of such an op gives the CPU's result") {
  TANDEM_NEEDS_GPU;
  int checked = 0;
  table_calls::for_each_call(float64, [&](const Call& c) {
    if (!runs_on_gpu(c) || !table_calls::has_gradient(*c.op) || c.op == &custom_gradient_op) return;
    const List want = table_calls::gradients_of(c, c.in);
    List got;
    try {
      got = table_calls::gradients_of(c, on_device(*c.op, c.in));
    } catch (const errors::UnimplementedError& e) {
      const OpDef* missing = find_op(e.op());
      REQUIRE((missing && !missing->cuda));  // its gradient stands on an op without a kernel yet
      return;
    }
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      REQUIRE(got[i].is_set() == want[i].is_set());
      if (got[i].is_set()) check_near(got[i], want[i]);
    }
    ++checked;
  });
  CHECK(checked > 80);
}

TEST_CASE("CUDA: an op without a kernel names itself and the device") {
  TANDEM_NEEDS_GPU;
  int without = 0;
  table_calls::for_each_call(float32, [&](const Call& c) {
    if (c.op->cuda || c.op->flags.alias || c.op->resolve || has_strings(c.in) || c.in.empty()) return;
    const List in = on_device(*c.op, c.in);
    bool on_host = true;
    for (const Tensor& t : in) on_host &= t.device() != gpu;
    if (on_host) return;
    try {
      if (samples::apply_to(c, in)[0].device() == gpu) FAIL("it ran");
    } catch (const errors::UnimplementedError& e) {
      CHECK_THAT(e.what(), ContainsSubstring("no kernel on GPU:0"));
      ++without;
    }
  });
  WARN(without << " sampled calls have no GPU kernel yet");
}
