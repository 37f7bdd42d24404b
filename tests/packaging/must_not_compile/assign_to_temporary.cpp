// x[0] = t would set a temporary and leave x as it was.
// error: discards qualifiers|no viable overloaded|no match for
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
void f(tandem::Tensor& x, const tandem::Tensor& t) { x[0] = t; }
#else
void f(tandem::Tensor& x, const tandem::Tensor& t) { x = t; }
#endif
