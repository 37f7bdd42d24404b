// Generated from the op table: gradients and second gradients against differences in double precision, and which ops
// have none.
#include <set>
#include <string>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tests/ops/table_calls.hpp"

using namespace tandem;
using namespace table_calls;
using samples::Call;

namespace {

using List = std::vector<Tensor>;

// Not so a closure that holds its own operands; a cast to fewer digits than differences need; and backward ops that
// take what the forward op saved beside what it was computed from, so that no input can be moved alone. The second
// gradients of the forward ops cover the latter. Nor ops without a derivative by their first operand, or a second one,
// or that moves their draws apart, or that is that of another function (straight-through): ops/pointwise/
// {special_gradient,quantize}_test.cpp, ops/random/distributions_test.cpp.
bool moves_freely(const OpDef& op) {
  for (const OpDef* partly : {&polygamma_op, &zeta_op, &igamma_op, &igammac_op, &betainc_op, &random_gamma_op,
                              &fake_quant_op, &quantize_and_dequantize_op})
    if (&op == partly) return false;
  return &op != &custom_gradient_op && &op != &cast_op && &op != &lstm_grad_op && &op != &gru_grad_op;
}

// One number that depends on every element of the outputs.
Tensor score(const Call& c, const List& in, std::size_t outputs) {
  samples::Numbers weights(float64);
  Tensor sum;
  const Tensors out = samples::apply_to(c, in);
  for (std::size_t i = 0; i < outputs; ++i) {
    if (!is_floating(out[i].dtype())) continue;
    const Tensor term = reduce_sum(cast(out[i], float64) * weights.reals(out[i].shape(), 0.5, 1.5));
    sum = sum.is_set() ? sum + term : term;
  }
  return sum;
}
// The same for the gradients with respect to all sources.
Tensor slope(const Call& c, const List& in, const List& x, std::size_t outputs) {
  samples::Numbers weights(float64);
  GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  const List g = tape.gradient(score(c, in, outputs), x, {.unconnected_gradients = UnconnectedGradients::zero});
  Tensor sum = zeros({}, {.dtype = float64});
  for (const Tensor& t : g) sum = sum + reduce_sum(t * weights.reals(t.shape(), 0.5, 1.5));
  return sum;
}

// The floating operands that can be moved, and the call's inputs with others in their place.
struct Sources {
  const Call& call;
  std::vector<std::size_t> at;
  List x;

  explicit Sources(const Call& c) : call(c) {
    for (std::size_t i = 0; i < c.in.size(); ++i)
      if (c.in[i].dtype() == float64 && !c.in[i].is_symbolic() && !names_input(c.op->shape_inputs, i))
        at.push_back(i), x.push_back(c.in[i]);
  }
  List with(const List& moved) const {
    List in = call.in;
    for (std::size_t k = 0; k < at.size(); ++k) in[at[k]] = moved[k];
    return self_adjoint(call, in);
  }
};

template <class F>
void check_jacobian(const F& f, const List& x) {
  for (const test::Jacobians& j : test::compute_gradient(f, x, {.delta = 1e-5}))
    CHECK(relative_error(as_doubles(j.theoretical), as_doubles(j.numerical)) < 1e-6);
}
bool any_floating(const Tensors& out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (is_floating(out[i].dtype())) return true;
  return false;
}
// f(call, sources, outputs) for every differentiable call.
template <class F>
void for_each_differentiable(const F& f) {
  for_each_call(float64, [&](const Call& c) {
    if (!has_gradient(*c.op) || c.op->flags.non_differentiable || !moves_freely(*c.op)) return;
    const Tensors out = samples::apply_to(c, c.in);
    const std::size_t outputs = public_outputs(c, out);
    const Sources s(c);
    if (!s.x.empty() && any_floating(out, outputs)) f(c, s, outputs);
  });
}

}  // namespace

TEST_CASE("op table: gradients against differences") {
  int checked = 0;
  for_each_differentiable([&](const Call& c, const Sources& s, std::size_t outputs) {
    check_jacobian([&](const List& x) { return score(c, s.with(x), outputs); }, s.x);
    ++checked;
  });
  CHECK(checked > 150);
}

TEST_CASE("op table: second gradients against differences") {
  int checked = 0;
  for_each_differentiable([&](const Call& c, const Sources& s, std::size_t outputs) {
    check_jacobian([&](const List& x) { return slope(c, s.with(x), x, outputs); }, s.x);
    ++checked;
  });
  CHECK(checked > 150);
}

TEST_CASE("op table: a blocked op gives an unset gradient that names it") {
  for_each_call(float64, [&](const Call& c) {
    const Sources s(c);
    if (!c.op->flags.non_differentiable || s.x.empty() || c.op->outputs == 0) return;
    GradientTape tape;
    for (const Tensor& t : s.x) tape.watch(t);
    const Tensors out = samples::apply_to(c, c.in);
    if (dtypes::quantized.has(out[0].dtype())) return;  // codes, which are no target
    const Tensor g = tape.gradient(out[0], s.x)[0];
    REQUIRE(!g.is_set());
    CHECK_THROWS_WITH(g.size(), ContainsSubstring("non-differentiable op " + display_name(*c.op)));
  });
}

// Optimizer updates are not recorded by tapes; whoever applies their rows by hand gets an error.
TEST_CASE("op table: the ops without a gradient are these") {
  std::set<std::string> without;
  for (const OpDef* op : samples::tested_ops())
    if (!has_gradient(*op) && !op->flags.non_differentiable) without.insert(op->name);
  std::set<std::string> known;
  for (const std::string update :
       {"sgd_update", "momentum_update", "rmsprop_update", "rmsprop_momentum_update", "rmsprop_centered_update",
        "adam_update", "amsgrad_update", "adamw_update", "adamax_update", "nadam_update", "adagrad_update",
        "adadelta_update", "ftrl_update", "lion_update", "schedule_free_update", "decay_update", "average_update"})
    for (const char* kind : {"", "s", "_sparse"}) known.insert(update + kind);
  CHECK(without == known);
  for (const std::string& name : known) {
    const OpDef& op = *find_op(name);
    for (const Call& c : samples::calls_of(op, float64)) {
      GradientTape tape;
      tape.watch(c.in[0]);
      const Tensors out = samples::apply_to(c, c.in);
      CHECK_THROWS_AS(tape.gradient(out[0], c.in[0]), errors::UnimplementedError);
    }
  }
}
