// An empty list of sources has no gradients.
// error: no matching
#include <tandem/tandem.hpp>

void f(tandem::GradientTape& tape, const tandem::Tensor& loss, const tandem::Variable& w) {
#ifdef MUST_NOT_COMPILE
  tape.gradient(loss, {});
#else
  tape.gradient(loss, {w});
#endif
}
