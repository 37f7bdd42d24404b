// cond, case_, switch_case: run one of several branches, by a condition that may not be known while tracing. Not here:
// loops (while_loop.hpp, scan.hpp), the underlying ops (control_ops.hpp).
//
// Outside traced functions these are C++'s own `if` on a tensor's value, and tapes record what the branch does. In a
// trace all branches are traced, each into its own graph. One node holds them, and only the selected branch runs, with
// its effects. Branches may capture anything. Variables that they read and that no branch assigns are read before the
// node.
#pragma once
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/graph/trace/tree.hpp"

namespace TANDEM_NS {

namespace control {

/// Type-erased user code: tensors to tensors.
struct Code {
  std::vector<Tensor> (*call)(const void* self, Span<const Tensor> arguments);
  const void* self = nullptr;
};
template <class F>
Code code_of(const F& f) {
  return {[](const void* self, Span<const Tensor> arguments) { return (*static_cast<const F*>(self))(arguments); }, &f};
}
/// The value of a condition.
///   throws  errors::InvalidArgumentError unless it is one bool
TANDEM_LAZY TANDEM_API bool value_of(const Tensor& condition, const char* op);
/// Traces both branches and adds the node that selects between them.
TANDEM_LAZY TANDEM_API std::vector<Tensor> stage_cond(const Tensor& condition, Code then, Code otherwise,
                                                      const OpOptions& options);
TANDEM_LAZY [[noreturn]] TANDEM_API void raise_structure(const char* op, const char* what);
/// Whether a function is being traced; raises if ops are staged by something that cannot hold control flow.
TANDEM_LAZY TANDEM_API bool is_tracing(const char* op);

/// The result type of a branch; a Variable is returned as its value.
template <class T>
using Result = std::conditional_t<std::is_same_v<std::decay_t<T>, Variable>, Tensor, std::decay_t<T>>;

template <class T>
std::vector<Tensor> tensors_of(const T& x) {
  tree::Flat flat;
  tree::flatten(x, flat);
  std::vector<Tensor> r;
  for (const Tensor* t : flat.tensors) r.push_back(*t);
  return r;
}
/// The tensors of a branch's result; gradients become dense.
template <class T>
std::vector<Tensor> results_of(T& x) {
  tree::make_dense(x);
  return tensors_of(x);
}
/// Whether both have the same structure and equal non-tensor values.
template <class T>
bool same_structure(const T& a, const T& b) {
  tree::Flat x, y;
  tree::flatten(a, x), tree::flatten(b, y);
  return x.key.size() == y.key.size() && std::equal(x.key.begin(), x.key.end(), y.key.begin());
}
template <class T>
void refill(T& x, Span<const Tensor> tensors) {
  const Tensor* next = tensors.data();
  tree::refill(x, next);
}

}  // namespace control

/// Runs then() if the condition is true, else otherwise().
///   condition  one bool
///   then, otherwise  take nothing; return the same type: a Tensor, a struct, tuple or vector of tensors, or nothing
///   returns    what the selected branch returns. In a trace the results must agree in number, dtype and rank; dims
///              that differ become unknown
///   throws     errors::InvalidArgumentError for another condition, or for branches that differ, naming both
///   gradient   the branch's, also to its captures and to Variables that it reads, as in eager code; row-sparse
///              where one branch has a row-sparse gradient and the other has none or a row-sparse one, too. In a
///              trace it is zeros, not unset, for what only the other branch reads: NaN before an op of infinite
///              derivative
template <class Then, class Else>
auto cond(const Tensor& condition, Then&& then, Else&& otherwise, OpOptions options = {}) {
  using R = control::Result<std::invoke_result_t<Then&>>;
  constexpr bool same = std::is_same_v<R, control::Result<std::invoke_result_t<Else&>>>;
  static_assert(same, "both branches return the same type");
  if constexpr (!same) {
    return;
  } else if (!control::is_tracing("cond")) {
    if constexpr (std::is_void_v<R>) control::value_of(condition, "cond") ? then() : otherwise();
    else return control::value_of(condition, "cond") ? R(then()) : R(otherwise());
  } else if constexpr (std::is_void_v<R>) {
    const auto first = [&](Span<const Tensor>) { return then(), std::vector<Tensor>(); };
    const auto second = [&](Span<const Tensor>) { return otherwise(), std::vector<Tensor>(); };
    control::stage_cond(condition, control::code_of(first), control::code_of(second), options);
  } else {
    std::optional<R> a, b;
    const auto first = [&](Span<const Tensor>) { return control::results_of(a.emplace(then())); };
    const auto second = [&](Span<const Tensor>) {
      const std::vector<Tensor> r = control::results_of(b.emplace(otherwise()));
      if (!control::same_structure(*a, *b)) control::raise_structure("cond", "the branches return");
      return r;
    };
    const std::vector<Tensor> out =
        control::stage_cond(condition, control::code_of(first), control::code_of(second), options);
    control::refill(*a, out);
    return std::move(*a);
  }
}
/// The same for a condition known to C++: a plain `if`, in a trace too.
template <class Then, class Else>
auto cond(bool condition, Then&& then, Else&& otherwise, OpOptions = {}) {
  using R = control::Result<std::invoke_result_t<Then&>>;
  constexpr bool same = std::is_same_v<R, control::Result<std::invoke_result_t<Else&>>>;
  static_assert(same, "both branches return the same type");
  if constexpr (!same) return;
  else if constexpr (std::is_void_v<R>) condition ? then() : otherwise();
  else return condition ? R(then()) : R(otherwise());
}

/// A branch of case_ and its condition.
template <class F>
struct Case {
  Tensor condition;
  F run;
};
template <class F>
Case(Tensor, F) -> Case<F>;

struct CaseOptions {
  TANDEM_OP_OPTIONS;
  bool exclusive = false;  ///< raises if more than one condition is true
};

namespace control {
/// Ops that raise at run time if more than one of the conditions is true, or if none is.
TANDEM_LAZY TANDEM_API void check_at_most_one(const std::vector<Tensor>& conditions);
TANDEM_LAZY TANDEM_API void check_any(const std::vector<Tensor>& conditions);

template <class Default, class First, class... Rest>
auto choose(const OpOptions& o, const Default& otherwise, const Case<First>& first, const Rest&... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    return cond(first.condition, first.run, otherwise, o);
  } else {
    return cond(
        first.condition, first.run, [&] { return choose(o, otherwise, rest...); }, o);
  }
}
template <class F, class Default>
std::invoke_result_t<const F&> choose(const OpOptions& o, const Default& otherwise, Span<const Case<F>> cases) {
  if (cases.empty()) return otherwise();
  return cond(
      cases[0].condition, cases[0].run, [&] { return choose(o, otherwise, cases.subspan(1)); }, o);
}
template <class F>
std::vector<Tensor> conditions_of(const std::vector<Case<F>>& cases) {
  if (cases.empty()) errors::raise<errors::InvalidArgumentError>("case", "needs at least one case");
  std::vector<Tensor> r;
  for (const Case<F>& c : cases) r.push_back(c.condition);
  return r;
}
}  // namespace control

/// Runs the first case whose condition is true; else otherwise().
///   cases      std::tuple(Case{x < 0, [&] {...}}, Case{x > 9, [&] {...}}); branches as in cond
///   throws     as cond; errors::InvalidArgumentError with .exclusive if more than one condition is true
///   gradient   as cond
template <class... F, class Default>
  requires std::is_invocable_v<const Default&>
auto case_(const std::tuple<Case<F>...>& cases, const Default& otherwise, CaseOptions o = {}) {
  static_assert(sizeof...(F) > 0, "case_ needs a case");
  return std::apply(
      [&](const Case<F>&... each) {
        if (o.exclusive) control::check_at_most_one({each.condition...});
        return control::choose({o.name, o.where}, otherwise, each...);
      },
      cases);
}
/// The same without a default branch: raises errors::InvalidArgumentError at run time if no condition is true.
template <class... F>
auto case_(const std::tuple<Case<F>...>& cases, CaseOptions o = {}) {
  static_assert(sizeof...(F) > 0, "case_ needs a case");
  std::apply([](const Case<F>&... each) { control::check_any({each.condition...}); }, cases);
  return case_(cases, std::get<sizeof...(F) - 1>(cases).run, o);
}

/// The overloads for cases of one type in a vector, which must not be empty.
template <class F, class Default>
  requires std::is_invocable_v<const Default&>
auto case_(const std::vector<Case<F>>& cases, const Default& otherwise, CaseOptions o = {}) {
  const std::vector<Tensor> conditions = control::conditions_of(cases);
  if (o.exclusive) control::check_at_most_one(conditions);
  return control::choose({o.name, o.where}, otherwise, Span<const Case<F>>(cases));
}
template <class F>
auto case_(const std::vector<Case<F>>& cases, CaseOptions o = {}) {
  control::check_any(control::conditions_of(cases));
  return case_(cases, cases.back().run, o);
}

namespace control {
TANDEM_LAZY TANDEM_API Tensor is_below(const Tensor& index, i64 limit);
TANDEM_LAZY TANDEM_API Tensor is_outside(const Tensor& index, i64 limit);

// Selects by bisection, so that n branches nest only log n deep.
template <std::size_t Low, std::size_t High, class Branches>
auto choose_by_index(const Tensor& index, const Branches& branches, const OpOptions& o) {
  if constexpr (High - Low == 1) {
    return std::get<Low>(branches)();
  } else {
    constexpr std::size_t middle = (Low + High) / 2;
    return cond(
        is_below(index, static_cast<i64>(middle)), [&] { return choose_by_index<Low, middle>(index, branches, o); },
        [&] { return choose_by_index<middle, High>(index, branches, o); }, o);
  }
}
template <class F>
std::invoke_result_t<const F&> choose_by_index(const Tensor& index, Span<const F> branches, i64 low,
                                               const OpOptions& o) {
  if (branches.size() == 1) return branches[0]();
  const std::size_t half = branches.size() / 2;
  const i64 middle = low + static_cast<i64>(half);
  return cond(
      is_below(index, middle), [&] { return choose_by_index(index, branches.first(half), low, o); },
      [&] { return choose_by_index(index, branches.subspan(half), middle, o); }, o);
}
}  // namespace control

/// Runs branches[index](); an index outside [0, n) selects the last branch.
///   index      int32 or int64 scalar
///   branches   std::tuple of callables, as in cond
///   throws     as cond; errors::InvalidArgumentError for another type or shape of index
///   gradient   as cond
template <class... F>
auto switch_case(const Tensor& index, const std::tuple<F...>& branches, OpOptions o = {}) {
  static_assert(sizeof...(F) > 0, "switch_case needs a branch");
  constexpr std::size_t n = sizeof...(F);
  const auto last = [&] { return std::get<n - 1>(branches)(); };
  return cond(
      control::is_outside(index, static_cast<i64>(n)), last,
      [&] { return control::choose_by_index<0, n>(index, branches, o); }, o);
}
/// The same with a separate branch for an index outside [0, n).
template <class... F, class Default>
  requires std::is_invocable_v<const Default&>
auto switch_case(const Tensor& index, const std::tuple<F...>& branches, const Default& otherwise, OpOptions o = {}) {
  static_assert(sizeof...(F) > 0, "switch_case needs a branch");
  constexpr std::size_t n = sizeof...(F);
  return cond(
      control::is_outside(index, static_cast<i64>(n)), otherwise,
      [&] { return control::choose_by_index<0, n>(index, branches, o); }, o);
}

/// The overloads for branches of one type in a vector, which must not be empty.
template <class F, class Default>
auto switch_case(const Tensor& index, const std::vector<F>& branches, const Default& otherwise, OpOptions o = {}) {
  if (branches.empty()) errors::raise<errors::InvalidArgumentError>("switch_case", "needs at least one branch");
  return cond(
      control::is_outside(index, static_cast<i64>(branches.size())), otherwise,
      [&] { return control::choose_by_index(index, Span<const F>(branches), 0, o); }, o);
}
template <class F>
auto switch_case(const Tensor& index, const std::vector<F>& branches, OpOptions o = {}) {
  return switch_case(
      index, branches, [&] { return branches.back()(); }, o);
}

}  // namespace TANDEM_NS
