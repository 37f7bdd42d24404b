// argmax has no default axis; among its options the axis is required.
// error: no matching function
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return tandem::argmax(x, {.output_type = tandem::int32}); }
#else
tandem::Tensor f(const tandem::Tensor& x) { return tandem::argmax(x, {.axis = -1, .output_type = tandem::int32}); }
#endif
