// The share that dropout drops has a name, because other libraries pass the share that is kept.
// error: could not convert|no matching function|no viable conversion|cannot convert
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return tandem::nn::dropout(x, 0.1f); }
#else
tandem::Tensor f(const tandem::Tensor& x) { return tandem::nn::dropout(x, {.rate = 0.1}); }
#endif
