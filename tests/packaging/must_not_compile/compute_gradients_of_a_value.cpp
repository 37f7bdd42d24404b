// compute_gradients takes a function, too, and no Variable.
// error: (use of deleted function|call to deleted)
#include <tandem/tandem.hpp>

std::size_t f(const tandem::Variable& w) {
  const tandem::optimizers::SGD sgd(0.1);
#ifdef MUST_NOT_COMPILE
  return sgd.compute_gradients(w, {w}).size();
#else
  return sgd.compute_gradients([&] { return square(w); }, {w}).size();
#endif
}
