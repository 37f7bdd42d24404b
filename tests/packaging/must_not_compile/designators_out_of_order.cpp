// C1: options are given in TensorFlow's order. Clang accepts another one with a warning, unless that is an error.
// error: designator order|declaration order
#include <tandem/tandem.hpp>

#ifdef __clang__
#pragma clang diagnostic error "-Wreorder-init-list"
#endif

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return tandem::reduce_sum(x, {.keepdims = true, .axis = 0}); }
#else
tandem::Tensor f(const tandem::Tensor& x) { return tandem::reduce_sum(x, {.axis = 0, .keepdims = true}); }
#endif
