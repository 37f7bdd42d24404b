// Whole training steps: a multi-layer perceptron and a small character RNN learn on the GPU what they learn on the CPU.
#include "tandem/autodiff/tape.hpp"
#include "tandem/function.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/layers/rnn_stack.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/cuda/device.hpp"

using namespace tandem;
using namespace gpu_test;

namespace {

// Adam's usual epsilon makes a full step of a gradient that is nothing but rounding errors.
constexpr double epsilon = 1e-3;

Tensor normal(const Shape& shape, i64 seed, double stddev) {
  const DeviceScope host({Device::cpu, 0});
  return random::stateless_normal(shape, {seed, 1}, {.stddev = stddev});
}
// The losses of a few steps, and the weights after them.
struct Course {
  std::vector<float> losses;
  std::vector<Tensor> weights;
};
// From the same weights, wherever they lie.
template <class Loss>
Course train(Device device, std::vector<Tensor> weights, const optimizers::Adam& adam, const Loss& loss) {
  std::vector<Variable> variables;
  for (const Tensor& w : weights) variables.emplace_back(w.to(device));
  Course course;
  for (int step = 0; step < 8; ++step) {
    GradientTape tape;
    const Tensor l = loss(variables);
    adam.apply_gradients(tape.gradient(l, variables), variables);
    course.losses.push_back(l.item<float>());
  }
  for (const Variable& v : variables) {
    CHECK(Tensor(v).device() == device);
    course.weights.push_back(Tensor(v).cpu());
  }
  return course;
}
template <class Make>
void same_course(const Make& run) {
  const Course cpu = run(Device{}), device = run(gpu);
  REQUIRE(cpu.losses.size() == device.losses.size());
  CHECK(cpu.losses.back() < cpu.losses.front());
  for (std::size_t i = 0; i < cpu.losses.size(); ++i)
    CHECK(device.losses[i] == Approx(cpu.losses[i]).epsilon(tolerance(float32)));
  for (std::size_t i = 0; i < cpu.weights.size(); ++i) {
    CAPTURE(i);
    check_near(device.weights[i], cpu.weights[i]);
  }
}

}  // namespace

TEST_CASE("CUDA training: a multi-layer perceptron") {
  TANDEM_NEEDS_GPU;
  const Tensor x = normal({64, 20}, 1, 1), labels = argmax(normal({64, 5}, 2, 1), 1);
  same_course([&](Device device) {
    const Tensor in = x.to(device), want = labels.to(device);
    return train(device, {normal({20, 32}, 3, 0.3), normal({32}, 4, 0.1), normal({32, 5}, 5, 0.3), normal({5}, 6, 0.1)},
                 optimizers::Adam({.learning_rate = 0.01, .epsilon = epsilon}), [&](const std::vector<Variable>& w) {
                   const Tensor h = nn::dense(in, w[0], w[1], {.activation = FusedActivation::relu});
                   return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(want, matmul(h, w[2]) + w[3]));
                 });
  });
}

TEST_CASE("CUDA training: embedding, LSTM, logits") {
  TANDEM_NEEDS_GPU;
  const i64 steps = 6, batch = 4, units = 8, letters = 11;
  const Tensor ids = random::stateless_uniform({steps, batch}, {1, 2}, {.maxval = letters, .dtype = int32});
  const Tensor next = random::stateless_uniform({steps, batch}, {3, 4}, {.maxval = letters, .dtype = int32});
  same_course([&](Device device) {
    const Tensor in = ids.to(device), want = next.to(device), zero = zeros({batch, units}).to(device);
    return train(device,
                 {normal({letters, 5}, 1, 0.5), normal({5, 4 * units}, 2, 0.4), normal({units, 4 * units}, 3, 0.4),
                  normal({4 * units}, 4, 0.1), normal({units, letters}, 5, 0.4), normal({letters}, 6, 0.1)},
                 optimizers::Adam({.learning_rate = 0.02, .epsilon = epsilon}), [&](const std::vector<Variable>& w) {
                   const Tensor x = nn::embedding_lookup(w[0], in);
                   const Tensor y = nn::lstm(x, {zero, zero}, w[1], w[2], w[3]).output;
                   return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(want, nn::dense(y, w[4], w[5])));
                 });
  });
}

TEST_CASE("CUDA training: many tensors are updated by few launches") {
  TANDEM_NEEDS_GPU;
  std::vector<Tensor> start;  // more than a launch takes, of one block and of several, and empty ones
  for (i64 i = 0; i < 70; ++i) start.push_back(normal({i % 7 == 3 ? 0 : 1 + i * i % 601}, i, 1));
  for (const bool traced : {false, true}) {
    const auto weights_after = [&](Device device) {
      std::vector<Variable> w;
      std::vector<Gradient> g;
      for (const Tensor& x : start) w.emplace_back(x.to(device)), g.emplace_back((x * 0.5f + 0.25f).to(device));
      // The norm's factor is an operand of the update in a traced step.
      const optimizers::Adam adam({.learning_rate = 0.01, .epsilon = epsilon, .global_clipnorm = 3.0});
      adam.build(w);
      const auto step = [&] { adam.apply_gradients(g, w); };
      const auto call = function([&] {
        step();
        return constant(0.f);
      });
      for (int i = 0; i < 4; ++i) traced ? void(call()) : step();
      std::vector<Tensor> r;
      for (const Variable& v : w) r.push_back(Tensor(v).cpu());
      return r;
    };
    const std::vector<Tensor> want = weights_after(Device{}), got = weights_after(gpu);
    for (std::size_t i = 0; i < want.size(); ++i) {
      CAPTURE(traced, i);
      check_near(got[i], want[i]);
    }
  }
}
