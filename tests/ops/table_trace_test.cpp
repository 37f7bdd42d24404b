// Generated from the op table: every op and its gradient, staged and replayed, gives eager's bits; and eager's numbers
// when the sizes of its operands' axes are known only at replay.
#include <set>

#include "tandem/autodiff/tape.hpp"
#include "tests/ops/table_calls.hpp"
#include "tests/support/recorder.hpp"

using namespace tandem;
using namespace table_calls;
using samples::Call;

namespace {

using List = std::vector<Tensor>;

bool is_argument(const Call& c, std::size_t i) { return !names_input(c.op->host_inputs, i) && !c.in[i].is_symbolic(); }
// All outputs, then the gradients of the sum of their squares.
List forward_and_back(const Call& c, const List& arguments) {
  List in = c.in, x;
  GradientTape tape;
  for (std::size_t i = 0, k = 0; i < in.size(); ++i) {
    if (!is_argument(c, i)) continue;
    in[i] = arguments[k++];
    if (!is_floating(in[i].dtype()) || names_input(c.op->shape_inputs, i)) continue;
    tape.watch(in[i]);
    x.push_back(in[i]);
  }
  List results, targets;
  for (const Tensor& y : samples::apply_to(c, in)) {
    results.push_back(y);
    if (is_floating(y.dtype())) targets.push_back(square(y));
  }
  if (targets.empty() || x.empty() || c.op->flags.non_differentiable || !has_gradient(*c.op)) return results;
  for (const Tensor& g : tape.gradient(targets, x, {.unconnected_gradients = UnconnectedGradients::zero}))
    results.push_back(g);
  return results;
}
List arguments_of(const Call& c) {
  List r;
  for (std::size_t i = 0; i < c.in.size(); ++i)
    if (is_argument(c, i)) r.push_back(c.in[i]);
  return r;
}
template <class F>
void check_replay(const Call& c, const std::vector<Spec>& specs, const List& arguments, const List& eager,
                  const F& check) {
  testing::Recorder recorder;
  recorder.trace(specs, [&](const List& in) { return forward_and_back(c, in); });
  const List replayed = recorder.replay(arguments);
  REQUIRE(replayed.size() == eager.size());
  for (std::size_t i = 0; i < eager.size(); ++i) {
    CAPTURE(i);
    check(replayed[i], eager[i]);
  }
}

}  // namespace

TEST_CASE("op table: staged and replayed, every op gives eager's bits") {
  for_each_call(float32, [](const Call& c) {
    const List arguments = arguments_of(c);
    std::vector<Spec> specs;
    for (const Tensor& t : arguments) specs.push_back(t.spec());
    check_replay(c, specs, arguments, forward_and_back(c, arguments),
                 [](const Tensor& a, const Tensor& b) { CHECK(same_bits(a, b)); });
  });
}

namespace {
// Sums may be made in another order where a size is not known, so that not every bit need agree.
void check_numbers(const Tensor& a, const Tensor& b) {
  REQUIRE(a.spec() == b.spec());
  if (is_floating(a.dtype())) CHECK(relative_error(as_doubles(a), as_doubles(b)) < 1e-6);
  else CHECK(same_bits(a, b));
}
}  // namespace

TEST_CASE("op table: open axes are filled at replay") {
  std::set<std::string> refused;  // they need a size while tracing, and say so
  for_each_call(float32, [&](const Call& c) {
    const List arguments = arguments_of(c), eager = forward_and_back(c, arguments);
    std::set<i64> sizes;
    for (const Tensor& t : arguments) sizes.insert(t.shape().begin(), t.shape().end());
    for (const i64 size : sizes) {
      CAPTURE(size);
      std::vector<Spec> specs;
      for (const Tensor& t : arguments) {
        specs.push_back(t.spec());
        for (int a = 0; a < t.rank(); ++a)
          if (t.shape()[a] == size) specs.back().shape.set(a, none);
      }
      try {
        check_replay(c, specs, arguments, eager, check_numbers);
      } catch (const errors::InvalidArgumentError& e) {
        CHECK_THAT(e.what(), ContainsSubstring("None"));
        refused.insert(c.op->name);
      }
    }
  });
  // Index vectors of open length; which axes are squeezed; recurrent second derivatives of open length.
  CHECK(refused == std::set<std::string>{"gather_nd", "gather_nd_grad", "scatter_nd", "squeeze",
                                         "tensor_scatter_nd_update", "tensor_scatter_nd_add", "tensor_scatter_nd_max",
                                         "tensor_scatter_nd_min", "lstm_grad", "gru_grad"});
}
