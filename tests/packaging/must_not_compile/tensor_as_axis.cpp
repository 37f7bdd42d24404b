// reduce_sum(target, log_p): a tensor is no axis.
// error: no matching function|could not convert
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x, const tandem::Tensor& t) { return tandem::reduce_sum(x, t); }
#else
tandem::Tensor f(const tandem::Tensor& x, const tandem::Tensor&) { return tandem::reduce_sum(x, 0); }
#endif
