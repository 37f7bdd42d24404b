// A traced function passes its tensors as constants.
// error: f cannot be called with these arguments
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) {
  return tandem::function([](tandem::Tensor& t) { return t; })(x);
}
#else
tandem::Tensor f(const tandem::Tensor& x) {
  return tandem::function([](const tandem::Tensor& t) { return t; })(x);
}
#endif
