// minimize takes a function that computes the loss: a loss that has been computed has no tape any more.
// error: (use of deleted function|call to deleted)
#include <tandem/tandem.hpp>

tandem::Tensor f(const tandem::Variable& w) {
  const tandem::optimizers::SGD sgd(0.1);
#ifdef MUST_NOT_COMPILE
  const tandem::Tensor loss = square(w - 1.f);
  return sgd.minimize(loss, {w});
#else
  return sgd.minimize([&] { return square(w - 1.f); }, {w});
#endif
}
