// {"ij"} would be the name of the call, not the choice: options that have a choice as a string are designated.
// error: could not convert|no matching (function|constructor)|no viable conversion
#include <tandem/tandem.hpp>

using namespace tandem;

#ifdef MUST_NOT_COMPILE
std::vector<Tensor> f(const Tensor& x) { return meshgrid({x, x}, {"ij"}); }
#else
std::vector<Tensor> f(const Tensor& x) {
  return {meshgrid({x, x}, {.name = "grid", .indexing = "ij"})[0], meshgrid({x, x}, {})[0], meshgrid({x, x})[0],
          space_to_depth(x, 2, {.data_format = "NCHW"}), depth_to_space(x, 2, {.name = "deep"})};
}
#endif
