// Plans: which values are computed in the buffer of the Variable that they are assigned to, and which must not be, for
// the buffer is another one by then or is still read. And how much work a plan takes.
#include <algorithm>
#include <functional>

#include "tandem/graph/exec/plan.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"

using namespace tandem;
using testing::List, testing::traced;
using Floats = std::vector<float>;

namespace {

// Two Variables that own their buffers alone, so that a plan may write into them.
struct State {
  Variable x{constant({1.f, 2.f})}, y{constant({3.f, 4.f})};
  State() {
    for (const Variable& v : {x, y}) v.assign_add(zeros({2}));
  }
};
// Results and Variables of two calls: those of eager code; and how many values the plan computes in a Variable.
template <class F>
int overwrites(const F& f, const ExecutionOptions& execution = {}) {
  const Tensor t = constant({10.f, 20.f});
  const State eager, state;
  const auto g = function([&](const Tensor& in) { return f(state, in); }, {.execution = execution});
  for (int call = 0; call < 3; ++call) {
    const List want = f(eager, t), got = g(t);
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i) CHECK(got[i].to_vector<float>() == want[i].to_vector<float>());
    CHECK(state.x.to_vector<float>() == eager.x.to_vector<float>());
    CHECK(state.y.to_vector<float>() == eager.y.to_vector<float>());
  }
  const Plan plan = make_plan(g.get_concrete_function(t)->optimized());
  const auto is_set = [](VariableIndex v) { return v.is_set(); };
  return static_cast<int>(std::count_if(plan.overwrites.begin(), plan.overwrites.end(), is_set));
}
constexpr ExecutionOptions unfused{.passes = {.fuse = false, .fuse_reductions = false}};

}  // namespace

TEST_CASE("plan: an update is computed in the Variable's buffer") {
  CHECK(overwrites([](const State& s, const Tensor& t) {
          s.x.assign_add(t);
          return List{};
        }) == 1);
  CHECK(overwrites([](const State& s, const Tensor& t) {
          const Tensor next = s.x * 0.5f + t;
          s.x.assign(next);
          return List{next * 2};
        }) == 1);
  // One fused op makes both, each in its own buffer.
  CHECK(overwrites([](const State& s, const Tensor& t) {
          const Tensor v = s.y * 0.5f + t, w = s.x - v * 0.25f;
          s.y.assign(v), s.x.assign(w);
          return List{};
        }) == 2);
  // A read after the assignment is of the new value.
  CHECK(overwrites([](const State& s, const Tensor& t) {
          s.x.assign_add(t);
          return List{s.x * 2};
        }) == 1);
}

TEST_CASE("plan: a value is not computed in a buffer that an earlier assignment has replaced") {
  for (const ExecutionOptions& execution : {ExecutionOptions{}, unfused}) {
    CHECK(overwrites(
              [](const State& s, const Tensor& t) {
                const Tensor v = s.x.read_value(), a = v * t, b = v + t;
                s.x.assign(a), s.x.assign(b);
                return List{a, b};
              },
              execution) == 0);
    CHECK(overwrites(
              [](const State& s, const Tensor& t) {
                const Tensor v = s.x.read_value(), a = v * t, b = v + t;
                s.x.assign(a), s.x.assign(b);
                return List{};
              },
              execution) == 0);
    CHECK(overwrites(
              [](const State& s, const Tensor& t) {
                const Tensor next = s.x + t;
                s.x.assign(t), s.x.assign(next);
                return List{next};
              },
              execution) == 0);
    CHECK(overwrites(
              [](const State& s, const Tensor& t) {
                const Tensor next = s.x + t;
                s.x.assign(s.y), s.x.assign(next);
                return List{};
              },
              execution) == 0);
    // With another Variable's assignment between, and with an op between, whose own value may lie there.
    overwrites(
        [](const State& s, const Tensor& t) {
          const Tensor a = s.x + t, b = s.y * t, c = s.x - t;
          s.x.assign(a), s.y.assign(b), s.x.assign(c);
          return List{a};
        },
        execution);
    overwrites(
        [](const State& s, const Tensor& t) {
          const Tensor v = s.x.read_value();
          s.x.assign(t * 2);
          const Tensor next = v - t;
          s.x.assign(next);
          return List{next + s.x};
        },
        execution);
  }
}

TEST_CASE("plan: a value is not computed in a buffer that is still read, or that two Variables would have") {
  CHECK(overwrites([](const State& s, const Tensor& t) {
          const Tensor old = s.x.read_value();
          s.x.assign(old + t);
          return List{old};
        }) == 0);
  CHECK(overwrites(
            [](const State& s, const Tensor& t) {
              const Tensor next = s.x + t;
              s.x.assign(next), s.y.assign(next);
              return List{};
            },
            unfused) == 0);
  CHECK(overwrites([](const State& s, const Tensor& t) {
          const Tensor old = s.x.read_value();
          s.x.assign(s.y), s.y.assign(old);
          return List{t};
        }) == 0);
}

namespace {

// The work of planning a graph, for a size and for the double of it.
template <class F>
double growth(const F& trace) {
  const auto work = [&](int n) { return static_cast<double>(make_plan(*trace(n)).work); };
  return work(800) / work(400);
}
Ref<Graph> of_variables(int n, const std::function<List(const std::vector<Variable>&, const Tensor&)>& f) {
  std::vector<Variable> v;
  for (int i = 0; i < n; ++i) v.emplace_back(ones({2}));
  return traced({{{2}, float32, {}}}, [&](const List& in) { return f(v, in[0]); });
}

}  // namespace

TEST_CASE("plan: its work grows with the graph, not with its square") {
  const auto updates = [](int n) {
    return of_variables(n, [](const std::vector<Variable>& v, const Tensor& t) {
      for (const Variable& x : v) x.assign_add(t);
      return List{};
    });
  };
  const auto one_variable = [](int n) {
    return of_variables(1, [n](const std::vector<Variable>& v, const Tensor& t) {
      for (int i = 0; i < n; ++i) v[0].assign_add(t);
      return List{};
    });
  };
  const auto chain_of_assignments = [](int n) {
    return of_variables(n, [](const std::vector<Variable>& v, const Tensor& t) {
      List next;
      for (const Variable& x : v) next.push_back(sin(x * t));
      for (std::size_t i = 0; i < v.size(); ++i) v[i].assign(next[i]);
      return List{};
    });
  };
  const auto one_op_for_all = [](int n) {  // as combine_updates makes
    auto g = of_variables(n, [](const std::vector<Variable>& v, const Tensor& t) {
      const optimizers::Adam adam;
      adam.build(v);
      adam.apply_gradients(std::vector<Gradient>(v.size(), Gradient(t)), v);
      return List{};
    });
    return optimize(*g, {});
  };
  const auto holes = [](int n) {  // blocks of many sizes die in the order in which they were made
    return of_variables(0, [n](const std::vector<Variable>&, const Tensor& t) {
      List made;
      for (int i = 0; i < n; ++i) made.push_back(sin(tile(t, {(i % 37 + 1) * 16})));
      Tensor sum = t;
      for (const Tensor& x : made) sum = sum + reduce_sum(x);
      return List{sum};
    });
  };
  CHECK(growth(updates) < 2.2);
  CHECK(growth(one_variable) < 2.2);
  CHECK(growth(chain_of_assignments) < 2.2);
  CHECK(growth(one_op_for_all) < 2.2);
  CHECK(growth(holes) < 2.2);
}
