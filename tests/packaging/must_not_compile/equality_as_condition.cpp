// == is element by element; identity is is_same.
// error: deleted (function|operator)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
int f(const tandem::Tensor& a, const tandem::Tensor& b) {
  if (a == b) return 1;
  return 0;
}
#else
int f(const tandem::Tensor& a, const tandem::Tensor& b) { return a.is_same(b) ? 1 : 0; }
#endif
