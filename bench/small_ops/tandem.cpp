// Small operations in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::small_ops;
using bench::tandem_normal;
using tandem::Slice;
using tandem::Tensor;

struct Operands {
  Tensor a = tandem_normal({rows, columns}, 1), b = tandem_normal({rows, columns}, 2);
  Tensor row = tandem_normal({columns}, 3), column = tandem_normal({rows, 1}, 4), one = tandem_normal({}, 5);
  Tensor block = tandem_normal({3, rows, columns}, 6), middle = tandem_normal({3, 1, columns}, 7);
  Tensor mask = a > b, table = tandem_normal({vocabulary, columns}, 8);
  Tensor ids = bench::tandem_indices({rows}, vocabulary, 9);
};

template <class F>
void add(const std::string& name, F f) {
  bench::add("small_ops/" + name, [=] { return bench::repeat([f, o = Operands()] { return f(o); }); });
}

/// The same sum of operands of equal shapes, and (@broadcast) of ones that broadcast.
void add_sum(const std::string& name, Tensor Operands::*large, Tensor Operands::*small) {
  const auto sum = [](const Tensor& a, const Tensor& b) { return bench::repeat([a, b] { return a + b; }); };
  bench::add("small_ops/" + name, [=, o = Operands()] {
    const Tensor &a = o.*large, &b = o.*small;
    return sum(a, tandem::broadcast_to(b, a.shape()));
  });
  bench::add("small_ops/" + name + "@broadcast", [=, o = Operands()] { return sum(o.*large, o.*small); });
}

void add_broadcasts() {
  using O = const Operands&;
  add_sum("add_row", &Operands::a, &Operands::row);
  add_sum("add_column", &Operands::a, &Operands::column);
  add_sum("add_scalar", &Operands::a, &Operands::one);
  add_sum("add_middle", &Operands::block, &Operands::middle);
  add("multiply_number", [](O o) { return o.a * 2.5f; });
  add("outer_product", [](O o) { return o.column * o.row; });
  add("maximum_row", [](O o) { return tandem::maximum(o.a, o.row); });
  add("where_row", [](O o) { return tandem::where(o.mask, o.a, o.row); });
}

bool add_all() {
  using O = const Operands&;
  add_broadcasts();
  add("tanh", [](O o) { return tandem::tanh(o.a); });
  add("slice_rows", [](O o) { return o.a(Slice(1, 3)); });
  add("slice_columns", [](O o) { return o.a(tandem::Ellipsis, Slice(2, 7)); });
  add("sum_all", [](O o) { return tandem::reduce_sum(o.a); });
  add("sum_axis0", [](O o) { return tandem::reduce_sum(o.a, 0); });
  add("sum_axis1", [](O o) { return tandem::reduce_sum(o.a, 1); });
  add("mean_all", [](O o) { return tandem::reduce_mean(o.a); });
  add("max_axis1", [](O o) { return tandem::reduce_max(o.a, 1); });
  add("argmax_axis1", [](O o) { return tandem::argmax(o.a, 1); });
  add("gather", [](O o) { return tandem::gather(o.table, o.ids); });
  add("concat_axis0", [](O o) { return tandem::concat({o.a, o.b}, 0); });
  add("concat_axis1", [](O o) { return tandem::concat({o.a, o.b}, 1); });
  add("stack", [](O o) { return tandem::stack({o.a, o.b}); });
  add("transpose", [](O o) { return tandem::transpose(o.a); });
  add("reshape", [](O o) { return tandem::reshape(o.a, {columns, rows}); });
  add("matmul", [](O o) { return tandem::matmul(o.a, o.b, {.transpose_b = true}); });
  add("softmax", [](O o) { return tandem::nn::softmax(o.a); });
  add("cast", [](O o) { return tandem::cast(o.a, tandem::int32); });
  add("cumsum", [](O o) { return tandem::cumsum(o.a, 1); });
  add("sort", [](O o) { return tandem::sort(o.a); });
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
