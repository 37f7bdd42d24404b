// cond, case_, switch_case: eager and traced, gradients of both orders, effects, errors.
#include "tandem/graph/control/control.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;

using testing::check_close, testing::check_same_derivatives, testing::floats, testing::Floats, testing::List;

TEST_CASE("cond: the taken branch, eager and traced") {
  const Tensor a = constant(1), b = constant(2);
  const auto choose = [&](const Tensor& p) {
    return cond(
        p, [&] { return a + b; }, [&] { return a * b; });
  };
  CHECK(choose(constant(true)).item<int>() == 3);
  CHECK(choose(constant(false)).item<int>() == 2);
  CHECK(cond(
            true, [&] { return a + b; }, [&] { return a * b; })
            .item<int>() == 3);
  const auto traced = function(choose);
  CHECK(traced(constant(true)).item<int>() == 3);
  CHECK(traced(constant(false)).item<int>() == 2);
  CHECK(traced(constant({{true}})).item<int>() == 3);
}

TEST_CASE("cond: only the taken branch runs, with its effects in order") {
  const Variable count(constant(0)), log(constant(0));
  const auto f = [&](const Tensor& x) {
    log.assign_add(constant(1));
    cond(
        x > 0.f, [&] { count.assign_add(constant(1)); }, [&] { count.assign_add(constant(100)); });
    log.assign_add(count * 1000);
    return x * 2;
  };
  const auto traced = function(f);
  for (const bool trace : {false, true}) {
    count.assign(constant(0)), log.assign(constant(0));
    const auto call = [&](float x) { return trace ? traced(constant(x)) : f(constant(x)); };
    CHECK(call(1).item<float>() == 2);
    CHECK(count.item<int>() == 1);
    CHECK(log.item<int>() == 1001);
    call(-1);
    CHECK(count.item<int>() == 101);
    CHECK(log.item<int>() == 102002);
  }
}

TEST_CASE("cond: structures, and nothing, come back") {
  struct Pair {
    Tensor sum;
    std::vector<Tensor> more;
  };
  const auto f = function([](const Tensor& p, const Tensor& x) {
    return cond(
        p,
        [&] {
          return Pair{x + 1, {x, x * 2}};
        },
        [&] {
          return Pair{x - 1, {x * 3, x}};
        });
  });
  const Pair r = f(constant(false), constant(5.f));
  CHECK(r.sum.item<float>() == 4);
  CHECK(r.more[0].item<float>() == 15);
  CHECK(r.more[1].item<float>() == 5);
}

TEST_CASE("cond: sizes that differ between the branches are open") {
  const auto f = function([](const Tensor& p, const Tensor& x) {
    const Tensor y = cond(
        p,
        [&] {
          return concat({x, x}, 0);
        },
        [&] { return x; });
    CHECK(y.shape()[0] == none);
    return y * 2;
  });
  CHECK(floats(f(constant(true), constant({1.f, 2.f}))) == Floats{2, 4, 2, 4});
  CHECK(floats(f(constant(false), constant({1.f, 2.f}))) == Floats{2, 4});
}

TEST_CASE("cond: errors name both branches") {
  const auto differ = function([](const Tensor& p, const Tensor& x) {
    return cond(
        p, [&] { return x; }, [&] { return cast(x, int32); });
  });
  CHECK_THROWS_WITH(differ(constant(true), constant(1.f)), ContainsSubstring("branches differ") &&
                                                               ContainsSubstring("float32[]") &&
                                                               ContainsSubstring("int32[]"));
  const auto counts = function([](const Tensor& p, const Tensor& x) {
    return cond(
        p, [&] { return List{x}; },
        [&] {
          return List{x, x};
        });
  });
  CHECK_THROWS_AS(counts(constant(true), constant(1.f)), errors::InvalidArgumentError);
  CHECK(context.stager == nullptr);
  const auto any = [](const Tensor& p) {
    return cond(
        p, [] { return constant(1); }, [] { return constant(2); });
  };
  CHECK_THROWS_WITH(any(constant(1)), ContainsSubstring("bool"));
  CHECK_THROWS_WITH(any(constant({true, false})), ContainsSubstring("bool"));
  CHECK_THROWS_WITH(function(any)(constant(1)), ContainsSubstring("bool"));
}

TEST_CASE("cond: gradients of both orders") {
  for (const float sign : {1.f, -1.f})
    check_same_derivatives(
        [&](const Tensor& x) {
          return cond(
              reduce_sum(x) > 0.f, [&] { return reduce_sum(x * x * x); }, [&] { return reduce_sum(sin(x) * exp(x)); });
        },
        constant({0.5f, 1.5f, -0.25f}) * sign);
}

TEST_CASE("cond: nested, and gradients to captures in one branch alone") {
  const auto f = [](const Tensor& x, const Tensor& y) {
    return cond(
        x > 0.f,
        [&] {
          return cond(
              y > 0.f, [&] { return x * y; }, [&] { return x * x; });
        },
        [&] { return y * y * y; });
  };
  const auto traced = function(f);
  for (const float a : {2.f, -2.f})
    for (const float b : {3.f, -3.f}) {
      const auto derive = [&](const auto& call) {
        const Tensor x = constant(a), y = constant(b);
        GradientTape tape;
        tape.watch(x), tape.watch(y);
        const Tensor z = call(x, y);
        const List g = tape.gradient(z, {x, y}, {.unconnected_gradients = UnconnectedGradients::zero});
        return Floats{z.item<float>(), g[0].item<float>(), g[1].item<float>()};
      };
      check_close(derive(traced), derive(f));
    }
}

TEST_CASE("cond: gradients to Variables that branches read") {
  const Variable w(constant({1.f, 2.f}), {.name = "w"}), v(constant(3.f), {.name = "v"});
  const auto loss = [&](const Tensor& x) {
    return cond(
        x > 0.f, [&] { return reduce_sum(w * w) * x; }, [&] { return v * x * x; });
  };
  const auto step = [&](const Tensor& x) {
    GradientTape tape;
    const Tensor y = loss(x);
    const std::vector<Gradient> g =
        tape.gradient(y, std::vector<Variable>{w, v}, {.unconnected_gradients = UnconnectedGradients::zero});
    return List{y, g[0].tensor(), g[1].tensor()};
  };
  const auto inside = function(step);
  const auto called = function(loss);
  for (const float x : {2.f, -2.f}) {
    const List eager = step(constant(x)), traced = inside(constant(x));
    GradientTape tape;
    const Tensor y = called(constant(x));
    const std::vector<Gradient> g =
        tape.gradient(y, std::vector<Variable>{w, v}, {.unconnected_gradients = UnconnectedGradients::zero});
    const List outside{y, g[0].tensor(), g[1].tensor()};
    for (std::size_t i = 0; i < 3; ++i) {
      check_close(floats(traced[i]), floats(eager[i]));
      check_close(floats(outside[i]), floats(eager[i]));
    }
  }
}

namespace {
// A table of which one branch takes rows; `other` is what the other branch returns.
template <class Other>
void check_sparse(const Other& other, bool sparse) {
  const Variable table(reshape(range(8.f), {4, 2}), {.name = "table"});
  const auto loss = [&](const Tensor& ids, const Tensor& x) {
    return cond(
        x > 0.f, [&] { return reduce_sum(square(gather(table, ids))) * x; }, [&] { return other(table, ids) * x; });
  };
  const auto step = [&](const Tensor& ids, const Tensor& x) {
    GradientTape tape;
    const Gradient g = tape.gradient(loss(ids, x), std::vector<Variable>{table},
                                     {.unconnected_gradients = UnconnectedGradients::zero})[0];
    if (context.stager) CHECK(g.is_sparse() == sparse);
    return g.tensor();
  };
  const std::vector<Spec> open{{{none}, int32, {}}, {{}, float32, {}}};
  const auto inside = function(step), resizable = function(step, {.input_signature = open});
  const auto called = function(loss);
  for (const float x : {2.f, -2.f})
    for (const Tensor& ids : {constant({1, 3, 1}), constant({2})}) {
      const Floats eager = floats(step(ids, constant(x)));
      CHECK(floats(inside(ids, constant(x))) == eager);
      CHECK(floats(resizable(ids, constant(x))) == eager);
      GradientTape tape;
      const Gradient g = tape.gradient(called(ids, constant(x)), std::vector<Variable>{table})[0];
      CHECK(g.is_sparse() == sparse);
      CHECK(floats(g.tensor()) == eager);
    }
}
}  // namespace

TEST_CASE("cond: row-sparse gradients stay so, unless one branch has a dense one") {
  check_sparse([](const Variable&, const Tensor&) { return constant(1.f); }, true);
  check_sparse([](const Variable& t, const Tensor& ids) { return reduce_sum(gather(t, ids - 1)); }, true);
  check_sparse([](const Variable& t, const Tensor&) { return reduce_sum(t * t); }, false);
}

TEST_CASE("cond: row-sparse gradients that the branch not taken has fewer of") {
  const Variable table(ones({4, 2}));
  const auto f = function([&](const Tensor& p, const Tensor& ids) {
    GradientTape tape;
    const Tensor y = cond(
        p, [&] { return reduce_sum(gather(table, ids)); }, [] { return constant(0.f); });
    const Gradient g = tape.gradient(y, std::vector<Variable>{table})[0];
    return List{g.slices().values, g.slices().indices};
  });
  const Tensor ids = constant({1, 3, 1});
  const List taken = f(constant(true), ids), not_taken = f(constant(false), ids);
  CHECK(taken[0].shape() == Shape{3, 2});
  CHECK(taken[1].to_vector<int>() == std::vector<int>{1, 3, 1});
  CHECK(not_taken[0].shape() == Shape{0, 2});
  CHECK(not_taken[1].shape() == Shape{0});
}

TEST_CASE("cond: gradients do not repeat effects, and see what a branch drew") {
  const Variable count(constant(0.f), {.trainable = false});
  const auto f = function([&](const Tensor& x) {
    return cond(
        x > 0.f,
        [&] {
          count.assign_add(constant(1.f));
          return x * x * count;
        },
        [&] { return x; });
  });
  for (const float n : {1.f, 2.f, 3.f}) {
    const Tensor x = constant(5.f);
    GradientTape tape;
    tape.watch(x);
    const Tensor y = f(x);
    CHECK(y.item<float>() == 25 * n);
    CHECK(tape.gradient(y, x).item<float>() == 10 * n);
    CHECK(count.item<float>() == n);
  }
}

TEST_CASE("cond: a Variable made in a branch of the first trace") {
  std::vector<Variable> made;
  const auto f = function([&](const Tensor& x) {
    return cond(
        x > 0.f,
        [&] {
          if (made.empty()) made.push_back(Variable(constant(7.f)));
          return x * made[0];
        },
        [&] { return x; });
  });
  CHECK(f(constant(2.f)).item<float>() == 14);
  CHECK(f(constant(-2.f)).item<float>() == -2);
}

TEST_CASE("case_: the first true condition wins") {
  const auto f = [](const Tensor& x) {
    return case_(std::tuple(Case{x < 0.f, [&] { return x * 0; }}, Case{x < 10.f, [&] { return x; }},
                            Case{x < 100.f, [&] { return x * 2; }}),
                 [&] { return x * 3; });
  };
  const auto traced = function(f);
  for (const auto& [x, y] : {std::pair{-5.f, 0.f}, {5.f, 5.f}, {50.f, 100.f}, {500.f, 1500.f}}) {
    CHECK(f(constant(x)).item<float>() == y);
    CHECK(traced(constant(x)).item<float>() == y);
  }
  const auto exclusive = [](const Tensor& x) {
    return case_(std::tuple(Case{x < 1.f, [&] { return x; }}, Case{x < 2.f, [&] { return x * 2; }}),
                 [&] { return x * 3; }, {.exclusive = true});
  };
  CHECK(exclusive(constant(1.5f)).item<float>() == 3);
  CHECK_THROWS_WITH(exclusive(constant(0.f)), ContainsSubstring("more than one"));
  CHECK_THROWS_WITH(function(exclusive)(constant(0.f)), ContainsSubstring("more than one"));
  const auto open = [](const Tensor& x) {
    return case_(std::tuple(Case{x < 1.f, [&] { return x; }}, Case{x > 2.f, [&] { return x * 2; }}));
  };
  CHECK(open(constant(3.f)).item<float>() == 6);
  CHECK_THROWS_WITH(open(constant(1.5f)), ContainsSubstring("no condition is true"));
  CHECK_THROWS_WITH(function(open)(constant(1.5f)), ContainsSubstring("no condition is true"));
}

TEST_CASE("switch_case: by index, the last one for all others") {
  const auto f = [](const Tensor& i, const Tensor& x) {
    return switch_case(i, std::tuple([&] { return x; }, [&] { return x * x; }, [&] { return x * x * x; }));
  };
  const auto traced = function(f);
  const auto with_default = function([](const Tensor& i, const Tensor& x) {
    return switch_case(i, std::tuple([&] { return x; }, [&] { return x * x; }), [&] { return x * 0; });
  });
  const float expected[] = {2, 4, 8};
  for (int i = -1; i < 5; ++i) {
    CHECK(f(constant(i), constant(2.f)).item<float>() == (i < 0 || i > 2 ? 8 : expected[i]));
    CHECK(traced(constant(i), constant(2.f)).item<float>() == (i < 0 || i > 2 ? 8 : expected[i]));
    CHECK(with_default(constant(i), constant(2.f)).item<float>() == (i < 0 || i > 1 ? 0 : expected[i]));
  }
  const Tensor x = constant(2.f);
  for (int i = 0; i < 3; ++i) {
    GradientTape tape;
    tape.watch(x);
    const float g[] = {1, 4, 12};
    CHECK(tape.gradient(traced(constant(i), x), x).item<float>() == g[i]);
  }
  CHECK_THROWS_WITH(f(constant(1.f), x), ContainsSubstring("switch_case"));
}
