// The branches of a condition return the same type.
// error: both branches return the same type
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
void f(const tandem::Tensor& x) {
  tandem::cond(
      x, [&] { return x; }, [] { return 1; });
}
#else
void f(const tandem::Tensor& x) {
  tandem::cond(
      x, [&] { return x; }, [] { return tandem::constant(1); });
}
#endif
