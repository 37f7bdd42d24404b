// Tandem's side of the GPU benchmark: reads "<scenario> <iterations>" from standard input and answers with seconds an
// iteration, so that compare.py can take turns with PyTorch. A first line says what is measured on.
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/cuda.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/tandem.hpp"

using namespace tandem;

namespace {

struct Scenario {
  virtual ~Scenario() = default;
  virtual void run() = 0;
};
Tensor normal(const Shape& s, double stddev = 1) { return random::normal(s, {.stddev = stddev}); }

struct Add : Scenario {
  Tensor a = normal({4096, 4096}), b = normal({4096, 4096}), y;
  void run() override { y = a + b; }
};
struct Sum : Scenario {
  Tensor a = normal({4096, 4096}), y;
  void run() override { y = reduce_sum(a); }
};
struct Softmax : Scenario {
  Tensor a = normal({8192, 1024}), y;
  void run() override { y = nn::softmax(a); }
};
struct Product : Scenario {
  Tensor a = normal({4096, 4096}), b = normal({4096, 4096}), y;
  void run() override { y = matmul(a, b); }
};
// A training step by Adam.
struct Training : Scenario {
  std::vector<Variable> w;
  optimizers::Adam adam{{}};
  virtual Tensor loss() = 0;
  void run() override {
    GradientTape tape;
    const Tensor l = loss();
    adam.apply_gradients(tape.gradient(l, w), w);
  }
};
struct Mlp : Training {
  Tensor x = normal({1024, 784}), labels = random::uniform({1024}, {.maxval = 10, .dtype = int64});
  Mlp() {
    for (const Shape& s : {Shape{784, 512}, Shape{512}, Shape{512, 512}, Shape{512}, Shape{512, 10}, Shape{10}})
      w.emplace_back(normal(s, 0.05));
  }
  Tensor loss() override {
    Tensor h = nn::dense(x, w[0], w[1], {.activation = nn::DenseActivation::relu});
    h = nn::dense(h, w[2], w[3], {.activation = nn::DenseActivation::relu});
    return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, nn::dense(h, w[4], w[5])));
  }
};
struct Lstm : Training {
  static constexpr i64 steps = 64, batch = 128, in = 128, units = 512;
  Tensor x = normal({steps, batch, in}), zero = normal({batch, units}, 0);
  Lstm() {
    for (const Shape& s : {Shape{in, 4 * units}, Shape{units, 4 * units}, Shape{4 * units}})
      w.emplace_back(normal(s, 0.05));
  }
  Tensor loss() override { return reduce_mean(square(nn::lstm(x, {zero, zero}, w[0], w[1], w[2]).output)); }
};

std::unique_ptr<Scenario> make(const std::string& name) {
  if (name == "add") return std::make_unique<Add>();
  if (name == "sum") return std::make_unique<Sum>();
  if (name == "softmax") return std::make_unique<Softmax>();
  if (name == "matmul") return std::make_unique<Product>();
  if (name == "mlp_step") return std::make_unique<Mlp>();
  if (name == "lstm_step") return std::make_unique<Lstm>();
  return nullptr;
}
double seconds(Scenario& s, int iterations) {
  for (int i = 0; i < 3; ++i) s.run();
  cuda::synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < iterations; ++i) s.run();
  cuda::synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / iterations;
}

}  // namespace

int main() {
  if (!cuda::available()) {
    std::cerr << "no CUDA device: " << cuda::why_unavailable() << "\n";
    return 2;
  }
  const DeviceScope scope({Device::gpu, 0});
  std::cout << "ready" << std::endl;
  std::map<std::string, std::unique_ptr<Scenario>> made;
  std::string name;
  for (int iterations; std::cin >> name >> iterations;) {
    auto& scenario = made[name];
    if (!scenario) scenario = make(name);
    if (!scenario) return 1;
    std::cout << seconds(*scenario, iterations) << std::endl;
  }
}
