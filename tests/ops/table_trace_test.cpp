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

bool is_argument(const Call& c, std::size_t i) {
  return !lives_on_host(*c.op, i, c.in.size()) && !c.in[i].is_symbolic();
}
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

namespace {

// The call's specs with axes of unknown size: those that `opens` accepts.
template <class F>
std::vector<Spec> opened(const List& arguments, const F& opens) {
  std::vector<Spec> specs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    specs.push_back(arguments[i].spec());
    for (int a = 0; a < arguments[i].rank(); ++a)
      if (opens(i, a)) specs.back().shape.set(a, none);
  }
  return specs;
}
List without_elements(const List& arguments, i64 size) {
  List r;
  for (const Tensor& t : arguments) {
    Spec s = t.spec();
    for (int a = 0; a < t.rank(); ++a)
      if (s.shape[a] == size) s.shape.set(a, 0);
    r.push_back(s.shape.size() == t.size() ? t : zeros(s.shape, {.dtype = s.dtype}));
  }
  return r;
}

}  // namespace

TEST_CASE("op table: open axes are filled at replay") {
  std::set<std::string> refused;  // they need a size while tracing, and say so
  for_each_call(float32, [&](const Call& c) {
    const List arguments = arguments_of(c), eager = forward_and_back(c, arguments);
    const auto check = [&](const std::vector<Spec>& specs) {
      try {
        check_replay(c, specs, arguments, eager, check_numbers);
      } catch (const errors::InvalidArgumentError& e) {
        CHECK_THAT(e.what(), ContainsSubstring("None"));
        refused.insert(c.op->name);
      }
    };
    std::set<i64> sizes;
    for (const Tensor& t : arguments) sizes.insert(t.shape().begin(), t.shape().end());
    for (const i64 size : sizes) {
      CAPTURE(size);
      check(opened(arguments, [&](std::size_t i, int a) { return arguments[i].shape()[a] == size; }));
    }
    for (std::size_t k = 0; k < arguments.size(); ++k)
      for (int axis = 0; axis < arguments[k].rank(); ++axis) {
        CAPTURE(k, axis);
        check(opened(arguments, [&](std::size_t i, int a) { return i == k && a == axis; }));
      }
  });
  // Index vectors of open length; which axes are squeezed; recurrent second derivatives of open length, which need a
  // function().
  CHECK(refused == std::set<std::string>{"gather_nd", "gather_nd_grad", "scatter_nd", "squeeze",
                                         "tensor_scatter_nd_update", "tensor_scatter_nd_add", "tensor_scatter_nd_max",
                                         "tensor_scatter_nd_min", "lstm_grad", "gru_grad"});
}

TEST_CASE("op table: open axes of size 0 at replay") {
  std::set<std::string> only_eager, only_replayed;
  for_each_call(float32, [&](const Call& c) {
    const List arguments = arguments_of(c);
    std::set<i64> sizes;
    for (const Tensor& t : arguments) sizes.insert(t.shape().begin(), t.shape().end());
    sizes.erase(0);
    for (const i64 size : sizes) {
      CAPTURE(size);
      testing::Recorder recorder;
      try {
        recorder.trace(opened(arguments, [&](std::size_t i, int a) { return arguments[i].shape()[a] == size; }),
                       [&](const List& in) { return forward_and_back(c, in); });
      } catch (const errors::InvalidArgumentError&) {
        continue;  // refused: the test above
      }
      const List empty = without_elements(arguments, size);
      List eager, replayed;
      bool raised = false;
      try {
        eager = forward_and_back(c, empty);
      } catch (const errors::OpError&) {
        raised = true;
      }
      try {
        replayed = recorder.replay(empty);
      } catch (const errors::OpError& e) {
        INFO(e.what());
        if (!raised) only_eager.insert(c.op->name);
        continue;
      }
      if (raised) {
        only_replayed.insert(c.op->name);
        continue;
      }
      REQUIRE(replayed.size() == eager.size());
      for (std::size_t i = 0; i < eager.size(); ++i) {
        CAPTURE(i);
        check_numbers(replayed[i], eager[i]);
      }
    }
  });
  CHECK(only_eager == std::set<std::string>{});
  CHECK(only_replayed == std::set<std::string>{});
}
