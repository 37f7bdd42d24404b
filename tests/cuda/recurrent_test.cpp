// LSTM and GRU on the device by cuDNN, which a program asks for, against the CPU: values and gradients, what stays with
// our own kernels, residuals of either, traced functions. On the emulator a stand-in computes cuDNN's formulas.
#include "tandem/autodiff/tape.hpp"
#include "tandem/function.hpp"
#include "tandem/ops/rnn/common.hpp"
#include "tandem/ops/rnn/gru.hpp"
#include "tandem/ops/rnn/lstm.hpp"
#include "tests/cuda/device.hpp"

namespace cuda_recurrent_test {

using namespace tandem;
using namespace gpu_test;

#define TANDEM_NEEDS_CUDNN_RNN                                                              \
  TANDEM_NEEDS_GPU;                                                                         \
  if (!cuda::has_cudnn_rnn || !cuda::has_cudnn_rnn()) TANDEM_SKIP("no cuDNN is installed"); \
  const Asked asked

struct Asked {
  Asked() { cuda::use_cudnn_rnn(true); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;
  ~Asked() { cuda::use_cudnn_rnn(false); }
};

struct Case {
  bool is_gru;
  i64 steps, batch, in, units;
};
std::vector<Tensor> operands(const Case& k, DType d = float32) {
  const i64 gates = k.is_gru ? 3 : 4, u = k.units;
  std::vector<Tensor> r{reals({k.steps, k.batch, k.in}, d), reals({k.batch, u}, d, 2)};
  if (!k.is_gru) r.push_back(reals({k.batch, u}, d, 3));
  r.push_back(reals({k.in, gates * u}, d, 4)), r.push_back(reals({u, gates * u}, d, 5));
  r.push_back(reals(k.is_gru ? Shape{2, gates * u} : Shape{gates * u}, d, 6));
  return r;
}
std::vector<Tensor> on_gpu(const std::vector<Tensor>& x) {
  std::vector<Tensor> r;
  for (const Tensor& t : x) r.push_back(t.gpu());
  return r;
}
std::vector<Tensor> results(bool is_gru, const std::vector<Tensor>& x, const Tensor& lengths = {}) {
  if (is_gru) {
    nn::GruResult r = nn::gru(x[0], x[1], x[2], x[3], x[4], {.sequence_length = lengths});
    return {r.output, r.state};
  }
  nn::LstmResult r = nn::lstm(x[0], {x[1], x[2]}, x[3], x[4], x[5], {.sequence_length = lengths});
  return {r.output, r.state.h, r.state.c};
}
// The results, and the gradients of a sum of all with weights of their own.
std::vector<Tensor> with_gradients(bool is_gru, const std::vector<Tensor>& x, const Tensor& lengths = {}) {
  GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  std::vector<Tensor> r = results(is_gru, x, lengths);
  Tensor sum = reduce_sum(square(r[0]));
  for (std::size_t i = 1; i < r.size(); ++i) sum = sum + reduce_sum(r[i]) * (0.5f + static_cast<float>(i));
  for (const Tensor& g : tape.gradient(sum, x)) r.push_back(g);
  return r;
}
void check_all(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i].device() == gpu);
    check_near(got[i], want[i], 1);
  }
}
template <class F>
u64 ops_by_cudnn(const F& f) {
  const u64 before = cuda::cudnn_recurrences();
  f();
  return cuda::cudnn_recurrences() - before;
}

TEST_CASE("CUDA recurrent: by cuDNN, with the gradients of all operands") {
  TANDEM_NEEDS_CUDNN_RNN;
  for (const bool is_gru : {false, true})
    for (const Case& k : {Case{is_gru, 1, 1, 1, 1}, Case{is_gru, 3, 2, 5, 4}, Case{is_gru, 2, 3, 40, 33},
                          Case{is_gru, 4, 2, 32, 64}, Case{is_gru, 2, 5, 3, 70}}) {
      CAPTURE(is_gru, k.steps, k.batch, k.in, k.units);
      const std::vector<Tensor> x = operands(k), want = with_gradients(is_gru, x);
      std::vector<Tensor> got;
      CHECK(ops_by_cudnn([&] { got = with_gradients(is_gru, on_gpu(x)); }) == 2);
      check_all(got, want);
    }
}

TEST_CASE("CUDA recurrent: what our own kernels compute though cuDNN is asked for") {
  TANDEM_NEEDS_CUDNN_RNN;
  for (const bool is_gru : {false, true}) {
    CAPTURE(is_gru);
    const auto check_own = [&](const std::vector<Tensor>& x, const Tensor& lengths = {}) {
      const Tensor there = lengths.is_set() ? lengths.gpu() : Tensor();
      std::vector<Tensor> got;
      CHECK(ops_by_cudnn([&] { got = with_gradients(is_gru, on_gpu(x), there); }) == 0);
      check_all(got, with_gradients(is_gru, x, lengths));
    };
    check_own(operands({is_gru, 3, 2, 5, 4}, float64));
    check_own(operands({is_gru, 3, 2, 5, 4}), constant({1, 3}, {.dtype = int32}));
    check_own(operands({is_gru, 0, 2, 5, 4}));
    check_own(operands({is_gru, 3, 2, 0, 4}));
    if (emulator::barrier) check_own(operands({is_gru, 2, 13, 3, 4}));  // the stand-in refuses this batch
    if (emulator::hide_recurrences) {
      emulator::hide_recurrences(true);
      check_own(operands({is_gru, 3, 2, 5, 4}));
      emulator::hide_recurrences(false);
    }
    cuda::use_cudnn_rnn(false);
    check_own(operands({is_gru, 3, 2, 5, 4}));
    cuda::use_cudnn_rnn(true);
  }
}

TEST_CASE("CUDA recurrent: who made the residuals computes the gradient") {
  TANDEM_NEEDS_CUDNN_RNN;
  for (const bool is_gru : {false, true})
    for (const bool first : {false, true}) {
      CAPTURE(is_gru, first);
      const std::vector<Tensor> x = operands({is_gru, 3, 2, 5, 4}), there = on_gpu(x);
      const auto gradients = [&](const std::vector<Tensor>& in, bool switches) {
        cuda::use_cudnn_rnn(first);
        GradientTape tape({.persistent = true});
        for (const Tensor& t : in) tape.watch(t);
        const Tensor y = square(results(is_gru, in)[0]);
        if (switches) cuda::use_cudnn_rnn(!first);
        std::vector<Tensor> r = tape.gradient(y, in);
        for (const Tensor& g : tape.gradient(y, in)) r.push_back(g);  // the residuals are as they were
        return r;
      };
      check_all(gradients(there, true), gradients(x, false));
      cuda::use_cudnn_rnn(true);
    }
}

TEST_CASE("CUDA recurrent: half precision is computed in float32, and an input without a gradient") {
  TANDEM_NEEDS_CUDNN_RNN;
  for (const bool is_gru : {false, true})
    for (const DType d : {float16, bfloat16}) {
      CAPTURE(is_gru, name(d));
      const std::vector<Tensor> x = operands({is_gru, 3, 2, 5, 4}, d), want = results(is_gru, x);
      std::vector<Tensor> got;
      CHECK(ops_by_cudnn([&] { got = results(is_gru, on_gpu(x)); }) == 1);
      check_all(got, want);
    }
  const std::vector<Tensor> x = operands({false, 3, 2, 5, 4});
  const auto of_kernel = [](const std::vector<Tensor>& in) {
    GradientTape tape;
    tape.watch(in[3]);
    const Tensor y = square(results(false, in)[0]);
    return tape.gradient(y, in[3]);
  };
  check_near(of_kernel(on_gpu(x)), of_kernel(x), 1);
}

TEST_CASE("CUDA recurrent: traced, for any number of steps and rows, and not captured") {
  TANDEM_NEEDS_CUDNN_RNN;
  for (const bool is_gru : {false, true}) {
    CAPTURE(is_gru);
    const std::vector<Tensor> weights = operands({is_gru, 3, 2, 5, 4}), there = on_gpu(weights);
    const auto step = [is_gru](const Tensor& x, const std::vector<Tensor>& w) {
      std::vector<Tensor> in = w;
      in[0] = x;
      const Tensor zero = zeros_like(reduce_sum(x, 0))[0][0] * zeros({1, 4}).to(x.device());
      for (std::size_t i = 1; i < w.size() - 3; ++i)
        in[i] = zero + reduce_sum(reduce_sum(x, 0) * 0.f, {.axis = 1, .keepdims = true});
      return with_gradients(is_gru, in);
    };
    const auto f = function([step, there](const Tensor& x) { return step(x, there); },
                            {.input_signature = {{{none, none, 5}, float32, gpu}}});
    const std::uint64_t graphs = cuda::graph_launches();
    CHECK(ops_by_cudnn([&] {
            for (const Shape& s : {Shape{3, 2, 5}, Shape{1, 4, 5}, Shape{3, 2, 5}}) {
              const Tensor x = reals(s, float32, 9), x_there = x.gpu();
              const std::vector<Tensor> want = step(x, weights);
              for (int run = 0; run < 5; ++run) check_all(f(x_there), want);
            }
          }) == 30);
    CHECK(cuda::graph_launches() == graphs);  // cuDNN has streams of its own
  }
}

TEST_CASE("CUDA recurrent: a plan that fails for lack of memory is an error, and made the next time") {
  TANDEM_NEEDS_CUDNN_RNN;
  if (!emulator::fail_recurrence_plans) TANDEM_SKIP("needs the emulator");
  for (const bool is_gru : {false, true}) {
    const std::vector<Tensor> x = operands({is_gru, 3, 2, 6, 7}), there = on_gpu(x);
    emulator::fail_recurrence_plans(2);
    for (int i = 0; i < 2; ++i)
      CHECK_THROWS_WITH(results(is_gru, there),
                        ContainsSubstring(is_gru ? "gru: cuDNN: descriptors: " : "lstm: cuDNN: descriptors: "));
    std::vector<Tensor> got;
    CHECK(ops_by_cudnn([&] { got = with_gradients(is_gru, there); }) == 2);
    check_all(got, with_gradients(is_gru, x));
  }
}

TEST_CASE("CUDA recurrent: residuals that nobody made") {
  TANDEM_NEEDS_CUDNN_RNN;
  const std::vector<Tensor> x = on_gpu(operands({false, 3, 2, 5, 4}));
  const auto gradient = [&](const Shape& gates, const Shape& cells) {
    const Tensor y = zeros({3, 2, 4}).gpu(), g = zeros(gates).gpu(), c = zeros(cells).gpu(), h = zeros({2, 4}).gpu();
    const Tensor* const in[] = {&x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &y, &g, &c, &y, &h, &h};
    return apply(lstm_grad_op, {in, 12}, rules::RnnGradAttrs{true});
  };
  CHECK_NOTHROW(gradient({3, 2, 16}, {3, 2, 4}));
  CHECK_THROWS_WITH(gradient({3, 2, 1}, {3, 2, 0}),
                    ContainsSubstring("cuDNN did not make the residuals: float32[3,2,1]"));
  if (emulator::hide_recurrences) {
    emulator::hide_recurrences(true);
    CHECK_THROWS_WITH(gradient({3, 2, 1}, {3, 2, 0}),
                      ContainsSubstring("cuDNN did not make the residuals: libcudnn.so.9 cannot be opened"));
    emulator::hide_recurrences(false);
  }
  const auto refused = ContainsSubstring("the shapes of saved values or gradients do not match the results");
  CHECK_THROWS_WITH(gradient({3, 2, 20}, {3, 2, 4}), refused);
  CHECK_THROWS_WITH(gradient({3, 2, 16}, {3, 2, 3}), refused);
  CHECK_THROWS_WITH(gradient({2, 2, 20}, {3, 2, 0}), refused);
  CHECK_THROWS_WITH(gradient({3, 2, 20}, {3, 1, 0}), refused);
}

TEST_CASE("CUDA recurrent: cuDNN has both, convolutions and recurrent functions") {
  if (emulator::barrier || !cuda::has_cudnn) TANDEM_SKIP("needs the library's own symbols, and no emulator");
  CHECK(cuda::has_cudnn_rnn() == cuda::has_cudnn());
}

TEST_CASE("CUDA recurrent: second derivatives") {
  TANDEM_NEEDS_CUDNN_RNN;
  for (const bool is_gru : {false, true}) {
    CAPTURE(is_gru);
    const std::vector<Tensor> x = operands({is_gru, 2, 2, 3, 3});
    const auto second = [&](const std::vector<Tensor>& in) {
      GradientTape outer;
      outer.watch(in[0]);
      Tensor g;
      {
        GradientTape inner;
        inner.watch(in[0]);
        const Tensor y = square(results(is_gru, in)[0]);
        g = inner.gradient(y, in[0]);
      }
      return outer.gradient(square(g), in[0]);
    };
    check_near(second(on_gpu(x)), second(x), 1);
  }
}

}  // namespace cuda_recurrent_test
