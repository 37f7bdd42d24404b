// The FMA peak for the number of operations of the convolutions; each gradient takes as many as the convolution.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
using namespace bench::conv2d;
using bench::limit::arithmetic;

bool add_all() {
  for (const Case& c : inference_cases) bench::add(c.name(inference), [=] { return arithmetic(c.operations()); });
  for (const Case& c : cases) {
    bench::add(c.name(forward), [=] { return arithmetic(c.operations()); });
    bench::add(c.name(forward_backward), [=] { return arithmetic(c.operations() * (c.input_gradient() ? 3 : 2)); });
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
