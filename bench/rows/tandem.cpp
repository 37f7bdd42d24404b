// Sorting, searching and scanning rows in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::rows;
using tandem::Tensor;

Tensor numbers(const Case& c) { return bench::tandem_normal({c.height(), c.width()}, 1); }
Tensor integers(const Case& c) {
  return tandem::cast(bench::tandem_indices({c.height(), c.width()}, bound, 1), tandem::int32);
}
Tensor doubles(const Case& c) { return tandem::cast(numbers(c), tandem::float64); }

template <class F>
void add(const Case& c, const char* operation, F f, Tensor (*input)(const Case&) = numbers) {
  bench::add(c.name(operation), [=] { return bench::repeat([f, x = input(c), axis = c.axis] { return f(x, axis); }); });
}

Tensor sort(const Tensor& x, int axis) { return tandem::sort(x, axis); }

bool add_all() {
  for (const Case& c : cases) {
    add(c, "sort", sort);
    add(c, "sort_int32", sort, integers);
    add(c, "sort_float64", sort, doubles);
    add(c, "argsort", [](const Tensor& x, int axis) { return tandem::argsort(x, axis); });
    add(c, "argmax", [](const Tensor& x, int axis) { return tandem::argmax(x, axis); });
    add(c, "cumsum", [](const Tensor& x, int axis) { return tandem::cumsum(x, axis); });
    add(c, "variance", [](const Tensor& x, int axis) { return tandem::reduce_variance(x, axis); });
    add(c, "max", [](const Tensor& x, int axis) { return tandem::reduce_max(x, axis); });
    if (c.axis == 0) continue;  // top_k has no axis
    add(c, "top_few", [](const Tensor& x, int) { return tandem::nn::top_k(x, few).values; });
    add(c, "top_many", [](const Tensor& x, int) { return tandem::nn::top_k(x, many).values; });
    add(
        c, "top_few_int32", [](const Tensor& x, int) { return tandem::nn::top_k(x, few).values; }, integers);
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
