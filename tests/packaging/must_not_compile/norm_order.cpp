// The second argument of tf.norm and np.linalg.norm is the order, of tf.reduce_sum the axis: here both have their name.
// error: deleted
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return tandem::norm(x, 1); }
#else
tandem::Tensor f(const tandem::Tensor& x) { return tandem::norm(x, {.ord = 1}); }
#endif
