// while_loop: runs a body as long as a condition holds. Not here: loops over the rows of tensors (scan.hpp).
#pragma once
#include <tuple>

#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/tensor_array.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

struct WhileLoopOptions {
  TANDEM_OP_OPTIONS;
  /// Shapes that the loop variables keep, one for each tensor in them; `none` for a dimension that changes. Default:
  /// their shapes before the loop.
  std::vector<Shape> shape_invariants = {};
  i64 maximum_iterations = none;  ///< the loop ends after this many
  int parallel_iterations = 10;  ///< how many may overlap; currently none do, so the result is the same for each number
};

namespace control {

/// A loop to be traced.
struct LoopRequest {
  const char* op;
  std::vector<Tensor> start;      // carried from iteration to iteration
  std::vector<Tensor> rows;       // each iteration gets one row of each
  std::vector<Shape> invariants;  // of the carried values; none: their initial shapes
  i64 limit = none;               // maximum number of iterations; with rows: their number
  bool reverse = false;
  const Code* condition = nullptr;  // (carried) -> bool; null: always true
  Code body;                        // (carried, rows) -> (carried, stacked results)
  const bool* again = nullptr;      // set by the body: the trace must be repeated
};
/// Returns the final carried values, then the stacked results.
///   throws  errors::InvalidArgumentError if a carried value changes its dtype or shape
TANDEM_LAZY TANDEM_API std::vector<Tensor> stage_loop(const LoopRequest& request, const OpOptions& options);
/// The number of rows of the tensors.
///   throws  errors::InvalidArgumentError unless it is the same for all
TANDEM_LAZY TANDEM_API i64 count_rows(const char* op, const std::vector<Tensor>& tensors);
TANDEM_LAZY TANDEM_API void check_same_dtypes(const char* op, const std::vector<Tensor>& before,
                                              const std::vector<Tensor>& after);

template <class T>
inline constexpr bool is_tuple = tree::detail::is_a<T, std::tuple> || tree::detail::is_a<T, std::pair>;
/// Calls f(a, b, ...) for a tuple, if f accepts it; else f(vars).
template <class F, class V>
decltype(auto) call_with(F& f, const V& vars) {
  if constexpr (is_tuple<V>) {
    if constexpr (requires { std::apply(f, vars); }) return std::apply(f, vars);
    else return f(vars);
  } else {
    return f(vars);
  }
}

template <class Condition, class BodyFn, class V>
V trace_while(Condition& condition, BodyFn& body, V vars, const WhileLoopOptions& o) {
  for (;;) {
    bool again = false;
    LeanVector<std::optional<Spec>> elements;  // of the TensorArrays after an iteration
    const auto goes_on = [&](Span<const Tensor> symbols) {
      V in = vars;
      refill(in, symbols);
      return std::vector<Tensor>{call_with(condition, in)};
    };
    const auto iterate = [&](Span<const Tensor> symbols) {
      V in = vars;
      refill(in, symbols);
      V out(call_with(body, std::as_const(in)));
      elements = element_specs(out);
      if ((again = are_new(elements, element_specs(vars)))) return std::vector<Tensor>();
      if (!same_structure(vars, out)) raise_structure("while_loop", "the body returns");
      return tensors_of(out);
    };
    const Code condition_code = code_of(goes_on);
    const std::vector<Tensor> out = stage_loop({"while_loop",
                                                tensors_of(vars),
                                                {},
                                                o.shape_invariants,
                                                o.maximum_iterations,
                                                false,
                                                &condition_code,
                                                code_of(iterate),
                                                &again},
                                               {o.name, o.where});
    if (!again) {
      refill(vars, out);
      return vars;
    }
    settle_elements(vars, elements);
  }
}

}  // namespace control

/// Repeats vars = body(vars) while condition(vars) holds.
///   condition  returns one bool
///   body       returns what it takes
///   vars       a tensor, a TensorArray, or a tuple, struct or vector of them; a tuple's elements are passed as
///              separate arguments to condition and body, if they accept that. Outside traced functions the shapes
///              may change; in them they may change only as `.shape_invariants` allows.
///   returns    the final vars
///   throws     errors::InvalidArgumentError naming the variable that changes its dtype or, in a trace, its shape
///   gradient   to vars and to what condition and body capture; Variables as in cond. For each iteration it saves
///              what its gradient needs.
template <class Condition, class BodyFn, class V = std::vector<Tensor>>
V while_loop(Condition&& condition, BodyFn&& body, V vars, WhileLoopOptions o = {}) {
  if (control::is_tracing("while_loop")) return control::trace_while(condition, body, std::move(vars), o);
  for (i64 n = 0; o.maximum_iterations == none || n < o.maximum_iterations; ++n) {
    if (!control::value_of(control::call_with(condition, std::as_const(vars)), "while_loop")) break;
    V next(control::call_with(body, std::as_const(vars)));
    control::check_same_dtypes("while_loop", control::tensors_of(vars), control::tensors_of(next));
    vars = std::move(next);
  }
  return vars;
}

}  // namespace TANDEM_NS
