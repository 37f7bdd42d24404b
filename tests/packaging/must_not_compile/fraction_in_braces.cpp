// A number with a fraction is not an axis.
// error: deleted (function|constructor)|no matching (function|constructor)|could not convert|narrow
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return tandem::reduce_sum(x, {0.5}); }
#else
tandem::Tensor f(const tandem::Tensor& x) { return tandem::reduce_sum(x, {0}) + tandem::reduce_sum(x, {}); }
#endif
