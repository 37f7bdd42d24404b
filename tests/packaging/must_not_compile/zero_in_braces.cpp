// {0} is not an empty name: TensorFlow's reduce_sum(x, [0]) must not compile and sum over all axes.
// error: use of deleted function|no matching (function|constructor)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return tandem::reduce_sum(x, {0}); }
#else
tandem::Tensor f(const tandem::Tensor& x) {
  const std::string name = "sum";
  return tandem::reduce_sum(x, {}) + tandem::reduce_sum(x, {.axis = {0}}) + tandem::reduce_sum(x, {.name = name});
}
#endif
