// Branches of a plan that run at the same time: which nodes they have, that they share no memory, equal bits and
// errors.
#include <array>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/exec/plan.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/util/inter_op.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/threads.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::List, testing::same_bits, testing::wave, testing::error_of;

namespace {

class InterOp {
 public:
  explicit InterOp(int n) : before_(config::inter_op_parallelism_threads()) {
    config::set_inter_op_parallelism_threads(n);
  }
  InterOp(const InterOp&) = delete;
  ~InterOp() { config::set_inter_op_parallelism_threads(before_); }

 private:
  int before_;
};

Tensor tower(Tensor x, const Tensor& w, int layers) {
  for (int i = 0; i < layers; ++i) x = tanh(matmul(x, w));
  return x;
}
// Towers over one input that meet in a sum.
Tensor towers(const List& a) {
  List tops;
  for (std::size_t i = 1; i < a.size(); ++i) tops.push_back(tower(tanh(a[0]), a[i], 4));
  return add_n(tops);
}
List inputs(std::size_t count) {
  List r;
  for (std::size_t i = 0; i < count; ++i) r.push_back(wave({64, 64}, static_cast<float>(i)) * 0.2f);
  return r;
}
std::vector<Spec> specs_of(const List& x) {
  std::vector<Spec> r;
  for (const Tensor& t : x) r.push_back(t.spec());
  return r;
}
List run(const Graph& g, const List& arguments) {
  std::vector<const Tensor*> in;
  for (const Tensor& t : arguments) in.push_back(&t);
  const Tensors out = Program::make(g.copy())->run(in);
  return {out.begin(), out.end()};
}

struct Stretch {
  std::size_t begin, end;
  int branch;
  bool written;
};
// What the nodes of a region read and write in the arena.
std::vector<Stretch> stretches(const Graph& g, const Plan& p, const Branches::Region& r) {
  std::vector<Stretch> all;
  for (const NodeId i : IdRange(r.first, r.end)) {
    const int branch = p.branches.of_node[i];
    if (branch < 0) continue;
    const Node& n = g.nodes[i];
    const auto add = [&](ValueId v, bool written) {
      const ValueId base = p.base[v];
      if (p.kind[base] != Plan::arena || n.op->flags.alias) return;
      const std::size_t begin = p.arena_offset[base] + p.offset[v];
      all.push_back({begin, begin + g.spec(v).bytes(), branch, written});
    };
    for (const ValueId v : n.in) add(v, false);
    for (int k = 0; k < n.outputs; ++k) add(n.first_out + k, true);
    if (p.workspace_bytes[i])
      all.push_back({p.workspace_offset[i], p.workspace_offset[i] + p.workspace_bytes[i], branch, true});
  }
  return all;
}
// Checks that no branch writes what another one reads or writes, and uses nothing that another one computes.
void check_apart(const Graph& g) {
  const Plan p = make_plan(g);
  const ById<ValueId, NodeId> producers = g.producers();
  for (const Branches::Region& r : p.branches.regions) {
    const std::vector<Stretch> all = stretches(g, p, r);
    int shared = 0, foreign = 0;
    for (const Stretch& a : all)
      for (const Stretch& b : all)
        shared += a.branch != b.branch && (a.written || b.written) && a.begin < b.end && b.begin < a.end;
    for (const NodeId i : IdRange(r.first, r.end))
      for (const ValueId v : g.nodes[i].in) {
        const NodeId from = producers[v];
        foreign +=
            from >= r.first && p.branches.of_node[from] >= 0 && p.branches.of_node[i] != p.branches.of_node[from];
      }
    CHECK(shared == 0);
    CHECK(foreign == 0);
  }
}
// A program of products, sums and tanh, each on two earlier values.
List random_program(const List& x, unsigned seed) {
  List values = x;
  const auto next = [&](std::size_t n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
  };
  for (int i = 0; i < 40; ++i) {
    const Tensor &a = values[next(values.size())], &b = values[next(values.size())];
    switch (next(5)) {
      case 0:
      case 1: values.push_back(tanh(matmul(a, b))); break;
      case 2: values.push_back(a + b); break;
      case 3: values.push_back(nn::softmax(a)); break;
      default: values.push_back(concat({a(Slice(0, 32)), b(Slice(32, 64))}, 0));
    }
  }
  return {values.end() - 6, values.end()};
}

}  // namespace

TEST_CASE("branches: off unless asked for; the plan says which nodes they have") {
  const testing::Threads one(1);
  const List x = inputs(4);
  const auto g = testing::traced(specs_of(x), [](const List& a) { return List{towers(a)}; });
  CHECK(config::inter_op_parallelism_threads() == 1);
  CHECK(make_plan(*g).branches.regions.empty());
  const InterOp three(3);
  const Plan p = make_plan(*g);
  REQUIRE(p.branches.regions.size() == 1);
  CHECK(p.branches.regions[0].count == 3);
  CHECK_THAT(to_string(p, *g), ContainsSubstring(" in 3 branches"));
  std::array<int, 3> products{};
  for (const NodeId i : g->nodes.ids())
    if (g->nodes[i].op == &matmul_op) ++products[static_cast<std::size_t>(p.branches.of_node[i])];
  CHECK(products == std::array<int, 3>{4, 4, 4});
  check_apart(*g);
  const auto single = testing::traced(specs_of(x), [](const List& a) { return List{tower(a[0], a[1], 9)}; });
  CHECK(make_plan(*single).branches.regions.empty());
  const auto tiny = testing::traced(specs_of(x), [](const List& a) {
    return List{exp(a[0]), sin(a[1](Slice(0, 1)))};  // too little work
  });
  CHECK(make_plan(*tiny).branches.regions.empty());
}
TEST_CASE("branches: equal bits with any number of threads, forward and backward") {
  for (const int own : {1, 2, 4})
    for (const std::size_t towers_of : {2u, 3u, 5u}) {
      CAPTURE(own, towers_of);
      const testing::Threads threads(own);
      const List x = inputs(towers_of + 1);
      const auto step = [](const List& a) {
        GradientTape tape;
        for (const Tensor& t : a) tape.watch(t);
        const Tensor y = towers(a);
        List r = tape.gradient(y, a);
        r.push_back(y);
        return r;
      };
      const List want = function(step)(x);
      const InterOp inter(4);
      const auto f = function(step);
      for (int call = 0; call < 3; ++call) {
        const List got = f(x);
        for (std::size_t i = 0; i < want.size(); ++i) CHECK(same_bits(got[i], want[i]));
      }
      config::set_inter_op_parallelism_threads(1);  // the same plan, one after another
      const List got = f(x);
      for (std::size_t i = 0; i < want.size(); ++i) CHECK(same_bits(got[i], want[i]));
    }
}
TEST_CASE("branches: random programs share no memory and give equal bits") {
  const testing::Threads one(1);
  const List x = inputs(3);
  int regions = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const auto g = optimize(*testing::traced(specs_of(x), [&](const List& a) { return random_program(a, seed); }));
    const List want = run(*g, x);
    const InterOp inter(2 + static_cast<int>(seed % 3));
    check_apart(*g);
    regions += static_cast<int>(make_plan(*g).branches.regions.size());
    const List got = run(*g, x);
    for (std::size_t i = 0; i < want.size(); ++i) CHECK(same_bits(got[i], want[i]));
  }
  CHECK(regions > 30);
}
TEST_CASE("branches: Variables that a step assigns") {
  const testing::Threads one(1);
  const List x = inputs(1);
  const auto train = [&](int threads) {
    const InterOp inter(threads);
    const Variable a(wave({64, 64}, 3)), b(wave({64, 64}, 4));
    const auto step = function([&](const Tensor& t) {
      GradientTape tape;
      const Tensor loss = reduce_sum(square(tower(t, a, 3))) + reduce_sum(square(tower(t, b, 3)));
      const auto [da, db] = tape.gradient(loss, {a, b});
      a.assign_sub(da.dense() * 0.01f), b.assign_sub(db.dense() * 0.01f);
      return loss;
    });
    for (int i = 0; i < 5; ++i) step(x[0]);
    return List{step(x[0]), a.value(), b.value()};
  };
  const List want = train(1), got = train(2);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(same_bits(got[i], want[i]));
}
TEST_CASE("branches: the first error in order is raised, with the effects before it") {
  const testing::Threads one(1);
  const InterOp inter(3);
  const Variable before(0), behind(0);
  const auto f = function([&](const Tensor& x, const Tensor& w, const Tensor& i, const Tensor& j) {
    before.assign_add(1);
    const Tensor a = tower(gather(tower(x, w, 4), i, {.name = "first"}), w, 2);
    const Tensor b = tower(gather(x, j, {.name = "second"}), w, 4);
    const Tensor c = tower(tanh(x), w, 4);
    behind.assign_add(1);
    return reduce_sum(a) + reduce_sum(b) + reduce_sum(c);
  });
  const Tensor x = wave({64, 64}), rows = range(64);
  const auto concrete = f.get_concrete_function(x, x, rows, rows);
  REQUIRE_THAT(concrete->plan(), ContainsSubstring(" branches"));
  f(x, x, rows, rows);
  for (int i = 0; i < 20; ++i) {
    CHECK_THAT(error_of([&] { f(x, x, rows + 1, rows + 1); }), ContainsSubstring("'first") && ContainsSubstring("64"));
    CHECK_THAT(error_of([&] { f(x, x, rows, rows + 1); }), ContainsSubstring("'second"));
  }
  CHECK(before.value().item<int>() == 41);
  CHECK(behind.value().item<int>() == 1);
  f(x, x, rows, rows);
  CHECK(behind.value().item<int>() == 2);
}
TEST_CASE("branches: the number of threads is checked") {
  CHECK_THROWS_AS(config::set_inter_op_parallelism_threads(0), errors::InvalidArgumentError);
  CHECK_THROWS_AS(config::set_inter_op_parallelism_threads(65), errors::InvalidArgumentError);
  CHECK(config::inter_op_parallelism_threads() == 1);
}
