// The caller of mixed_part.cpp.
#include <tandem/tensor.hpp>

tandem::Tensor twice(const tandem::Tensor& x);
tandem::Tensor three();

int main() { return twice(three()).item<float>() == 6.f ? 0 : 1; }
