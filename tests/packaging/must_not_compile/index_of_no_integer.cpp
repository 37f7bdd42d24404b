// An index is an integer: not true, which is a mask in NumPy, and not a number with a fraction.
// error: deleted (function|constructor|operator)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return x[1.5]; }
tandem::Tensor g(const tandem::Tensor& x) { return x[true]; }
#else
tandem::Tensor f(const tandem::Tensor& x) { return x[1] + x[0][std::int8_t(-1)] + x(0, 1u) + x[x.shape()[0] - 1]; }
#endif
