// Loops over the rows of tensors: scan, foldl, foldr, map_fn. Not here: loops with a condition (while_loop.hpp).
#pragma once
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

struct ScanFnOptions {
  TANDEM_OP_OPTIONS;
  bool reverse = false;  ///< from the last row to the first
};
struct FoldOptions {
  TANDEM_OP_OPTIONS;
};
struct MapOptions {
  TANDEM_OP_OPTIONS;
  /// The result of f, one spec per tensor: needed only if there are no rows, outside traced functions.
  std::vector<Spec> fn_output_signature = {};
  int parallel_iterations = 10;  ///< how many may overlap; currently none do
};

namespace control {

/// x with each of its tensors replaced by its row i.
template <class T>
T row(const T& x, i64 i) {
  T r = x;
  std::vector<Tensor> rows;
  for (const Tensor& t : tensors_of(x)) rows.push_back(t[i]);
  refill(r, rows);
  return r;
}
TANDEM_LAZY TANDEM_API Tensor stack_rows(const std::vector<Tensor>& rows);
/// Stacks the corresponding tensors of the results, one row per result.
template <class T>
T stacked(const std::vector<T>& results) {
  T r = results.front();
  LeanVector<std::vector<Tensor>> columns(tensors_of(r).size());
  for (const T& x : results) {
    if (!same_structure(r, x)) raise_structure("scan", "an iteration returns");
    const std::vector<Tensor> tensors = tensors_of(x);
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(tensors[i]);
  }
  std::vector<Tensor> tensors;
  for (const std::vector<Tensor>& c : columns) tensors.push_back(stack_rows(c));
  refill(r, tensors);
  return r;
}
/// The tensors with zero rows that correspond to results of these specs.
TANDEM_LAZY TANDEM_API std::vector<Tensor> no_rows(const std::vector<Spec>& specs);
/// Removes the first (or last) row; adds one row before (or after) the others.
TANDEM_LAZY TANDEM_API Tensor other_rows(const Tensor& x, bool reverse);
TANDEM_LAZY TANDEM_API Tensor with_row(const Tensor& row, const Tensor& rows, bool behind);

template <class T>
void fill(T& x, const Tensor*& next) {
  if constexpr (std::is_same_v<T, Tensor>) x = *next++;
  else if constexpr (!tree::detail::is_number<T> && !tree::detail::is_text<T> && !std::is_same_v<T, Variable>)
    tree::detail::each_part(x, [&](auto& part) { fill(part, next); });
}

// The final state, and, if requested, the state after each row.
template <class S>
struct Scanned {
  S end, states;
};
template <class F, class X, class S>
Scanned<S> trace_scan(const char* op, F& f, const X& xs, const S& start, bool reverse, bool keep, const OpOptions& o) {
  const std::size_t carried = tensors_of(start).size();
  const auto iterate = [&](Span<const Tensor> symbols) {
    S state = start;
    X x = xs;
    refill(state, symbols.first(carried));
    refill(x, symbols.subspan(carried));
    S next(f(std::as_const(state), std::as_const(x)));
    if (!same_structure(state, next)) raise_structure(op, "an iteration returns");
    std::vector<Tensor> out = tensors_of(next);
    if (keep)
      for (std::size_t i = 0; i < carried; ++i) out.push_back(Tensor(out[i]));
    return out;
  };
  const std::vector<Tensor> out =
      stage_loop({op, tensors_of(start), tensors_of(xs), {}, none, reverse, nullptr, code_of(iterate)}, o);
  Scanned<S> r{start, start};
  refill(r.end, Span(out).first(carried));
  if (keep) refill(r.states, Span(out).subspan(carried));
  return r;
}
template <class F, class X, class S>
Scanned<S> run_scan(const char* op, F& f, const X& xs, const S& start, bool reverse, bool keep, const OpOptions& o) {
  if (is_tracing(op)) return trace_scan(op, f, xs, start, reverse, keep, o);
  const i64 n = count_rows(op, tensors_of(xs));
  Scanned<S> r{start, start};
  std::vector<S> states;
  for (i64 k = 0; k < n; ++k) {
    S next(f(std::as_const(r.end), row(xs, reverse ? n - 1 - k : k)));
    check_same_dtypes(op, tensors_of(r.end), tensors_of(next));
    r.end = std::move(next);
    if (keep) states.push_back(r.end);
  }
  if (!keep) return r;
  if (reverse) states = std::vector<S>(states.rbegin(), states.rend());
  if (n) {
    r.states = stacked(states);
  } else {
    std::vector<Spec> specs;
    for (const Tensor& t : tensors_of(start)) specs.push_back(t.spec());
    refill(r.states, no_rows(specs));
  }
  return r;
}
template <class X>
X first_row(const char* op, const X& xs, bool reverse) {
  if (count_rows(op, tensors_of(xs)) == 0)
    errors::raise<errors::InvalidArgumentError>(op, "needs at least one row or an initial value");
  return row(xs, reverse ? -1 : 0);
}
template <class X>
X rows_after_first(const X& xs, bool reverse) {
  X r = xs;
  std::vector<Tensor> rest;
  for (const Tensor& t : tensors_of(xs)) rest.push_back(other_rows(t, reverse));
  refill(r, rest);
  return r;
}

}  // namespace control

/// Inclusive scan over the rows: s[i] = f(s[i-1], xs[i]); returns all states.
///   f          takes the state and one row of each tensor of xs; returns the next state
///   xs         a tensor [n, ...], or a tuple, struct or vector of them
///   start      the initial state: a tensor, or a tuple, struct or vector of them
///   returns    start's structure, each tensor [n, ...]; with .reverse, state i is still at index i
///   throws     errors::InvalidArgumentError if a state changes its dtype or (in a trace) its shape
///   gradient   to xs, to start and to what f captures; Variables as in cond
template <class F, class X, class S>
  requires(!std::is_convertible_v<S, ScanFnOptions>)
S scan(F&& f, const X& xs, const S& start, ScanFnOptions o = {}) {
  return control::run_scan("scan", f, xs, start, o.reverse, true, {o.name, o.where}).states;
}
/// The same with the first row as the first state.
///   throws    errors::InvalidArgumentError also if there are no rows
template <class F, class X>
X scan(F&& f, const X& xs, ScanFnOptions o = {}) {
  const X first = control::first_row("scan", xs, o.reverse);
  X states =
      control::run_scan("scan", f, control::rows_after_first(xs, o.reverse), first, o.reverse, true, {o.name, o.where})
          .states;
  const std::vector<Tensor> firsts = control::tensors_of(first), others = control::tensors_of(states);
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < firsts.size(); ++i) all.push_back(control::with_row(firsts[i], others[i], o.reverse));
  control::refill(states, all);
  return states;
}

/// Left fold: the last state of scan, f(...f(f(start, xs[0]), xs[1])..., xs[n-1]); otherwise as scan.
template <class F, class X, class S>
  requires(!std::is_convertible_v<S, FoldOptions>)
S foldl(F&& f, const X& xs, const S& start, FoldOptions o = {}) {
  return control::run_scan("foldl", f, xs, start, false, false, {o.name, o.where}).end;
}
template <class F, class X>
X foldl(F&& f, const X& xs, FoldOptions o = {}) {
  return foldl(f, control::rows_after_first(xs, false), control::first_row("foldl", xs, false), o);
}
/// Right fold: foldl from the last row to the first.
template <class F, class X, class S>
  requires(!std::is_convertible_v<S, FoldOptions>)
S foldr(F&& f, const X& xs, const S& start, FoldOptions o = {}) {
  return control::run_scan("foldr", f, xs, start, true, false, {o.name, o.where}).end;
}
template <class F, class X>
X foldr(F&& f, const X& xs, FoldOptions o = {}) {
  return foldr(f, control::rows_after_first(xs, true), control::first_row("foldr", xs, true), o);
}

/// Applies f to each row and stacks the results.
///   f          takes one row of each tensor of xs; returns a tensor, or a tuple, struct or vector of them
///   xs         a tensor [n, ...], or a tuple, struct or vector of them
///   returns    f's structure, each tensor [n, ...]
///   throws     errors::InvalidArgumentError if n is 0 and, outside a trace, there is no .fn_output_signature
///   gradient   to xs and to what f captures; Variables as in cond
template <class F, class X>
auto map_fn(F&& f, const X& xs, MapOptions o = {}) {
  using R = control::Result<std::invoke_result_t<F&, const X&>>;
  if (control::is_tracing("map_fn")) {
    std::optional<R> result;
    const auto iterate = [&](Span<const Tensor> symbols) {
      X x = xs;
      control::refill(x, symbols);
      return control::tensors_of(result.emplace(f(std::as_const(x))));
    };
    const std::vector<Tensor> out = control::stage_loop(
        {"map_fn", {}, control::tensors_of(xs), {}, none, false, nullptr, control::code_of(iterate)},
        {o.name, o.where});
    control::refill(*result, out);
    return std::move(*result);
  } else {
    const i64 n = control::count_rows("map_fn", control::tensors_of(xs));
    std::vector<R> results;
    for (i64 i = 0; i < n; ++i) results.push_back(f(control::row(xs, i)));
    if (n) return control::stacked(results);
    R none_at_all{};
    const std::vector<Tensor> tensors = control::no_rows(o.fn_output_signature);
    if (tensors.empty())
      errors::raise<errors::InvalidArgumentError>(
          "map_fn", "cannot infer what f returns when there are no rows; give .fn_output_signature");
    const Tensor* next = tensors.data();
    control::fill(none_at_all, next);
    return none_at_all;
  }
}

}  // namespace TANDEM_NS
