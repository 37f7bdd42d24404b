// Padding is a constant, not its name in TensorFlow.
// error: deleted (function|constructor)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return tandem::nn::max_pool(x, {.padding = "same"}); }
#else
tandem::Tensor f(const tandem::Tensor& x) { return tandem::nn::max_pool(x, {.padding = tandem::Padding::same}); }
#endif
