// Python's slice(2) is the first 2, NumPy's x[2:] all from 2 on: one bound alone does not say which.
// error: deleted (function|constructor)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return x(tandem::Slice(2)); }
#else
tandem::Tensor f(const tandem::Tensor& x) {
  const tandem::Tensor n = tandem::constant(2);
  return x(tandem::Slice(tandem::none, 2), tandem::Slice(2, tandem::none), tandem::Slice(), tandem::Slice(n, -1));
}
#endif
