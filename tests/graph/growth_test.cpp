// How the work of traces and passes grows with the graph: counted in steps and elements, not in time.
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::count, testing::evaluate, testing::List, testing::same_bits, testing::traced, testing::wave;

namespace {

struct Work {
  std::size_t nodes = 0;
  std::uint64_t steps = 0;  // of the passes
  i64 elements = 0;         // that one call of the optimized graph computes
};
Work work_of(const Ref<Graph>& g) {
  const std::uint64_t before = detail::pass_steps;
  const Ref<Graph> r = optimize(*g);
  Work w{g->nodes.size(), detail::pass_steps - before, 0};
  for (const Node& n : r->nodes)
    for (int k = 0; k < n.outputs; ++k)
      if (!n.op->flags.alias) w.elements += r->spec(n.first_out + k).shape.size();
  return w;
}
// make(n) gives a graph of a pattern n times. What is linear grows eightfold from 200 to 1600, what is quadratic
// 64-fold.
template <class F>
void check_linear(const char* name, const F& make) {
  INFO(name);
  const Work small = work_of(make(200)), large = work_of(make(1600));
  CHECK(large.nodes <= 10 * small.nodes);
  CHECK(large.steps <= 14 * small.steps);
  CHECK(large.elements <= 10 * small.elements);
}
std::vector<Variable> weights(i64 n) {
  std::vector<Variable> r;
  for (i64 i = 0; i < n; ++i) r.emplace_back(ones({3}));
  return r;
}
Ref<Graph> step_of(const Optimizer& optimizer, i64 n) {
  const std::vector<Variable> w = weights(n);
  optimizer.build(w);
  return traced({{{3}, float32, {}}}, [&](const List& a) {
    optimizer.apply_gradients(std::vector<Gradient>(w.size(), Gradient(a[0])), w);
    return List{};
  });
}
Tensor sum_of(const List& parts) {
  Tensor sum;
  for (const Tensor& t : parts) sum = sum.is_set() ? sum + t : t;
  return sum;
}

}  // namespace

TEST_CASE("growth: slices of one tensor") {
  check_linear("x(Ellipsis, i)", [](i64 n) {
    return traced({{{2, n}, float32, {}}}, [&](const List& a) {
      List r;
      for (i64 i = 0; i < n; ++i) r.push_back(a[0](Ellipsis, i));
      return List{sum_of(r)};
    });
  });
  check_linear("x[i]", [](i64 n) {
    return traced({{{n, 2}, float32, {}}}, [&](const List& a) {
      List r;
      for (i64 i = 0; i < n; ++i) r.push_back(a[0][i]);
      return List{sum_of(r)};
    });
  });
}

TEST_CASE("growth: gradients of slices") {
  const auto gradient_of = [](const auto& part) {
    return [&part](i64 n) {
      return traced({{{n, 2}, float32, {}}}, [&](const List& a) {
        GradientTape tape;
        tape.watch(a[0]);
        List r;
        for (i64 i = 0; i < n; ++i) r.push_back(part(a[0], i));
        return List{tape.gradient(sum_of(r), a[0])};
      });
    };
  };
  check_linear("all rows", gradient_of([](const Tensor& x, i64 i) { return reduce_sum(x[i] * x[i]); }));
  check_linear("every other row", gradient_of([](const Tensor& x, i64 i) { return reduce_sum(exp(x[i / 2 * 2])); }));
  check_linear("overlapping ranges",
               gradient_of([](const Tensor& x, i64 i) { return reduce_sum(exp(x(Slice(i ? i - 1 : 0, i + 1)))); }));
  check_linear("rows and the whole", gradient_of([](const Tensor& x, i64 i) {
                 return reduce_sum(exp(x[i])) + (i ? constant(0.f) : reduce_sum(exp(x)));
               }));
}

TEST_CASE("growth: Variables") {
  check_linear("Adam", [](i64 n) { return step_of(optimizers::Adam(), n); });
  check_linear("SGD", [](i64 n) { return step_of(optimizers::SGD(), n); });
  check_linear("assignments between asserts", [](i64 n) {
    const std::vector<Variable> w = weights(n);
    return traced({{{3}, float32, {}}}, [&](const List& a) {
      for (const Variable& v : w) {
        v.assign_add(a[0]);
        debugging::assert_positive(v);
      }
      return List{};
    });
  });
  check_linear("one Variable", [](i64 n) {
    const Variable v(zeros({3}));
    return traced({{{3}, float32, {}}}, [&](const List& a) {
      for (i64 i = 0; i < n; ++i) v.assign_add(a[0]);
      return List{};
    });
  });
  check_linear("random draws", [](i64 n) {
    return traced({}, [&](const List&) {
      List r;
      for (i64 i = 0; i < n; ++i) r.push_back(random::normal({2}));
      return List{sum_of(r)};
    });
  });
}

TEST_CASE("growth: products by many matrices, each used three times") {
  check_linear("steps of layers", [](i64 n) {
    const std::vector<Spec> specs(static_cast<std::size_t>(n), Spec{{4, 4}, float32, {}});
    return traced(specs, [&](const List& w) {
      Tensor sum = zeros({4, 4});
      for (int step = 0; step < 3; ++step)
        for (const Tensor& m : w) sum = sum + exp(matmul(zeros({4, 4}) + static_cast<float>(step), m));
      return List{sum};
    });
  });
}

TEST_CASE("growth: shapes that ops ask for") {
  check_linear("n shapes", [](i64 n) {
    std::vector<Spec> specs;
    for (i64 i = 0; i < n; ++i) specs.push_back({{0, i + 1}, float32, {}});
    return traced(specs, [&](const List& x) {
      List r;
      for (const Tensor& t : x) r.push_back(reduce_sum(zeros_like(exp(t)) + 1.f));
      return List{sum_of(r)};
    });
  });
}

TEST_CASE("eliminate_common_subexpressions: attributes that print alike are told apart") {
  const Ref<Graph> g = traced({{{40}, float32, {}}}, [](const List& a) {
    List r;
    for (i64 i = 0; i < 40; ++i) r.push_back(a[0][i]);
    r.push_back(a[0][7]);
    return r;
  });
  const Ref<Graph> r = eliminate_common_subexpressions(*g);
  CHECK(count(*r, index_op) == 40);
  const Tensor x = wave({40});
  const List want = evaluate(*g, {x}), got = evaluate(*r, {x});
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(same_bits(want[i], got[i]));
}
