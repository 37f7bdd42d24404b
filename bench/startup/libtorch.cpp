// Hello world in LibTorch: add two tensors, print their sum.
#include <torch/torch.h>

#include <cstdio>

int main() {
  const at::Tensor a = torch::ones({32}), b = torch::ones({32});
  std::printf("hello, %g\n", (a + b).sum().item<float>());
}
