// first_tensor: two tensors, a product and a sum.
#include <iostream>

#include <tandem/tensor.hpp>

int main() {
  const tandem::Tensor a = tandem::constant({{1.f, 2.f}, {3.f, 4.f}});
  const tandem::Tensor b = tandem::constant({10.f, 20.f});
  std::cout << "a b =\n" << tandem::matmul(a, tandem::reshape(b, {2, 1})) << "\na + b =\n" << a + b << "\n";
}
