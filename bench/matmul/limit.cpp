// The FMA peak for the number of operations of the matrix products.
#include "../support/limit.hpp"
#include "work.hpp"

namespace {
using bench::limit::arithmetic;

bool add_all() {
  for (const auto b : bench::matmul::batches) bench::add(b.name(), [=] { return arithmetic(b.operations()); });
  for (const auto size : bench::matmul::sizes) bench::add(size.name(), [=] { return arithmetic(size.operations()); });
  bench::add(bench::matmul::transposed_a, [] { return arithmetic(bench::matmul::transposed.operations()); });
  return bench::add(bench::matmul::transposed_b, [] { return arithmetic(bench::matmul::transposed.operations()); });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
