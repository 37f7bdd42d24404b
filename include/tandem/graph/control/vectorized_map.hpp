// vectorized_map: applies a function of one row to all rows at once. Not here: loops over rows (scan.hpp), the rules of
// the ops (batching.hpp).
#pragma once
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

struct VectorizedMapOptions {
  TANDEM_OP_OPTIONS;
};

namespace control {

/// How a function of a row is named in errors, and what does without rules.
struct Vectorizing {
  const char* op;       // "vectorized_map"
  const char* instead;  // "map_fn"
};
/// Traces code, which is given one row of each of the tensors, and applies its ops to all rows. The results have a row
/// for each.
TANDEM_LAZY TANDEM_API std::vector<Tensor> run_vectorized(const Vectorizing& how, const std::vector<Tensor>& rows,
                                                          Code code, const OpOptions& options);
/// vectorized_map() in the name of another function; call(x) calls it with a row.
template <class Call, class X>
auto vectorized(const Vectorizing& how, const Call& call, const X& xs, const OpOptions& options) {
  using R = Result<std::invoke_result_t<const Call&, const X&>>;
  static_assert(!std::is_void_v<R>, "the function must return a tensor, or a tuple, struct or vector of them");
  (void)is_tracing(how.op);
  std::optional<R> result;
  const auto row = [&](Span<const Tensor> symbols) {
    X x = xs;
    refill(x, symbols);
    return results_of(result.emplace(call(std::as_const(x))));
  };
  refill(*result, run_vectorized(how, tensors_of(xs), code_of(row), options));
  return std::move(*result);
}

}  // namespace control

/// Applies f to each row and stacks the results, as map_fn, but computes all rows at once. f is traced for one row, and
/// each of its ops is applied to all rows, with one axis more in front. Outside traced functions f is traced by each
/// call, so it pays for many rows, and within function(), which keeps the result. Rows of results may differ from those
/// of map_fn in the last bits where an op adds many numbers (products of matrices, sums), and nowhere else.
///   f          takes one row of each tensor of xs, as map_fn's, or its parts if xs is a tuple; returns a tensor, or a
///              tuple, struct or vector of them. It cannot read a row's values as numbers, nor make `if`s of them:
///              where() selects. It may capture tensors and read Variables
///   xs         a tensor [n, ...], or a tuple, struct or vector of them; n may be 0
///   returns    f's structure, each tensor [n, ...]
///   throws     errors::UnimplementedError, which names the op, for ops without a rule: those that draw random numbers,
///              assign, print or assert, control flow, and those whose result's size depends on the rows' values. Draw
///              before, and pass the numbers as rows. errors::InvalidArgumentError for tensors without rows, or with
///              different numbers of them
///   gradient   to xs, to what f captures and to Variables; tapes in f work, too, and give one gradient for each row
template <class F, class X>
auto vectorized_map(F&& f, const X& xs, VectorizedMapOptions o = {}) {
  const auto call = [&f](const X& x) { return control::call_with(f, x); };
  return control::vectorized({"vectorized_map", "map_fn"}, call, xs, {o.name, o.where});
}

}  // namespace TANDEM_NS
