// Small operations in LibTorch.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::small_ops;
using bench::torch_normal;
using torch::indexing::Slice;

struct Operands {
  at::Tensor a = torch_normal({rows, columns}, 1), b = torch_normal({rows, columns}, 2);
  at::Tensor row = torch_normal({columns}, 3), column = torch_normal({rows, 1}, 4), one = torch_normal({}, 5);
  at::Tensor block = torch_normal({3, rows, columns}, 6), middle = torch_normal({3, 1, columns}, 7);
  at::Tensor mask = a > b, table = torch_normal({vocabulary, columns}, 8);
  at::Tensor ids = bench::torch_indices({rows}, vocabulary, 9);
};

template <class F>
void add(const std::string& name, F f) {
  bench::add("small_ops/" + name, [=] { return bench::repeat_no_grad([f, o = Operands()] { return f(o); }); });
}

/// The same sum of operands of equal shapes, and (@broadcast) of ones that broadcast.
void add_sum(const std::string& name, at::Tensor Operands::*large, at::Tensor Operands::*small) {
  const auto sum = [](const at::Tensor& a, const at::Tensor& b) {
    return bench::repeat_no_grad([a, b] { return a + b; });
  };
  bench::add("small_ops/" + name, [=, o = Operands()] {
    const at::Tensor &a = o.*large, &b = o.*small;
    return sum(a, b.expand_as(a).contiguous());
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
  add("maximum_row", [](O o) { return torch::maximum(o.a, o.row); });
  add("where_row", [](O o) { return torch::where(o.mask, o.a, o.row); });
}

bool add_all() {
  using O = const Operands&;
  add_broadcasts();
  add("tanh", [](O o) { return torch::tanh(o.a); });
  add("slice_rows", [](O o) { return o.a.slice(0, 1, 3); });
  add("slice_columns", [](O o) { return o.a.slice(1, 2, 7).contiguous(); });
  add("sum_all", [](O o) { return o.a.sum(); });
  add("sum_axis0", [](O o) { return o.a.sum(0); });
  add("sum_axis1", [](O o) { return o.a.sum(1); });
  add("mean_all", [](O o) { return o.a.mean(); });
  add("max_axis1", [](O o) { return o.a.amax(1); });
  add("argmax_axis1", [](O o) { return o.a.argmax(1); });
  add("gather", [](O o) { return o.table.index_select(0, o.ids); });
  add("concat_axis0", [](O o) { return torch::cat({o.a, o.b}, 0); });
  add("concat_axis1", [](O o) { return torch::cat({o.a, o.b}, 1); });
  add("stack", [](O o) { return torch::stack({o.a, o.b}); });
  add("transpose", [](O o) { return o.a.t().contiguous(); });
  add("reshape", [](O o) { return o.a.reshape({columns, rows}); });
  add("matmul", [](O o) { return torch::matmul(o.a, o.b.t()); });
  add("softmax", [](O o) { return torch::softmax(o.a, 1); });
  add("cast", [](O o) { return o.a.to(torch::kInt32); });
  add("cumsum", [](O o) { return o.a.cumsum(1); });
  add("sort", [](O o) { return std::get<0>(o.a.sort(1)); });
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
