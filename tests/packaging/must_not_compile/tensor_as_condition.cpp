// A tensor is no condition: its value may not be known yet.
// error: deleted (function|operator)
#include <tandem/tandem.hpp>

static_assert(!std::is_constructible_v<bool, tandem::Tensor>);
#ifdef MUST_NOT_COMPILE
int f(const tandem::Tensor& t) {
  if (t) return 1;
  return 0;
}
#else
int f(const tandem::Tensor& t) { return t.item<bool>() ? 1 : 0; }
#endif
