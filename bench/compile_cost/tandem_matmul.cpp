// Measures the cost of compiling a product, a sum and a print in Tandem.
#include <tandem/tensor.hpp>

#include <iostream>

using namespace tandem;

int main() {
  const Tensor a = constant({{1.f, 2.f}, {3.f, 4.f}});
  std::cout << matmul(a, a) + 1 << "\n";
}
