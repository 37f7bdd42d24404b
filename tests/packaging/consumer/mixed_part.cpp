// A function with tensors in its signature; compiled in another mode than its caller it must not link.
#include <tandem/tensor.hpp>

tandem::Tensor twice(const tandem::Tensor& x) { return x + x; }

// Here only the return type tells the modes apart.
tandem::Tensor three() { return tandem::constant(3.f); }
