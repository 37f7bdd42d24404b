// A struct of more than 12 fields cannot be taken apart; the error says what to do.
// error: more than 12 fields
#include <tandem/tandem.hpp>

struct Batch {
  tandem::Tensor a, b, c, d, e, f, g, h, i, j, k, l;
#ifdef MUST_NOT_COMPILE
  tandem::Tensor m;
#endif
};
tandem::Tensor f(const Batch& x) {
  const auto sum = tandem::function([](const Batch& y) { return y.a + y.b; });
  return sum(x);
}
