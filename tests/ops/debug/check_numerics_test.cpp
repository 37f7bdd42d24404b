// check_numerics and enable_check_numerics: what they report, in forward and backward passes, eager and traced.
#include "tandem/ops/debug/check_numerics.hpp"

#include <cmath>
#include <limits>
#include <thread>

#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/host_function.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::StartsWith;
using debugging::check_numerics, debugging::CheckNumericsScope;
using testing::error_of;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity(), quiet_nan = std::numeric_limits<float>::quiet_NaN();

std::string checked(const Tensor& x) {
  return error_of<errors::InvalidArgumentError>([&] { return check_numerics(x, "loss"); });
}

}  // namespace

TEST_CASE("check_numerics returns finite tensors and reports the first other element") {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}});
  CHECK(check_numerics(x, "loss").to_vector<float>() == x.to_vector<float>());
  CHECK(check_numerics(zeros({0, 3}), "loss").shape() == Shape{0, 3});
  CHECK_THAT(checked(constant({{1.f, 2.f}, {-inf, quiet_nan}})),
             StartsWith("check_numerics: loss: -inf at [1,0], the first of 2 numbers") &&
                 ContainsSubstring("float32[2,2]") && ContainsSubstring("check_numerics_test.cpp:"));
  CHECK_THAT(checked(constant(quiet_nan)), StartsWith("check_numerics: loss: nan in float32[]"));
  CHECK_THAT(error_of([] { return check_numerics(constant({1}), "loss"); }), ContainsSubstring("no kernel for int32"));
}

TEST_CASE("check_numerics: every floating dtype, every position") {
  for (const DType d : {float16, bfloat16, float32, float64, complex64, complex128})
    for (const i64 at : {0, 1, 1023, 1024, 2500}) {
      const Tensor x = one_hot(constant(at), 2501, {.on_value = quiet_nan, .off_value = 65000.});
      const Tensor finite = fill({2501}, 65000.f);
      INFO(name(d) << " at " << at);
      CHECK_THAT(checked(cast(x, d)), ContainsSubstring("at [" + std::to_string(at) + "]"));
      CHECK_NOTHROW(check_numerics(cast(finite, d), "loss"));
    }
  const Tensor c = complex(constant({1.f, 2.f}), constant({0.f, inf}));
  CHECK_THAT(checked(c), ContainsSubstring("at [1]"));
}

TEST_CASE("check_numerics: its gradient is checked too") {
  const Tensor x = constant({0.f, 4.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = reduce_sum(square(check_numerics(x, "x")));
  CHECK(tape.gradient(y, x).to_vector<float>() == std::vector<float>{0, 8});
  const Tensor z = reduce_sum(sqrt(check_numerics(x, "x")));
  CHECK_THAT(error_of([&] { return tape.gradient(z, x); }), ContainsSubstring("x (gradient): inf at [0]"));
}

TEST_CASE("check_numerics in a traced function runs although nothing uses its result") {
  auto f = function([](const Tensor& x) {
    check_numerics(x, "in f");
    return x + 1;
  });
  CHECK(f(constant({1.f}))[0].item<float>() == 2);
  CHECK_THAT(error_of([&] { return f(constant({quiet_nan})); }), ContainsSubstring("in f: nan at [0]"));
}

TEST_CASE("the trap names the op, its operands and the element") {
  const Tensor x = constant({1.f, 0.f, 0.f, 2.f});
  CHECK(std::isinf(log(x).to_vector<float>()[1]));
  {
    const CheckNumericsScope trap;
    CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { return log(x); }),
               StartsWith("log: the result of Log has -inf at [1], the first of 2 numbers that are not finite") &&
                   ContainsSubstring("its operands: float32[4]") && ContainsSubstring("check_numerics_test.cpp:"));
    CHECK(exp(x).size() == 4);
    CHECK_NOTHROW(constant({1, 2}) / constant({1, 1}));
    const CheckNumericsScope inner;
  }
  CHECK_NOTHROW(log(x));  // the scope has ended
}

TEST_CASE("the trap names the op whose gradient is not finite") {
  const CheckNumericsScope trap;
  const Tensor x = constant({4.f, 0.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = reduce_sum(sqrt(x));  // 2 + 0
  CHECK(y.item<float>() == 2);
  CHECK_THAT(error_of([&] { return tape.gradient(y, x); }),
             ContainsSubstring("inf at [1]") && ContainsSubstring("(in the gradient of Sqrt)"));
}

TEST_CASE("the trap and check_numerics say that both branches of where are computed") {
  const Tensor x = constant({4.f, 0.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = reduce_sum(where(x > 0, log(x), 0)), checked = where(x > 0, log(check_numerics(x, "x")), 0),
               plain = reduce_sum(log(check_numerics(x, "x")));
  const auto advice = ContainsSubstring("both branches of where are computed: make the operand safe inside it");
  CHECK_THAT(error_of([&] { return tape.gradient(checked, x); }),
             ContainsSubstring("check_numerics: x (gradient)") && advice);
  CHECK_THAT(error_of([&] { return tape.gradient(plain, x); }), ContainsSubstring("check_numerics: x (gradient)"));
  const CheckNumericsScope trap;
  CHECK_THAT(error_of([&] { return tape.gradient(y, x); }), ContainsSubstring("in the gradient of Log; ") && advice);
  GradientTape other;
  other.watch(x);
  const Tensor root = reduce_sum(sqrt(x));
  CHECK_THAT(error_of([&] { return other.gradient(root, x); }), !advice);
}

TEST_CASE("the trap sees every op of traced functions, those traced before included") {
  int traces = 0;
  auto f = function([&](const Tensor& x) {
    ++traces;
    return reduce_sum(log(x, {.name = "suspect"}) * 2);
  });
  const Tensor zero = constant({1.f, 0.f});
  CHECK(std::isinf(f(zero).item<float>()));
  {
    const CheckNumericsScope trap;
    CHECK_THAT(error_of([&] { return f(zero); }), StartsWith("log 'suspect': the result of Log has -inf at [1]"));
    CHECK(f(constant({1.f, 1.f})).item<float>() == 0);
  }
  CHECK(std::isinf(f(zero).item<float>()));
  CHECK(traces == 1);
}

TEST_CASE("the trap works together with a tape and a traced function") {
  auto f = function([](const Tensor& x) { return reduce_sum(sqrt(x)); });
  const Tensor x = constant({4.f, 0.f});
  const CheckNumericsScope trap;
  GradientTape tape;
  tape.watch(x);
  const Tensor y = f(x);
  CHECK_THAT(error_of([&] { return tape.gradient(y, x); }), ContainsSubstring("in the gradient of Sqrt"));
}

TEST_CASE("the trap names the line of the op whose gradient is not finite, eager and traced") {
  const auto step = [](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = sqrt(x);
    return tape.gradient(y, x);
  };
  const std::string line = "check_numerics_test.cpp:" + std::to_string(__LINE__ - 3);
  const auto traced = function(step);
  const Tensor x = constant({4.f, 0.f});
  const auto check = [&](const std::string& error) {
    CHECK_THAT(error, ContainsSubstring("in the gradient of Sqrt") && ContainsSubstring(line));
  };
  {
    const CheckNumericsScope trap;
    check(error_of([&] { return step(x); }));
    check(error_of([&] { return traced(x); }));
    const auto outer = function([&](const Tensor& t) { return 2 * traced(t); });
    check(error_of([&] { return outer(x); }));
  }
  // Kernels that raise in a planned program name it, too.
  const auto checking = function([](const Tensor& t) {
    GradientTape tape;
    tape.watch(t);
    const Tensor y = sqrt(check_numerics(t, "t"));
    return tape.gradient(y, t);
  });
  CHECK_THAT(error_of([&] { return checking(x); }),
             ContainsSubstring("in the gradient of CheckNumerics") && ContainsSubstring("check_numerics_test.cpp:"));
}

TEST_CASE("the trap belongs to its thread and is switched off by name") {
  debugging::enable_check_numerics();
  debugging::enable_check_numerics();
  std::thread([] {
    CHECK(!debugging::is_check_numerics_enabled());
    log(constant({0.f}));
    debugging::enable_check_numerics();  // ends with the thread
    GradientTape tape;
    CHECK_THROWS_AS(log(constant({0.f})), errors::InvalidArgumentError);
  }).join();
  CHECK(debugging::is_check_numerics_enabled());
  CHECK_THROWS_AS(log(constant({0.f})), errors::InvalidArgumentError);
  debugging::disable_check_numerics();
  CHECK(!debugging::is_check_numerics_enabled());
  CHECK_NOTHROW(log(constant({0.f})));
}

TEST_CASE("check_numerics on another device") {
  const sim::Installed installed;
  const Tensor x = constant({1.f, 0.f}).to(sim::device);
  CHECK(check_numerics(x, "x").device() == sim::device);
  CHECK_THAT(error_of([&] { return check_numerics(1 / x, "x"); }), ContainsSubstring("inf at [1]"));
  const CheckNumericsScope trap;
  CHECK_THAT(error_of([&] { return 1 / x; }), ContainsSubstring("inf at [1]"));
}

TEST_CASE("the trap does not read what the branch that did not run would have saved") {
  const auto body = [](const Tensor& x) {
    return cond(
        reduce_sum(x) > 0, [&] { return exp(sin(x) * x); }, [&] { return exp(sqrt(-x)) * tanh(x); });
  };
  auto branch = function(body);
  auto loop = function([&](const Tensor& x) {
    return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                                  [&](const Tensor& i, const Tensor& t) { return std::tuple(i + 1, body(t) * 0.25f); },
                                  std::tuple(constant(0), x)));
  });
  const CheckNumericsScope trap;
  for (const float v : {0.5f, -0.5f}) {
    for (int i = 0; i < 20; ++i) fill({1000}, 3e38f);  // in the buffers that the placeholders will get
    const Tensor x = fill({1000}, v);
    GradientTape tape({.persistent = true});
    tape.watch(x);
    CHECK_NOTHROW(tape.gradient(branch(x), x));
    CHECK_NOTHROW(tape.gradient(loop(x), x));
    CHECK_NOTHROW(branch(x));
  }
}

TEST_CASE("the trap checks the value of a custom gradient and updates of Variables, eager and traced") {
  const Tensor zero = constant({1.f, 0.f});
  const auto custom = [](const Tensor& x) {
    return custom_gradient([](const Tensor& t) { return std::pair(log(t), [](const Tensor& g) { return g; }); }, x);
  };
  const Variable v(constant({1.f, 2.f}));
  const auto update = [&](const Tensor& x) {
    v.assign_add(x * 2e38f);
    return v + 0.f;
  };
  auto traced = function(update);
  const CheckNumericsScope trap;
  CHECK_THAT(error_of([&] { return custom(zero); }), ContainsSubstring("CustomGradient has -inf at [1]"));
  CHECK(custom(constant({1.f, 1.f})).to_vector<float>() == std::vector<float>{0, 0});
  v.assign(constant({1e38f, 1e38f}));
  CHECK_THAT(error_of([&] { update(zero + 0.5f); }), ContainsSubstring("the result of Add has inf at [0]"));
  CHECK(v.to_vector<float>() == std::vector<float>{1e38f, 1e38f});  // not updated
  CHECK_THAT(error_of([&] { return traced(zero + 0.5f); }), ContainsSubstring("the result of Add has inf at [0]"));
}

TEST_CASE("the trap is not enabled or disabled where that has no effect") {
  auto enabling = function([](const Tensor& x) {
    debugging::enable_check_numerics();
    return x + 1;
  });
  CHECK_THROWS_AS(enabling(constant(1.f)), errors::FailedPreconditionError);
  CHECK(!debugging::is_check_numerics_enabled());
  const auto disabling = [](const Tensor& x) {
    return custom_gradient(
        [](const Tensor& t) {
          debugging::disable_check_numerics();
          return std::pair(t * 1, [](const Tensor& g) { return g; });
        },
        x);
  };
  auto traced = function([](const Tensor& x) {
    debugging::disable_check_numerics();
    return x + 1;
  });
  {
    const CheckNumericsScope trap;
    CHECK_THROWS_AS(disabling(constant(1.f)), errors::FailedPreconditionError);
    CHECK_THROWS_AS(traced(constant(1.f)), errors::FailedPreconditionError);
    CHECK_THROWS_AS(log(constant({0.f})), errors::InvalidArgumentError);
  }
  const auto host = [](const Tensor& x) {
    debugging::enable_check_numerics();  // ends with the function
    CHECK_THROWS_AS(log(constant({0.f})), errors::InvalidArgumentError);
    return x;
  };
  host_function(host, {constant(1.f)}, TensorSpec({}, float32));
  CHECK(!debugging::is_check_numerics_enabled());
  CHECK_NOTHROW(log(constant({0.f})));
  const CheckNumericsScope trap;
  CHECK_THROWS_AS(log(constant({0.f})), errors::InvalidArgumentError);
}

TEST_CASE("check_numerics on another device: its gradient is checked too") {
  const sim::Installed installed;
  const Tensor x = constant({0.f, 4.f}).to(sim::device);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = reduce_sum(square(check_numerics(x, "x"))), z = reduce_sum(sqrt(check_numerics(x, "x")));
  CHECK(tape.gradient(y, x).to_vector<float>() == std::vector<float>{0, 8});
  CHECK_THAT(error_of([&] { return tape.gradient(z, x); }), ContainsSubstring("x (gradient): inf at [0]"));
}
