// Tandem's side of the GPU benchmark: reads "<scenario> <iterations>" from standard input and answers with seconds an
// iteration, so that compare.py can take turns with PyTorch. A first line says what is measured on.
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "tandem/cuda.hpp"
#include "tandem/linalg.hpp"
#include "tandem/signal.hpp"
#include "tandem/tandem.hpp"

using namespace tandem;

namespace {

using Step = std::function<void()>;

Tensor normal(const Shape& s, double stddev = 1) { return random::normal(s, {.stddev = stddev}); }
std::vector<Variable> weights_of(std::initializer_list<Shape> shapes) {
  std::vector<Variable> w;
  for (const Shape& s : shapes) w.emplace_back(normal(s, 0.05));
  return w;
}

// f(operands), whose result the next call replaces.
template <class F>
Step op(std::vector<Tensor> in, F f) {
  return [in, f, y = std::make_shared<Tensor>()] { *y = f(in); };
}
// A step by Adam for a loss of the weights.
Step training(std::vector<Variable> w, std::function<Tensor(const std::vector<Variable>&)> loss) {
  return [w, loss, adam = std::make_shared<optimizers::Adam>()] {
    GradientTape tape;
    const Tensor l = loss(w);
    adam->apply_gradients(tape.gradient(l, w), w);
  };
}
Step traced(const Step& step) {
  return [f = function([step] {
            step();
            return constant(0.f);
          })] { f(); };
}

Step mlp() {
  const Tensor x = normal({1024, 784}), labels = random::uniform({1024}, {.maxval = 10, .dtype = int64});
  return training(weights_of({{784, 512}, {512}, {512, 512}, {512}, {512, 10}, {10}}), [=](const auto& w) {
    Tensor h = nn::dense(x, w[0], w[1], {.activation = FusedActivation::relu});
    h = nn::dense(h, w[2], w[3], {.activation = FusedActivation::relu});
    return reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, nn::dense(h, w[4], w[5])));
  });
}
Step lstm() {
  constexpr i64 steps = 64, batch = 128, in = 128, units = 512;
  const Tensor x = normal({steps, batch, in}), zero = zeros({batch, units});
  return training(weights_of({{in, 4 * units}, {units, 4 * units}, {4 * units}}), [=](const auto& w) {
    return reduce_mean(square(nn::lstm(x, {zero, zero}, w[0], w[1], w[2]).output));
  });
}

// Three layers of convolutions, the second of which halves the image.
Step convolutions() {
  const Tensor x = normal({32, 56, 56, 64});
  return training(weights_of({{3, 3, 64, 64}, {3, 3, 64, 128}, {3, 3, 128, 128}}), [=](const auto& w) {
    Tensor h = nn::conv2d(x, w[0], {.padding = {{1, 1}, {1, 1}}});
    h = nn::conv2d(nn::relu(h), w[1], {.strides = 2, .padding = {{1, 1}, {1, 1}}});
    return reduce_mean(square(nn::conv2d(nn::relu(h), w[2], {.padding = {{1, 1}, {1, 1}}})));
  });
}

// A transformer's layer, normalized first: attention by eight heads, and two dense layers with GELU between them.
Step transformer() {
  constexpr i64 batch = 8, steps = 512, width = 512, heads = 8, wide = 2048;
  const Tensor x = normal({batch, steps, width});
  const Shape vector{width}, square_of{width, width};
  return training(weights_of({vector,
                              vector,
                              {width, 3 * width},
                              {3 * width},
                              square_of,
                              vector,
                              vector,
                              vector,
                              {width, wide},
                              {wide},
                              {wide, width},
                              vector}),
                  [=](const auto& w) {
                    const Tensor n = nn::layer_norm(x, {.epsilon = 1e-5, .scale = w[0], .offset = w[1]});
                    const Tensor qkv = reshape(nn::dense(n, w[2], w[3]), {batch, steps, 3, heads, width / heads});
                    const std::vector<Tensor> p = unstack(qkv, {.axis = 2});
                    const Tensor seen = nn::scaled_dot_product_attention(p[0], p[1], p[2], {.steps_first = true});
                    const Tensor h = x + nn::dense(reshape(seen, {batch, steps, width}), w[4], w[5]);
                    const Tensor m = nn::layer_norm(h, {.epsilon = 1e-5, .scale = w[6], .offset = w[7]});
                    return reduce_mean(square(h + nn::dense(nn::gelu(nn::dense(m, w[8], w[9])), w[10], w[11])));
                  });
}

using In = std::vector<Tensor>;
// Positive definite matrices.
Tensor positive(const Shape& s) {
  const Tensor x = normal(s);
  return matmul(x, x, {.transpose_b = true}) + eye(s.dim(-1)) * static_cast<float>(s.dim(-1));
}
Step cholesky(const Shape& s) {
  return op({positive(s)}, [](const In& t) { return linalg::cholesky(t[0]); });
}
Tensor attention(const In& t) { return nn::scaled_dot_product_attention(t[0], t[1], t[2], {.causal = true}); }
In heads(DType d) {
  const auto one = [d] { return cast(normal({8, 16, 1024, 64}), d); };
  return {one(), one(), one()};
}
Step attention_step(DType d) {
  return op(heads(d), [](const In& t) {
    GradientTape tape;
    for (const Tensor& x : t) tape.watch(x);
    const Tensor y = attention(t);
    return tape.gradient(y, t)[0];
  });
}
// Twelve elementwise ops in a row.
Tensor chain(const Tensor& x) {
  const Tensor y = tanh(x * 0.5f) * nn::sigmoid(x + 1.f);
  return sqrt(square(y) + 1.f) - exp(-abs(y)) * 0.25f;
}

const std::map<std::string, std::function<Step()>> scenarios{
    {"small_add",
     [] {
       return op({normal({16}), normal({16})}, [](const In& t) { return t[0] + t[1]; });
     }},
    {"add",
     [] {
       return op({normal({4096, 4096}), normal({4096, 4096})}, [](const In& t) { return t[0] + t[1]; });
     }},
    {"sum",
     [] {
       return op({normal({4096, 4096})}, [](const In& t) { return reduce_sum(t[0]); });
     }},
    {"sum_columns",
     [] {
       return op({normal({4096, 4096})}, [](const In& t) { return reduce_sum(t[0], 0); });
     }},
    {"transpose",
     [] {
       return op({normal({4096, 4096})}, [](const In& t) { return transpose(t[0]); });
     }},
    {"cumsum",
     [] {
       return op({normal({4096, 4096})}, [](const In& t) { return cumsum(t[0], 1); });
     }},
    {"softmax",
     [] {
       return op({normal({8192, 1024})}, [](const In& t) { return nn::softmax(t[0]); });
     }},
    {"fft",
     [] {
       return op({tandem::complex(normal({64, 65536}), normal({64, 65536}))},
                 [](const In& t) { return signal::fft(t[0]); });
     }},
    {"rfft2d",
     [] {
       return op({normal({64, 512, 512})}, [](const In& t) { return signal::rfft2d(t[0]); });
     }},
    {"unique",
     [] {
       return op({random::uniform({1 << 20}, {.maxval = 1 << 16, .dtype = int64})},
                 [](const In& t) { return unique(t[0]).y; });
     }},
    {"sort", [] { return op({normal({1 << 20})}, [](const In& t) { return sort(t[0]); }); }},
    {"matmul",
     [] {
       return op({normal({4096, 4096}), normal({4096, 4096})}, [](const In& t) { return matmul(t[0], t[1]); });
     }},
    {"matmul_bf16",
     [] {
       return op({cast(normal({4096, 4096}), bfloat16), cast(normal({4096, 4096}), bfloat16)},
                 [](const In& t) { return matmul(t[0], t[1]); });
     }},
    {"layer_norm",
     [] {
       return op({normal({8192, 1024}), normal({1024}), normal({1024})},
                 [](const In& t) { return nn::layer_norm(t[0], {.scale = t[1], .offset = t[2]}); });
     }},
    {"gather",
     [] {
       return op({normal({32000, 512}), random::uniform({16384}, {.maxval = 32000, .dtype = int64})},
                 [](const In& t) { return gather(t[0], t[1]); });
     }},
    {"chain_traced",
     [] {
       return op({normal({4096, 4096})}, [f = function(chain)](const In& t) { return f(t[0]); });
     }},
    {"attention", [] { return op(heads(float32), attention); }},
    {"attention_bf16", [] { return op(heads(bfloat16), attention); }},
    {"attention_step", [] { return attention_step(float32); }},
    {"attention_step_bf16", [] { return attention_step(bfloat16); }},
    {"conv",
     [] {
       return op({normal({32, 56, 56, 64}), normal({3, 3, 64, 64})},
                 [](const In& t) { return nn::conv2d(t[0], t[1], {.padding = Padding::same}); });
     }},
    {"conv_bf16",
     [] {
       return op({cast(normal({32, 56, 56, 64}), bfloat16), cast(normal({3, 3, 64, 64}), bfloat16)},
                 [](const In& t) { return nn::conv2d(t[0], t[1], {.padding = Padding::same}); });
     }},
    {"conv_strided",
     [] {
       return op({normal({32, 112, 112, 64}), normal({3, 3, 64, 128})}, [](const In& t) {
         return nn::conv2d(t[0], t[1], {.strides = 2, .padding = {{1, 1}, {1, 1}}});
       });
     }},
    {"conv_step", convolutions},
    {"conv_step_traced", [] { return traced(convolutions()); }},
    {"transformer_step", transformer},
    {"transformer_traced", [] { return traced(transformer()); }},
    {"mlp_step", mlp},
    {"mlp_traced", [] { return traced(mlp()); }},
    {"lstm_step", lstm},
    {"lstm_traced", [] { return traced(lstm()); }},
    {"cholesky",
     [] {
       return cholesky({2048, 2048});
     }},
    {"cholesky_batch",
     [] {
       return cholesky({1000, 32, 32});
     }},
    {"solve",
     [] {
       return op({normal({2048, 2048}), normal({2048, 16})}, [](const In& t) { return linalg::solve(t[0], t[1]); });
     }},
    {"svd",
     [] {
       return op({normal({512, 512})}, [](const In& t) { return linalg::svd(t[0]).u; });
     }},
    {"eigh",
     [] {
       return op({positive({512, 512})}, [](const In& t) { return linalg::eigh(t[0]).v; });
     }},
};

double seconds(const Step& step, int iterations) {
  for (int i = 0; i < 3; ++i) step();
  cuda::synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < iterations; ++i) step();
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
  std::map<std::string, Step> made;
  std::string name;
  for (int iterations; std::cin >> name >> iterations;) {
    try {
      if (!made.contains(name)) made[name] = scenarios.at(name)();
      std::cout << seconds(made[name], iterations) << std::endl;
    } catch (const std::exception& e) {
      std::cout << name << ": " << e.what() << std::endl;
    }
  }
}
