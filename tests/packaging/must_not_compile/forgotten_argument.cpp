// A traced function's inputs are its parameters, so that none can be left unfed.
// error: f cannot be called with these arguments
#include <tandem/tandem.hpp>

tandem::Tensor f(const tandem::Tensor& x) {
  auto sum = tandem::function([](const tandem::Tensor& a, const tandem::Tensor& b) { return a + b; });
#ifdef MUST_NOT_COMPILE
  return sum(x);
#else
  return sum(x, x);
#endif
}
