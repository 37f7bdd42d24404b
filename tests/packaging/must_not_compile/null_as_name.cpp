// A null pointer constant is not a name.
// error: use of deleted function|no matching (function|constructor)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Variable f(const tandem::Tensor& x) { return tandem::Variable(x, {nullptr}); }
#else
tandem::Variable f(const tandem::Tensor& x) { return tandem::Variable(x, {"x"}); }
#endif
