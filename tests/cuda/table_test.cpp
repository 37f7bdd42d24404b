// Generated from the op table: every op that has a kernel for the GPU, and its gradient, give there what they give on
// the CPU; those that have none are listed here, and say so.
#include <set>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tests/cuda/device.hpp"

using namespace tandem;
using namespace gpu_test;
using samples::Call;

namespace {

using List = std::vector<Tensor>;

// Not those whose vectors have free signs: spectrum_test.cpp has them.
bool runs_on_gpu(const Call& c) {
  static const std::set<std::string> of_free_signs{"eigh", "qr", "svd"};
  return (c.op->cuda || c.op->flags.alias) && !has_strings(c.in) && c.op != &transfer_op &&
         !of_free_signs.contains(c.op->name);
}
void check_all(const Tensors& got, const Tensors& want, double least) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    check_near(got[static_cast<unsigned>(i)], want[static_cast<unsigned>(i)], least);
  }
}

}  // namespace

TEST_CASE("CUDA: every op with a kernel gives the CPU's result") {
  TANDEM_NEEDS_GPU;
  int calls = 0;
  for (const DType real : {float32, float64, complex64, complex128}) {
    table_calls::for_each_call(real, [&](const Call& c) {
      if (!runs_on_gpu(c)) return;
      const Tensors want = samples::apply_to(c, c.in);
      check_all(samples::apply_to(c, on_device(*c.op, c.in)), want, table_calls::largest_input(c));
      ++calls;
    });
    cuda::synchronize();
  }
  CHECK(calls > 300);
}

TEST_CASE("CUDA: every gradient of such an op gives the CPU's result") {
  TANDEM_NEEDS_GPU;
  int checked = 0;
  std::set<std::string> missing;  // gradients that stand on an op without a kernel
  table_calls::for_each_call(float64, [&](const Call& c) {
    if (!runs_on_gpu(c) || !table_calls::has_gradient(*c.op) || c.op == &custom_gradient_op) return;
    const List want = table_calls::gradients_of(c, c.in);
    List got;
    try {
      got = table_calls::gradients_of(c, on_device(*c.op, c.in));
    } catch (const errors::UnimplementedError& e) {
      missing.insert(c.op->name + std::string(": ") + e.op());
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
  CHECK(missing == std::set<std::string>{});
}

// Needs no device: a kernel that is lost shows here.
TEST_CASE("CUDA: the ops without a kernel are these") {
  std::set<std::string> without;
  for (const OpDef* op : all_ops())
    if (!op->cuda && !op->flags.alias) without.insert(op->name);
  const std::set<std::string> known{// Their results are shapes, texts or nothing, which live on the host.
                                    "assert", "assert_shapes", "print", "random_advance",         "range",
                                    "rank",   "shape",         "size",  "broadcast_dynamic_shape"};
  CHECK(without == known);
}

TEST_CASE("CUDA: an op without a kernel names itself and the device") {
  TANDEM_NEEDS_GPU;
  table_calls::for_each_call(float32, [&](const Call& c) {
    if (c.op->cuda || c.op->flags.alias || c.op->rare.resolve || has_strings(c.in) || c.in.empty()) return;
    const List in = on_device(*c.op, c.in);
    bool on_host = true;
    for (const Tensor& t : in) on_host &= t.device() != gpu;
    if (on_host) return;
    try {
      if (samples::apply_to(c, in)[0].device() == gpu) FAIL("it ran");
    } catch (const errors::UnimplementedError& e) {
      CHECK_THAT(e.what(), ContainsSubstring("no kernel on GPU:0"));
    }
  });
}
