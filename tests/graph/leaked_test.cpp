// Tensors kept from inside a traced function: whoever would read their values raises instead.
#include <sstream>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/tensor_array.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;

namespace {

Tensor leak() {
  Tensor kept;
  function([&](const Tensor& x) {
    kept = x * 2;
    return x + 1;
  })(constant({1.f, 2.f}));
  return kept;
}
template <class F>
void check_raises(const F& use) {
  CHECK_THROWS_AS(use(), errors::TraceError);
  CHECK_THROWS_WITH(use(), ContainsSubstring("finished trace") && ContainsSubstring("return it"));
}

}  // namespace

TEST_CASE("leaked: no Variable takes it, and none is changed") {
  const Tensor t = leak();
  const Variable v(constant({1.f, 2.f}));
  check_raises([&] { v.assign(t); });
  check_raises([&] { v.set_untracked(t); });
  check_raises([&] { v.assign_add(t); });
  check_raises([&] { Variable w(t); });
  check_raises([&] { optimizers::SGD().apply_gradients({Gradient(t)}, {v}); });
  const auto f = function([&](const Tensor& x) {
    v.assign(t);
    return x;
  });
  check_raises([&] { f(constant(1.f)); });
  CHECK(v.to_vector<float>() == std::vector<float>{1, 2});
}

TEST_CASE("leaked: no traced function takes it") {
  const Tensor t = leak(), x = constant({1.f, 2.f});
  const auto f = function([](const Tensor& a) { return a * 2; });
  check_raises([&] { f(t); });
  CHECK(f.trace_count() == 0);
  f(x);
  check_raises([&] { f(t); });
  const auto c = f.get_concrete_function(x);
  check_raises([&] { c->call(std::vector<const Tensor*>{&t}); });
  check_raises([&] { (*c)({t}); });
  check_raises([&] {
    GradientTape tape;
    tape.watch(t);
    tape.gradient(f(t), t);
  });
  check_raises([&] { function([&](const Tensor& a) { return f(t) + a; })(x); });
  check_raises([&] { function([&](const Tensor& a) { return a + t; })(x); });
  check_raises([&] { function([&](const Tensor&) { return t; })(x); });
  const auto open = function([](const Tensor& a) { return a * 2; }, {.input_signature = {{{none}, float32, {}}}});
  check_raises([&] { open(t); });
  const auto nested = function([&](const Tensor& a) {
    return cond(
        reduce_sum(a) > 0.f, [&] { return t; }, [&] { return a; });
  });
  check_raises([&] { nested(x); });
}

TEST_CASE("leaked: its values cannot be read, nor those of its views") {
  const Tensor t = leak(), row = t[0];
  CHECK(row.is_symbolic());
  CHECK(Tensor::view_of(t, {{1}, float32, {}}).is_symbolic());
  for (const Tensor& x : {t, row}) {
    check_raises([&] { x.to_vector<float>(); });
    check_raises([&] { (void)x.data<float>(); });
    check_raises([&] { print(x); });
    check_raises([&] { x + 1.f; });
    check_raises([&] { reduce_sum(x); });
    check_raises([&] { stack({x, x}); });
    check_raises([&] { where(x > 0.f); });
    check_raises([&] { debugging::assert_all_finite(x); });
  }
  check_raises([&] { row.item<float>(); });
  check_raises([&] { t.at<float>({1}); });
  check_raises([&] { random::shuffle(t); });
  check_raises([&] { convert_to_tensor(IndexedSlices{t, constant({0, 1}), t}); });
  check_raises([&] { TensorArray(float32, 1).write(0, t).stack(); });
  check_raises([&] {
    while_loop([&](const Tensor& i) { return i < row; }, [](const Tensor& i) { return i + 1.f; }, constant(0.f));
  });
  std::ostringstream text;
  text << t;  // says what it is, for whoever looks for the mistake
  CHECK(text.str().find("shape=(2,)") != std::string::npos);
}

TEST_CASE("leaked: within a trace, reading its own values still says what to do instead") {
  const auto f = function([](const Tensor& x) { return x * x.item<float>(); });
  CHECK_THROWS_WITH(f(constant(1.f)), ContainsSubstring("is not known while the function is traced"));
}
