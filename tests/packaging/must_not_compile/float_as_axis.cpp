// A number with a fraction is no axis.
// error: no matching function|could not convert|narrowing
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return tandem::reduce_sum(x, 1.5); }
#else
tandem::Tensor f(const tandem::Tensor& x) { return tandem::reduce_sum(x, -1); }
#endif
