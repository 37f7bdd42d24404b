// Sorting, searching and scanning rows in LibTorch.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::rows;
using T = at::Tensor;

T numbers(const Case& c) { return bench::torch_normal({c.height(), c.width()}, 1); }
T integers(const Case& c) { return bench::torch_indices({c.height(), c.width()}, bound, 1).to(torch::kInt32); }
T doubles(const Case& c) { return numbers(c).to(torch::kFloat64); }

template <class F>
void add(const Case& c, const char* operation, F f, T (*input)(const Case&) = numbers) {
  bench::add(c.name(operation),
             [=] { return bench::repeat_no_grad([f, x = input(c), axis = c.axis] { return f(x, axis); }); });
}

T sort(const T& x, int axis) { return std::get<0>(x.sort(axis)); }

bool add_all() {
  for (const Case& c : cases) {
    add(c, "sort", sort);
    add(c, "sort_int32", sort, integers);
    add(c, "sort_float64", sort, doubles);
    add(c, "argsort", [](const T& x, int axis) { return torch::argsort(x, true, axis, false); });
    add(c, "argmax", [](const T& x, int axis) { return x.argmax(axis); });
    add(c, "cumsum", [](const T& x, int axis) { return x.cumsum(axis); });
    add(c, "variance", [](const T& x, int axis) { return x.var(axis, false); });
    add(c, "max", [](const T& x, int axis) { return x.amax(axis); });
    if (c.axis == 0) continue;
    add(c, "top_few", [](const T& x, int) { return std::get<0>(x.topk(few)); });
    add(c, "top_many", [](const T& x, int) { return std::get<0>(x.topk(many)); });
    add(
        c, "top_few_int32", [](const T& x, int) { return std::get<0>(x.topk(few)); }, integers);
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
