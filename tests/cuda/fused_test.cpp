// Fused programs on the device: the same bits as op by op, for every op that they may contain, dtypes, broadcasts,
// odd sizes and addresses, and groups that are too large for one program.
#include <functional>
#include <string>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/fused/fused.hpp"
#include "tests/cuda/device.hpp"

namespace cuda_fused_test {

using namespace tandem;
using namespace gpu_test;

using In = std::vector<Tensor>;
using Fn = std::function<Tensor(const In&)>;

In there(const In& in) {
  In r;
  for (const Tensor& t : in) r.push_back(t.gpu());
  return r;
}
// How programs run: on a GPU compiled, too; the emulator's tests of that are in internal/.
std::vector<cuda::KernelCompilation> ways() {
  if (emulator::barrier) return {cuda::KernelCompilation::off};
  return {cuda::KernelCompilation::off, cuda::KernelCompilation::wait};
}
// Runs f on the device, op by op and traced, and on the CPU. Its graph must have as many fused ops as said.
void check(const Fn& f, const In& in, i64 fused = 1) {
  const In on_gpu = there(in);
  auto traced = function([&](const In& x) { return In{f(x)}; });
  const Tensor want = f(in), eager = f(on_gpu);
  const cuda::KernelCompilation before = cuda::kernel_compilation();
  const std::string folder = cuda::kernel_cache();
  cuda::set_kernel_cache("");  // what is tested is compiled here
  for (const cuda::KernelCompilation way : ways()) {
    cuda::set_kernel_compilation(way);
    for (int run = 0; run < 3; ++run) {
      const Tensor got = traced(on_gpu)[0];
      CHECK(got.device() == gpu);
      CHECK(table_calls::same_bits(got, eager));
      check_near(got, want);
    }
  }
  cuda::set_kernel_compilation(before);
  cuda::set_kernel_cache(folder);
  i64 found = 0;
  for (const auto& n : traced.get_concrete_function(on_gpu)->optimized().nodes) found += n.op == &fused_op;
  CHECK(found == fused);
}

TEST_CASE("CUDA fused: every op that a program may contain") {
  TANDEM_NEEDS_GPU;
  const std::pair<const char*, Fn> ops[] = {
      {"unary", [](const In& x) { return -abs(x[0]) + sign(x[1]) * square(x[0]); }},
      {"roots", [](const In& x) { return sqrt(abs(x[0])) + rsqrt(abs(x[1]) + 1.f) * reciprocal(abs(x[1]) + 2.f); }},
      {"exponentials", [](const In& x) { return exp(x[0]) + expm1(x[1]) * log(abs(x[0]) + 1.f) - log1p(abs(x[1])); }},
      {"sigmoids", [](const In& x) { return sigmoid(x[0]) + log_sigmoid(x[1]) * nn::softplus(x[0]) + tanh(x[1]); }},
      {"rectifiers", [](const In& x) { return nn::relu(x[0]) + nn::relu6(x[1] * 7.f) * nn::leaky_relu(x[0]); }},
      {"linear units", [](const In& x) { return nn::elu(x[0]) + nn::selu(x[1]) * nn::softsign(x[0]); }},
      {"smooth units", [](const In& x) { return nn::gelu(x[0]) + nn::swish(x[1]) * nn::mish(x[0]) + erf(x[1]); }},
      {"gelu", [](const In& x) { return nn::gelu(x[0], {.approximate = true}) + nn::hard_sigmoid(x[1]); }},
      {"rounding", [](const In& x) { return floor(x[0] * 5.f) + ceil(x[1] * 5.f) * round(x[0] * 9.f) - trunc(x[1]); }},
      {"arithmetic", [](const In& x) { return maximum(x[0], x[1]) - minimum(x[0], x[1]) / (x[1] + 3.f); }},
      {"differences", [](const In& x) { return squared_difference(x[0], x[1]) * x[0]; }},
      {"no nan", [](const In& x) { return div_no_nan(x[0], nn::relu(x[1])) + multiply_no_nan(x[0], nn::relu(x[1])); }},
      {"flags", [](const In& x) { return where((x[0] < x[1]) & ~(x[0] <= 0.f), x[0], x[1] * 2.f); }},
      {"more flags",
       [](const In& x) { return where(((x[0] > x[1]) ^ (x[0] >= 0.f)) | (x[0] == x[1]), x[1], x[0] + 1.f); }},
      {"casts", [](const In& x) { return cast(x[0] != x[1], float32) + x[0] * cast(cast(x[1], bool_), float32); }},
      {"finite", [](const In& x) {
         const Tensor y = x[0] / nn::relu(x[1]);
         return where(is_finite(y), y, where(is_nan(y), x[0], where(is_inf(y), x[1], y)));
       }}};
  for (const auto& [what, f] : ops)
    for (const DType d : {float32, float16, bfloat16}) {
      if (d != float32 && std::string(what) == "casts") continue;
      CAPTURE(what, name(d));
      check(f, {reals({5, 7}, d), reals({5, 7}, d, 2)});
    }
}

TEST_CASE("CUDA fused: gradients of activations") {
  TANDEM_NEEDS_GPU;
  const std::function<Tensor(const Tensor&)> units[] = {
      [](const Tensor& x) { return tanh(x); },      [](const Tensor& x) { return sigmoid(x); },
      [](const Tensor& x) { return nn::relu(x); },  [](const Tensor& x) { return nn::relu6(x); },
      [](const Tensor& x) { return nn::elu(x); },   [](const Tensor& x) { return nn::leaky_relu(x); },
      [](const Tensor& x) { return nn::gelu(x); },  [](const Tensor& x) { return nn::gelu(x, {.approximate = true}); },
      [](const Tensor& x) { return nn::swish(x); }, [](const Tensor& x) { return nn::mish(x); }};
  for (std::size_t i = 0; i < std::size(units); ++i) {
    CAPTURE(i);
    check(
        [&](const In& in) {
          GradientTape tape;
          const Tensor x = in[0] * 2.f;
          tape.watch(x);
          return tape.gradient(square(units[i](x)), {x})[0];
        },
        {reals({3, 11})});
  }
}

TEST_CASE("CUDA fused: shapes that broadcast, and elements of any number") {
  TANDEM_NEEDS_GPU;
  const Fn f = [](const In& x) { return tanh(x[0] * x[1] + x[2]) - x[3]; };
  const Shape shapes[][4] = {{{4, 6, 5}, {5}, {6, 1}, {}},
                             {{1}, {1}, {1}, {1}},
                             {{4, 1, 5}, {6, 1}, {4, 1, 1}, {1, 6, 5}},
                             {{1027}, {1027}, {1}, {1027}},
                             {{2, 3, 2, 3, 2, 3}, {3, 1, 3, 1, 3}, {2, 1, 2, 1, 2, 1}, {2, 3, 2, 3, 2, 3}},
                             {{0, 4}, {4}, {1}, {}}};
  for (const auto& s : shapes) {
    CAPTURE(to_string(s[0]), to_string(s[1]), to_string(s[2]), to_string(s[3]));
    check(f, {reals(s[0]), reals(s[1], float32, 2), reals(s[2], float32, 3), reals(s[3], float32, 4)});
  }
}

TEST_CASE("CUDA fused: operands that begin anywhere in memory") {
  TANDEM_NEEDS_GPU;
  const Tensor base = reals({5, 1001}), base_there = base.gpu();
  auto f = function([](const Tensor& x, const Tensor& y) { return exp(x) * y + x; });
  for (i64 i = 0; i < 4; ++i) check_near(f(base_there[i], base_there[i + 1]), exp(base[i]) * base[i + 1] + base[i]);
}

TEST_CASE("CUDA fused: results that several read, and more of them than one") {
  TANDEM_NEEDS_GPU;
  const Tensor x = reals({300}), y = reals({300}, float32, 2);
  const auto results = [](const Tensor& a, const Tensor& b) {
    const Tensor sum = a + b, product = sum * b, flag = product > 0.f;
    return In{sum, tanh(product), flag, where(flag, sum, product), cast(product, float16)};
  };
  auto traced = function([&](const In& in) { return results(in[0], in[1]); });
  const In want = results(x, y), got = traced(there({x, y}));
  for (std::size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    check_near(got[i], want[i]);
  }
}

TEST_CASE("CUDA fused: groups with more ops, inputs and values than a program may have") {
  TANDEM_NEEDS_GPU;
  check(
      [](const In& in) {
        Tensor x = in[0];
        for (int i = 0; i < 100; ++i) x = x * in[1] + in[0];
        return x;
      },
      {reals({50}), reals({50}, float32, 2)}, 7);
  In many;
  for (int i = 0; i < 40; ++i) many.push_back(reals({13}, float32, i + 1));
  check(
      [](const In& in) {
        Tensor sum = in[0];
        for (std::size_t i = 1; i < in.size(); ++i) sum = sum + in[i];
        return sum;
      },
      many, 3);
  // All are read once more at the end: as many values at a time as there are.
  check(
      [](const In& in) {
        In x;
        for (int i = 0; i < 14; ++i) x.push_back(tanh(in[0] * (0.1f * static_cast<float>(i + 1))));
        Tensor y = in[0];
        for (std::size_t i = x.size(); i-- > 0;) y = y * x[i];
        return y;
      },
      {reals({50})}, 2);
}

}  // namespace cuda_fused_test
