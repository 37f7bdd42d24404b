// {0} is not an empty name: softmax takes one axis, which is written without braces.
// error: use of deleted function|deleted (function|constructor)|no matching (function|constructor)
#include <tandem/tandem.hpp>

#ifdef MUST_NOT_COMPILE
tandem::Tensor f(const tandem::Tensor& x) { return tandem::nn::softmax(x, {0}); }
#else
tandem::Tensor f(const tandem::Tensor& x) {
  const std::string name = "scores";
  return tandem::nn::softmax(x, 0) + tandem::nn::softmax(x, {.axis = 0}) + tandem::nn::softmax(x, {.name = name});
}
#endif
