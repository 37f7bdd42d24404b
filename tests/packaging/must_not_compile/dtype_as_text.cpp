// A dtype is a constant, not its name.
// error: deleted (function|constructor)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f() { return tandem::ones({2}, "float32"); }
#else
tandem::Tensor f() {
  return tandem::cast(tandem::ones({2}, tandem::float32), tandem::int32) + tandem::constant({1, 2});
}
#endif
