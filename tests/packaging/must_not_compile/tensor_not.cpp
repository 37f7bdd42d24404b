// ! is for conditions; ~ negates a bool tensor.
// error: deleted (function|operator)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
auto f(const tandem::Tensor& t) { return !t; }
#else
bool f(const tandem::Tensor& t) { return !t.item<bool>(); }
#endif
