// Gradients of two sources are not taken apart into three.
// error: (3 names provided|decomposes into 2 elements)
#include <tandem/tandem.hpp>

tandem::Tensor f(tandem::GradientTape& tape, const tandem::Tensor& loss, const tandem::Variable& w) {
#ifdef MUST_NOT_COMPILE
  const auto [a, b, c] = tape.gradient(loss, {w, w});
#else
  const auto [a, b] = tape.gradient(loss, {w, w});
#endif
  return a + b;
}
