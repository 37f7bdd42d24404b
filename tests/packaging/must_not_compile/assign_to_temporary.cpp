// x[0] = t would change nothing: a tensor's values are assigned through a Variable, or by an op that gives a new tensor.
// error: discards qualifiers|passing .* as .this. argument|no viable overloaded|no match for
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
void f(tandem::Tensor& x, const tandem::Tensor& t) { x[0] = t; }
#else
void f(tandem::Tensor& x, const tandem::Tensor& t) { x = t; }
#endif
