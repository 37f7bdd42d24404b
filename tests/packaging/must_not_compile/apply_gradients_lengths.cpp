// Two gradients are not applied to three Variables.
// error: deleted
#include <tandem/tandem.hpp>

void f(tandem::GradientTape& tape, const tandem::Tensor& loss, const tandem::Variable& w, const tandem::Variable& b) {
  const tandem::optimizers::SGD sgd(0.1);
#ifdef MUST_NOT_COMPILE
  sgd.apply_gradients(tape.gradient(loss, {w, b}), {w, b, w});
#else
  sgd.apply_gradients(tape.gradient(loss, {w, b}), {w, b});
#endif
}
