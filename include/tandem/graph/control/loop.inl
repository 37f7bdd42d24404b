// Definition of the loop op: shape rule and execution.
#pragma once
#include "tandem/core/cancel.hpp"
#include "tandem/graph/control/body.hpp"
#include "tandem/graph/control/loop_layout.hpp"
#include "tandem/graph/control/loop_rows.hpp"
#include "tandem/graph/control/loop_sums.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/ir/bind.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_LAZY TANDEM_INLINE void check_layout(const InferCall& c, const rules::LoopAttrs& a) {
  const std::size_t count = c.in.size();
  const std::size_t arguments = a.body->arguments.size();
  const bool fits =
      a.carried >= 0 && a.rows >= 0 && count_of(a.carried) <= arguments &&
      count_of(a.rows) <= arguments - count_of(a.carried) && count_of(a.carried) <= a.body->outputs.size() &&
      (a.condition->outputs.empty() ||
       (a.condition->outputs.size() == 1 && !a.reverse && count_of(a.carried) <= a.condition->arguments.size()));
  if (!fits || LoopLayout(a).inputs() != count)
    errors::raise<errors::InvalidArgumentError>(c.op.name, "the body does not fit the inputs");
  if (c.spec(0).dtype != DType::int64 || c.spec(0).shape.rank())
    errors::raise<errors::InvalidArgumentError>(
        c.op.name, "the maximum number of iterations is " + to_string(c.spec(0)) + ", not an int64 scalar");
  for (std::size_t i = 0; i < a.sums.text.size(); ++i)
    if (is_sum(a, i) && (i >= count_of(a.carried) || !two_sum_op.dtypes.has(c.spec(1 + i).dtype)))
      errors::raise<errors::InvalidArgumentError>(
          c.op.name, "carried value " + std::to_string(i) + " is a sum, which must be floating or complex");
}
// The number of rows, as far as it is known.
TANDEM_LAZY TANDEM_INLINE i64 known_rows(const InferCall& c, const rules::LoopAttrs& a, const LoopLayout& at) {
  i64 n = none;
  for (std::size_t i = 0; i < at.rows; ++i) {
    const bool ragged = is_ragged(a.ragged_rows, i);
    const Spec& s = c.spec(ragged ? at.row_table(a, i) : at.first_row() + i);
    if (!s.shape.rank()) errors::raise<errors::InvalidArgumentError>(c.op.name, "a scalar has no rows");
    if (ragged && (s.dtype != DType::int64 || s.shape.rank() != 2 || s.device.kind != Device::cpu))
      errors::raise<errors::InvalidArgumentError>(
          c.op.name, "the shapes of ragged rows are " + to_string(s) + ", not an int64 matrix in host memory");
    if (s.shape.dim(0) == none) continue;
    if (n != none && n != s.shape.dim(0))
      errors::raise<errors::InvalidArgumentError>(
          c.op.name, "the tensors have " + std::to_string(n) + " and " + std::to_string(s.shape.dim(0)) + " rows");
    n = s.shape.dim(0);
  }
  if (!a.condition->outputs.empty()) return none;
  if (n == none && c.in[0]->has_data() && c.in[0]->device().kind == Device::cpu)
    n = std::max<i64>(*static_cast<const i64*>(c.in[0]->raw()), 0);
  return n;
}
// Checks the condition, and the storage of ragged rows, against the specs of the inputs.
TANDEM_LAZY TANDEM_INLINE void check_further_inputs(const InferCall& c, const rules::LoopAttrs& a,
                                                    const LoopLayout& at) {
  for (std::size_t i = 0; i < at.rows; ++i) {
    if (!is_ragged(a.ragged_rows, i)) continue;
    const Spec &flat = c.spec(at.first_row() + i), &row = a.body->spec(a.body->arguments[at.carried + i]);
    if (flat.dtype != row.dtype || !(flat.device == row.device) || flat.shape.rank() != 1)
      errors::raise<errors::InvalidArgumentError>(
          c.op.name, "ragged rows " + to_string(row) + " do not fit in " + to_string(flat));
  }
  if (a.condition->outputs.empty()) return;
  check_arguments(c, *a.condition, 1, at.carried, 0);
  check_arguments(c, *a.condition, at.first_condition_capture(), at.condition_captures, at.carried);
}
// Binds the body to the specs of the inputs if the carried values keep them; otherwise returns it unchanged.
TANDEM_LAZY TANDEM_INLINE Ref<Graph> body_of_call(const InferCall& c, const rules::LoopAttrs& a, const LoopLayout& at) {
  std::vector<Spec> specs;
  for (std::size_t i = 0; i < a.body->arguments.size(); ++i) {
    const Spec s = c.spec(at.input_of_argument(i));
    const Spec& wanted = a.body->spec(a.body->arguments[i]);
    const bool row = i >= at.carried && i < at.carried + at.rows;
    if (row && is_ragged(a.ragged_rows, i - at.carried)) specs.push_back(wanted);
    else specs.push_back(row ? row_of(s) : s);
    if (!agree(specs[i], wanted))
      errors::raise<errors::InvalidArgumentError>(
          c.op.name, "the body takes " + to_string(wanted) + ", but " + to_string(specs[i]) + " is passed");
  }
  const auto keeps = [&](const Graph& g) {
    for (std::size_t i = 0; i < at.carried; ++i)
      if (!(output_spec(g, i) == g.spec(g.arguments[i]))) return false;
    return true;
  };
  Ref<Graph> all = runs_now(c) ? a.body : bound_body(a.body, specs);
  if (all.get() == a.body.get() || keeps(*all)) return all;
  for (std::size_t i = 0; i < at.carried; ++i) specs[i] = a.body->spec(a.body->arguments[i]);
  return bound_body(a.body, specs);
}
TANDEM_LAZY_INLINE Specs infer_loop(const InferCall& c) {
  const auto& a = c.get<rules::LoopAttrs>();
  check_layout(c, a);
  const LoopLayout at(a);
  const i64 rows = known_rows(c, a, at);
  check_further_inputs(c, a, at);
  const Ref<Graph> body = body_of_call(c, a, at);
  Specs r;
  for (std::size_t i = 0; i < at.carried; ++i) r.push_back(body->spec(body->arguments[i]));
  Specs tables;
  for (std::size_t i = at.carried; i < body->outputs.size(); ++i) {
    const Spec& s = output_spec(*body, i);
    if (is_ragged(a.ragged_results, i - at.carried)) {
      r.push_back(Spec{{none}, s.dtype, s.device});
      tables.push_back(Spec{{rows, s.shape.rank()}, DType::int64, {}});
    } else {
      r.push_back(stack_of(s, rows));
    }
  }
  for (const Spec& s : tables) r.push_back(s);
  r.push_back(Spec{{}, DType::int64, {}});
  return r;
}

// The program that runs a graph; looked up again only when the arguments' specs change.
class BodyProgram {
 public:
  TANDEM_LAZY explicit BodyProgram(const Graph& g) : function_(Body::of(g).function()) {}
  TANDEM_LAZY Tensors run(Span<const Tensor* const> arguments, Span<Tensor> donated = {}) {
    if (!program_ || (!function_.is_static() && changed(arguments))) {
      specs_ = specs_of(arguments);
      program_ = function_.program_for(specs_);
    }
    return program_->run(arguments, donated);
  }

 private:
  TANDEM_LAZY bool changed(Span<const Tensor* const> arguments) const {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (!(arguments[i]->spec() == specs_[i])) return true;
    return false;
  }
  ConcreteFunction& function_;
  Ref<Program> program_;
  std::vector<Spec> specs_;
};

TANDEM_LAZY class LoopRun {
 public:
  LoopRun(Inputs in, const rules::LoopAttrs& a)
      : in_(in), a_(a), at_(a), condition_(*a.condition), body_(*a.body), sums_(a) {
    limit_ = in[0]->item<i64>();
    const bool counted = a.condition->outputs.empty();
    add_sources(in);
    for (std::size_t i = 0; i < at_.carried; ++i) carried_.push_back(*in[1 + i]);
    check_inputs(in);
    for (std::size_t i = 0; i < at_.stacked; ++i) {
      const Spec& s = output_spec(*a.body, at_.carried + i);
      if (is_ragged(a.ragged_results, i)) ragged_.emplace_back(s);
      else stacks_.emplace_back(s, counted ? limit_ : none);
    }
    rows_.resize(static_cast<unsigned>(at_.rows));
    for (std::size_t i = 0; i < at_.carried; ++i)
      condition_in_.push_back(&carried_[i]), body_in_.push_back(&carried_[i]);
    for (Tensor& t : rows_) body_in_.push_back(&t);
    for (std::size_t i = 0; i < at_.condition_captures; ++i)
      condition_in_.push_back(in[at_.first_condition_capture() + i]);
    for (std::size_t i = 0; i < at_.body_captures; ++i) body_in_.push_back(in[at_.first_body_capture() + i]);
  }
  Tensors run() {
    i64 n = 0;
    const CallScope* const limits = call_scope;
    while (n < limit_) {
      if (limits && limits->ends())  // the body may have no node that looks
        limits->check("loop", "after " + std::to_string(n) + " iterations of '" + a_.body->name + "'");
      if (!goes_on()) break;
      step(a_.reverse ? limit_ - 1 - n : n), ++n;
    }
    if (n == 0) size_empty_stacks();
    sums_.finish(carried_);
    Tensors out = std::move(carried_);
    for (std::size_t i = 0, dense = 0, ragged = 0; i < at_.stacked; ++i)
      out.push_back(is_ragged(a_.ragged_results, i) ? ragged_[ragged++].flat() : stacks_[dense++].finish());
    for (const RaggedStack& s : ragged_) out.push_back(s.table());
    Tensor count = Tensor::allocate({{}, DType::int64, {}});
    *static_cast<i64*>(count.raw()) = n;
    out.push_back(std::move(count));
    return out;
  }

 private:
  void add_sources(Inputs in) {
    for (std::size_t i = 0; i < at_.rows; ++i) {
      const Tensor& x = *in[at_.first_row() + i];
      if (is_ragged(a_.ragged_rows, i))
        sources_.emplace_back(x, *in[at_.row_table(a_, i)], a_.body->spec(a_.body->arguments[at_.carried + i]));
      else sources_.emplace_back(x);
      check_rows(x, sources_.back().count());
    }
  }
  // Loop-invariant inputs are checked once. A carried value is checked again if the body's result may have other
  // sizes than its argument.
  void check_inputs(Inputs in) {
    const bool has_condition = !a_.condition->outputs.empty();
    for (std::size_t i = 0; i < at_.carried; ++i) {
      check_carried(i);
      const Graph& body = *a_.body;
      if (!implies(output_spec(body, i), body.spec(body.arguments[i])) ||
          (has_condition && !implies(output_spec(body, i), a_.condition->spec(a_.condition->arguments[i]))))
        unsure_.push_back(i);
    }
    for (std::size_t i = 0; i < at_.rows; ++i)
      if (!is_ragged(a_.ragged_rows, i))
        check_argument("loop", *a_.body, at_.carried + i, row_of(in[at_.first_row() + i]->spec()));
    for (std::size_t i = 0; i < at_.condition_captures; ++i)
      check_argument("loop", *a_.condition, at_.carried + i, in[at_.first_condition_capture() + i]->spec());
    for (std::size_t i = 0; i < at_.body_captures; ++i)
      check_argument("loop", *a_.body, at_.carried + at_.rows + i, in[at_.first_body_capture() + i]->spec());
  }
  void check_carried(std::size_t i) const {
    check_argument("loop", *a_.body, i, carried_[i].spec());
    if (!a_.condition->outputs.empty()) check_argument("loop", *a_.condition, i, carried_[i].spec());
  }
  // Whether every value of spec `is` may be used where `wanted` is required.
  static bool implies(const Spec& is, const Spec& wanted) {
    if (!agree(is, wanted)) return false;
    for (int d = 0; d < is.shape.rank(); ++d)
      if (is.shape.dim(d) == none && wanted.shape.dim(d) != none) return false;
    return true;
  }
  void check_rows(const Tensor& x, i64 rows) const {
    if (rows != limit_)
      errors::raise<errors::InvalidArgumentError>(
          "loop", to_string(x.spec()) + " does not have one row for each of " + std::to_string(limit_) + " iterations");
  }
  bool goes_on() {
    if (a_.condition->outputs.empty()) return true;
    return condition_.run({condition_in_.begin(), condition_in_.size()})[0].item<bool>();
  }
  void step(i64 row) {
    for (std::size_t i = 0; i < at_.rows; ++i) {
      rows_[i] = sources_[i].row(row);
      if (is_ragged(a_.ragged_rows, i)) check_argument("loop", *a_.body, at_.carried + i, rows_[i].spec());
    }
    Tensors out = body_.run({body_in_.begin(), body_in_.size()}, {carried_.begin(), carried_.size()});
    for (std::size_t i = 0; i < at_.carried; ++i) carried_[i] = std::move(out[i]);
    sums_.step(carried_);
    for (std::size_t i : unsure_) check_carried(i);
    for (std::size_t i = 0, dense = 0, ragged = 0; i < at_.stacked; ++i) {
      Tensor& t = out[at_.carried + i];
      if (is_ragged(a_.ragged_results, i)) ragged_[ragged++].put(row, std::move(t));
      else stacks_[dense++].put(row, t);
    }
  }

  // Rows that no iteration has produced have the sizes that the body gives for these inputs; 0 where those depend on
  // data, or where the body does not fit the inputs, which without iterations is not an error.
  void size_empty_stacks() {
    bool open = false;
    for (std::size_t i = 0; i < at_.stacked; ++i)
      open |= !is_ragged(a_.ragged_results, i) && !output_spec(*a_.body, at_.carried + i).shape.is_fully_defined();
    for (std::size_t i = 0; i < at_.rows; ++i) open &= !is_ragged(a_.ragged_rows, i);
    if (!open) return;
    std::vector<Spec> specs;
    for (std::size_t i = 0; i < at_.carried; ++i) specs.push_back(carried_[i].spec());
    for (std::size_t i = 0; i < at_.rows; ++i) specs.push_back(row_of(in_[at_.first_row() + i]->spec()));
    for (std::size_t i = 0; i < at_.body_captures; ++i) specs.push_back(in_[at_.first_body_capture() + i]->spec());
    Ref<Graph> bound;
    try {
      bound = tandem::bind(*a_.body, specs);
    } catch (const errors::InvalidArgumentError&) {
      return;
    }
    for (std::size_t i = 0, dense = 0; i < at_.stacked; ++i)
      if (!is_ragged(a_.ragged_results, i)) stacks_[dense++] = Stack(output_spec(*bound, at_.carried + i), none);
  }

  const Inputs in_;
  const rules::LoopAttrs& a_;
  const LoopLayout at_;
  i64 limit_;
  BodyProgram condition_, body_;
  Tensors carried_, rows_;
  InlinedVector<std::size_t, 4> unsure_;  // carried values whose sizes may change in each iteration
  LoopSums sums_;
  LeanVector<RowSource> sources_;
  LeanVector<Stack> stacks_;
  LeanVector<RaggedStack> ragged_;
  InlinedVector<const Tensor*, 8> condition_in_, body_in_;
};
TANDEM_LAZY_INLINE Tensors execute_loop(Inputs in, const Attrs& attrs) {
  return LoopRun(in, attrs.get<rules::LoopAttrs>()).run();
}

}  // namespace detail
TANDEM_INLINE constexpr OpDef loop_op{
    .name = "loop",
    .infer = [](const InferCall& c) { return detail::control_code().loop.infer(c); },
    .gradient = [](const GradCall& c) { return detail::control_code().loop.gradient(c); },
    .dtype_input = -1,
    .inputs = at_least(1),
    .outputs = -1,
    .attrs = &detail::attr_type<rules::LoopAttrs>,
    .rare = {.host_kernel = [](Inputs in, const Attrs& a) { return detail::control_code().loop.execute(in, a); }}};

}  // namespace TANDEM_NS
