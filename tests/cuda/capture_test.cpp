// Traced functions on the device: what is launched one by one at first is captured as a CUDA graph, and computes the
// same.
#include <thread>

#include "tandem/autodiff/tape.hpp"
#include "tandem/function.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/cuda/device.hpp"

using namespace tandem;
using namespace gpu_test;

namespace {

std::uint64_t launches_since(std::uint64_t before) { return cuda::graph_launches() - before; }

// Products, folds, a sort and a scan: kernels with scratch memory, and without.
Tensor chain(const Tensor& x, const Tensor& w) {
  const Tensor h = nn::relu(matmul(x, w)), s = nn::softmax(h), sorted = sort(h);
  return cumsum(s, 1) + reduce_sum(sorted, 0) * 0.01f + reduce_max(h);
}

}  // namespace

TEST_CASE("CUDA capture: a traced function's launches become one graph") {
  TANDEM_NEEDS_GPU;
  const Tensor host_w = reals({16, 16}), w = host_w.gpu();
  const auto f = function([w](const Tensor& x) { return chain(x, w); });
  const Tensor host_x = reals({8, 16}, float32, 3), x = host_x.gpu();
  const Tensor want = chain(host_x, host_w);
  const std::uint64_t before = cuda::graph_launches();
  std::vector<Tensor> kept;
  for (int i = 0; i < 12; ++i) {
    const Tensor y = f(x);
    check_near(y, want);
    if (i % 5 == 0) kept.push_back(y);
  }
  CHECK(launches_since(before) >= 5);
  for (const Tensor& y : kept) check_near(y, want);
}

TEST_CASE("CUDA capture: a graph's scratch memory is its own") {
  TANDEM_NEEDS_GPU;
  const Tensor host_w = reals({64, 64}), w = host_w.gpu();
  const auto f = function([w](const Tensor& x) { return chain(x, w); });
  const Tensor host_x = reals({64, 64}, float32, 3), x = host_x.gpu(), want = chain(host_x, host_w);
  const std::uint64_t before = cuda::graph_launches();
  for (int i = 0; i < 4; ++i) (void)f(x);
  REQUIRE(launches_since(before) >= 1);
  std::vector<Tensor> others;  // of the sizes of the scratch memory, which its cache would hand out
  for (int i = 0; i < 40; ++i) others.push_back(constant(1.5f).gpu() + zeros({1 << (8 + i % 8)}).gpu());
  for (int i = 0; i < 4; ++i) check_near(f(x), want);
  for (const Tensor& t : others) CHECK(reduce_all(equal(t.cpu(), 1.5f)).item<bool>());
}

TEST_CASE("CUDA capture: a training step, whose optimizer reads its rate on the host") {
  TANDEM_NEEDS_GPU;
  const Tensor x = reals({32, 12}), labels = cast(reals({32}, float32, 5) * 2.f + 2.f, int64);
  const auto train = [&](Device device) {
    const Tensor data = x.to(device), classes = labels.to(device);
    const Variable w(reals({12, 24}, float32, 7).to(device)), b(zeros({24}).to(device)),
        v(reals({24, 4}, float32, 8).to(device));
    const optimizers::Adam adam({.learning_rate = 0.01, .epsilon = 1e-3});
    const auto step = function([&](const Tensor& in, const Tensor& out) {
      GradientTape tape;
      const Tensor h = nn::relu(matmul(in, w) + b);
      const Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(out, matmul(h, v)));
      const std::vector<Variable> all{w, b, v};
      adam.apply_gradients(tape.gradient(loss, all), all);
      return loss;
    });
    std::vector<Tensor> results;
    const std::uint64_t waits = cuda::hidden_synchronizations();
    for (int i = 0; i < 12; ++i) results.push_back(step(data, classes));
    CHECK(cuda::hidden_synchronizations() == waits);
    std::vector<float> losses;
    for (const Tensor& loss : results) losses.push_back(loss.item<float>());
    return std::pair(losses, Tensor(w).cpu());
  };
  const auto [want, want_w] = train(Device{});
  const std::uint64_t before = cuda::graph_launches();
  const auto [got, got_w] = train(gpu);
  CHECK(launches_since(before) >= 8);
  CHECK(got.back() < got.front());
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-4));
  check_near(got_w, want_w);
}

TEST_CASE("CUDA capture: an index out of range in a graph is reported in the op's name") {
  TANDEM_NEEDS_GPU;
  const Tensor table = reals({10, 4}).gpu();
  const auto f = function([table](const Tensor& i) { return transpose(exp(gather(table, i)) + 1.f); });
  Tensor good = constant({1, 2, 3}).gpu();
  const std::uint64_t before = cuda::graph_launches();
  for (int i = 0; i < 4; ++i) (void)f(good);
  cuda::synchronize();
  REQUIRE(launches_since(before) >= 1);
  good = Tensor();  // its buffer, so that the graph is launched again
  const Tensor bad = constant({1, 20, 3}).gpu();
  const std::uint64_t launched = cuda::graph_launches();
  (void)f(bad);
  CHECK(launches_since(launched) == 1);
  CHECK_THROWS_WITH(cuda::synchronize(), ContainsSubstring("gather: index 20"));
}

TEST_CASE("CUDA capture: a graph made without TF32 is not launched where it is allowed") {
  TANDEM_NEEDS_GPU;
  const Tensor w = reals({16, 16}).gpu(), x = reals({8, 16}, float32, 3).gpu();
  const auto f = function([w](const Tensor& a) { return chain(a, w); });
  for (int i = 0; i < 4; ++i) (void)f(x);
  std::uint64_t before = cuda::graph_launches();
  (void)f(x);
  CHECK(launches_since(before) == 1);
  cuda::allow_tf32(true);
  before = cuda::graph_launches();
  (void)f(x);
  CHECK(launches_since(before) == 0);
  (void)f(x);
  CHECK(launches_since(before) == 1);
  cuda::allow_tf32(false);
}

TEST_CASE("CUDA capture: other threads launch while one captures") {
  TANDEM_NEEDS_GPU;
  if (emulator::barrier) TANDEM_SKIP("the emulator has one thread");
  const Tensor host_w = reals({32, 32}), w = host_w.gpu(), host_x = reals({32, 32}, float32, 3), x = host_x.gpu();
  const Tensor want = chain(host_x, host_w).cpu();
  std::vector<Tensor> results(4);
  const std::uint64_t before = cuda::graph_launches();
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        const auto f = function([w](const Tensor& a) { return chain(a, w); });
        for (int i = 0; i < 4; ++i) results[t] = f(x);
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(launches_since(before) >= results.size());
  for (const Tensor& y : results) check_near(y, want);
}
