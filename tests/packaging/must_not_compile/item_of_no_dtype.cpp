// item<T> exists for element types alone.
// error: no matching function|static.?assert
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
void* f(const tandem::Tensor& x) { return x.item<void*>(); }
#else
float f(const tandem::Tensor& x) { return x.item<float>(); }
#endif
