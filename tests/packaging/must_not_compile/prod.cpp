// Reductions bear TensorFlow 2's names, and no second ones.
// error: has not been declared|is not a member of|no member named
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return tandem::prod(x); }
#else
tandem::Tensor f(const tandem::Tensor& x) { return tandem::reduce_prod(x); }
#endif
