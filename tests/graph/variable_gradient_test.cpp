// Gradients to Variables that traced code reads and assigns: those of a traced call under a tape, and of tapes inside
// of one, are eager's. To a tape each read is a read of the Variable, whatever was assigned to it before, and an
// assignment is no op.
#include <memory>

#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::check_close, testing::floats, testing::Floats, testing::List;

namespace {

// Two Variables and what becomes of them.
struct State {
  Variable v{constant({1.5f, -0.5f}), {.name = "v"}}, w{constant({0.5f, 2.f}), {.name = "w"}};

  // f's value, its gradients to x, v and w, and the Variables' values afterwards.
  template <class F>
  List run(const F& f, const Tensor& x) const {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = f(x);
    List r{y};
    for (const Gradient& g :
         tape.gradient(y, {Source(x), Source(v), Source(w)}, {.unconnected_gradients = UnconnectedGradients::zero}))
      r.push_back(g);
    r.push_back(v.read_value()), r.push_back(w.read_value());
    return r;
  }
  void reset() const { v.reset(), w.reset(); }
};
// Two calls of each, for the second one starts from what the first left.
template <class F>
void check_same_gradients(const State& s, const F& f, const Tensor& x = constant({0.75f, 1.25f})) {
  const auto called = function(f);
  const auto inside = function([&](const Tensor& t) { return s.run(f, t); });
  s.reset();
  const List first = s.run(f, x), second = s.run(f, x);
  s.reset();
  check_close(s.run(called, x), first);
  check_close(s.run(called, x), second);
  s.reset();
  check_close(inside(x), first);
  check_close(inside(x), second);
}

}  // namespace

TEST_CASE("variable gradients: reads before and after an assignment add up") {
  const Variable v(constant(3.f));
  const auto f = [&](const Tensor& x) {
    const Tensor before = v * 10;
    v.assign(x * 5);
    return before + v * v;
  };
  const auto called = function(f);
  for (const bool traced : {false, true}) {
    v.reset();
    const Tensor x = constant(1.f);
    GradientTape tape({.persistent = true});
    tape.watch(x);
    const Tensor y = traced ? called(x) : f(x);
    CHECK(y.item<float>() == 55);
    CHECK(tape.gradient(y, v).item<float>() == 20);  // 10, and 2 v where v is 5
    CHECK(!tape.gradient(y, x).is_set());            // an assignment ends its paths
  }
}

TEST_CASE("variable gradients: only reads that the tape has seen count, in a trace as in eager code") {
  const Variable v(constant(3.f));
  const auto f = [&](const Tensor& c) {
    const Tensor before = v.read_value();
    GradientTape outer;
    const Tensor seen = v.read_value();
    Tensor paused, g;
    {
      const auto pause = outer.stop_recording();
      paused = v.read_value();
    }
    {
      GradientTape inner;
      g = inner.gradient(v * before * seen * paused * c, v);  // seen is a constant to it
    }
    return List{g, outer.gradient(g + v * paused * before, v)};
  };
  const auto called = function(f);
  for (int call = 0; call < 3; ++call)
    for (const List& r : {f(constant(2.f)), called(constant(2.f))}) {
      CHECK(r[0].item<float>() == 54);
      CHECK(r[1].item<float>() == 18 + 9);
    }
  // They are one node all the same.
  int nodes = 0;
  for (const Node& n : called.get_concrete_function(constant(2.f))->graph().nodes) nodes += n.op == &read_variable_op;
  CHECK(nodes == 1);
}

TEST_CASE("variable gradients: assignments in a call") {
  const State s;
  const Variable &v = s.v, &w = s.w;
  check_same_gradients(s, [&](const Tensor& x) {
    v.assign_add(x * w);
    return reduce_sum(v * v * x);
  });
  check_same_gradients(s, [&](const Tensor& x) {
    v.assign(x);  // an argument itself
    w.assign(v);
    return reduce_sum(v * v * 10 + w * x + x);
  });
  check_same_gradients(s, [&](const Tensor& x) {
    const Tensor twice = x * 2;
    v.assign(twice), w.assign(twice);
    return reduce_sum(v * v + w * 10 + twice * 100);
  });
  check_same_gradients(s, [&](const Tensor& x) {
    const Tensor old = v.read_value();
    v.assign(w), w.assign(old);
    return reduce_sum(v * v * 10 + w * w * x + old);
  });
  check_same_gradients(s, [&](const Tensor& x) {
    const auto more = function([&](const Tensor& t) {
      v.assign_add(t);
      return v * t;
    });
    return reduce_sum(more(x) * more(x * 2));
  });
}

TEST_CASE("variable gradients: a call that returns what it reads") {
  const State s;
  const Tensor x = constant({0.75f, 1.25f});
  const auto f = [&] { return s.v.read_value(); };
  const auto g = [&](const auto& call) {
    s.v.assign(x);
    return s.run([&](const Tensor& t) { return reduce_sum(call() * 10 + s.v * t); }, x);
  };
  check_close(g(function(f)), g(f));
}

// Also where nobody uses it: the call keeps it for its gradient.
TEST_CASE("variable gradients: a read after a call whose branch returns the same value") {
  const State s;
  const auto f = [&](const Tensor& x) {
    const auto adds = [&](const Tensor& i) { return s.v.assign_add(x), i + 1; };
    return cond(
        reduce_sum(x) > 0.f,
        [&] {
          while_loop([](const Tensor& i) { return i < 2; }, adds, constant(0));
          return s.v.read_value();
        },
        [&] { return x; });
  };
  const Tensor x = constant({0.75f, 1.25f});
  const auto g = [&](const auto& call) {
    s.reset();
    return s.run([&](const Tensor& t) { return call(t), s.v * t; }, x);
  };
  check_close(g(function(f)), g(f));
}

TEST_CASE("variable gradients: branches that assign") {
  const State s;
  const Variable &v = s.v, &w = s.w;
  const auto f = [&](const Tensor& x) {
    const Tensor before = v * x;
    const Tensor y = cond(
        reduce_sum(x) > 0.f,
        [&] {
          const Tensor old = v * 3;
          v.assign(old * x);
          return old + v * v * w;
        },
        [&] {
          w.assign_sub(x);
          return w * w * v;
        });
    return reduce_sum(before + y + v * 7 + w);
  };
  for (const float sign : {1.f, -1.f}) check_same_gradients(s, f, constant({0.75f, 1.25f}) * sign);
}

TEST_CASE("variable gradients: loops that assign") {
  const State s;
  const Variable &v = s.v, &w = s.w;
  const auto loop = [&](const auto& body) {
    return [&, body](const Tensor& x) {
      const auto [i, y] = while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                                     [&](const Tensor& i, const Tensor& y) { return std::tuple(i + 1, body(x, y)); },
                                     std::tuple(constant(0), x));
      return reduce_sum(y * v);
    };
  };
  check_same_gradients(s, loop([&](const Tensor& x, const Tensor& y) {
                         const Tensor z = y * v;
                         v.assign(v * 0.5f + x);
                         return z + v * w;
                       }));
  check_same_gradients(s, loop([&](const Tensor&, const Tensor& y) {
                         v.assign_add(w);
                         w.assign_sub(y * 0.1f);
                         return sin(y) * v;
                       }));
  check_same_gradients(s, loop([&](const Tensor& x, const Tensor& y) {
                         return cond(
                             reduce_sum(v) > 2.f,
                             [&] {
                               v.assign(v - 1.f);
                               return y * v;
                             },
                             [&] {
                               v.assign(v + x);
                               return y + v * w;
                             });
                       }));
  check_same_gradients(s, loop([&](const Tensor& x, const Tensor& y) {  // a loop in a loop
                         return foldl(
                             [&](const Tensor& state, const Tensor& row) {
                               v.assign_add(row * x);
                               return state * 0.5f + v;
                             },
                             reshape(x, {2, 1}), y);
                       }));
}

TEST_CASE("variable gradients: a loop that ends by a Variable that it assigns") {
  const State s;
  check_same_gradients(s, [&](const Tensor& x) {
    return reduce_sum(while_loop([&](const Tensor&) { return reduce_sum(s.v) < 5.f; },
                                 [&](const Tensor& y) {
                                   s.v.assign_add(x * x);
                                   return y * s.v;
                                 },
                                 x));
  });
}

TEST_CASE("variable gradients: rows of a table that a loop moves stay what eager code sees") {
  const Variable table(reshape(range(8.f), {4, 2}));
  const auto f = [&](const Tensor& ids) {
    return reduce_sum(foldl(
        [&](const Tensor& sum, const Tensor& id) {
          const Tensor row = gather(table, id);
          table.assign(table * 0.5f);
          return sum + row * row;
        },
        ids, zeros({2})));
  };
  const Tensor ids = constant({1, 3, 1});
  const auto gradient = [&](const auto& call) {
    table.reset();
    GradientTape tape;
    return tape.gradient(call(ids), table);
  };
  check_close(floats(gradient(function(f))), floats(gradient(f)));
}

TEST_CASE("variable gradients: of second order, through branches and loops that assign") {
  const State s;
  const auto second = [&](const Tensor& x) {
    GradientTape outer;
    GradientTape inner;
    const Tensor y = std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 2; },
                                            [&](const Tensor& i, const Tensor& t) {
                                              const Tensor z = t * s.v * s.v;
                                              s.v.assign_add(x);
                                              return std::tuple(i + 1, z + s.v);
                                            },
                                            std::tuple(constant(0), x)));
    const Tensor first = inner.gradient(reduce_sum(y), s.v);
    return List{y, first, outer.gradient(reduce_sum(first * first), s.v)};
  };
  const Tensor x = constant({0.75f, 1.25f});
  const List eager = second(x);
  s.reset();
  check_close(function(second)(x), eager);
}

TEST_CASE("function: keeps the Variables that it uses") {
  auto v = std::make_unique<Variable>(constant(1.f));
  const auto f = function([&](const Tensor& x) {
    v->assign_add(x);
    return x * *v;
  });
  const Tensor x = constant(2.f);
  CHECK(f(x).item<float>() == 6);
  v.reset();  // the last handle but those of the trace
  CHECK(f(x).item<float>() == 10);
  GradientTape tape;
  tape.watch(x);
  CHECK(tape.gradient(f(x), x).item<float>() == 7);
  CHECK(f.trace_count() == 1);
}
