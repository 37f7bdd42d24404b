// Hello world in Tandem: add two tensors, print their sum.
#include <tandem/tandem.hpp>

#include <cstdio>

int main() {
  const tandem::Tensor a = tandem::ones({32}), b = tandem::ones({32});
  std::printf("hello, %g\n", tandem::reduce_sum(a + b).item<float>());
}
