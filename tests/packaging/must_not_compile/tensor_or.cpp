// || on tensors would lose its short circuit.
// error: deleted (function|operator)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
auto f(const tandem::Tensor& t, const tandem::Tensor& u) { return t || u; }
#else
bool f(const tandem::Tensor& t, const tandem::Tensor& u) { return t.item<bool>() || u.item<bool>(); }
#endif
