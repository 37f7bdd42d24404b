// Plans: operands of a concat along the leading axis are computed in its buffer. What else a plan decides is seen by
// the tests of functions (function_test, updates_test).
#include "tandem/graph/exec/plan.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::evaluate, testing::List, testing::same_bits, testing::traced, testing::wave;

namespace {

// How many inputs of the graph's concats and stacks lie where they belong; the planned results are those without a
// plan.
template <class F>
int in_place(const Shape& shape, const F& f) {
  const List in{wave(shape), wave(shape, 1)};
  const Ref<Graph> g = traced({in[0].spec(), in[1].spec()}, f);
  const List want = evaluate(*g, in);
  const auto program = Program::make(g->copy(), true);
  for (int call = 0; call < 2; ++call) {
    const Tensors got = program->run(std::vector<const Tensor*>{&in[0], &in[1]});
    REQUIRE(got.size() == want.size());
    for (unsigned i = 0; i < got.size(); ++i) {
      CHECK(same_bits(got[i], want[i]));
    }
  }
  const Plan plan = make_plan(*g);
  int found = 0;
  for (const Node& n : g->nodes) {
    if (n.op != &concat_op && n.op != &stack_op) continue;
    std::size_t offset = 0;
    const ValueId whole = n.first_out;
    for (const ValueId x : n.in) {
      found += plan.base[x] == plan.base[whole] && plan.offset[x] == plan.offset[whole] + offset;
      offset += g->spec(x).bytes();
    }
  }
  return found;
}
constexpr i64 rows = 4, columns = 16;  // rows of 64 bytes
const Shape matrix{rows, columns};

}  // namespace

TEST_CASE("plan: operands of a concat lie in its buffer") {
  CHECK(in_place(matrix, [](const List& a) { return List{stack({exp(a[0]), tanh(a[1])}) * 2}; }) == 2);
  CHECK(in_place(matrix, [](const List& a) { return List{concat({exp(a[0]), tanh(a[1])}, 0) * 2}; }) == 2);
  // Also where they are used, seen as views and worked on in place before and after.
  CHECK(in_place(matrix, [](const List& a) {
          const Tensor x = exp(a[0]), y = tanh(x * x) + 1, z = matmul(y, x, {.transpose_b = true});
          const Tensor all = concat({x, y}, 0) * 2;
          return List{sqrt(all) + reduce_sum(x[1]) - reduce_sum(sin(y) * 3), z * 2};
        }) == 2);
  // The whole as a piece of another.
  CHECK(in_place(matrix, [](const List& a) {
          const Tensor some = concat({exp(a[0]), tanh(a[1])}, 0), more = concat({sin(a[0]), some, cos(a[1])}, 0);
          return List{more * 2, some + 1};
        }) == 5);
}

TEST_CASE("plan: operands that have a buffer already, or two, are copied") {
  // Arguments and constants.
  CHECK(in_place(matrix, [](const List& a) { return List{stack({exp(a[0]), a[1], ones(matrix)}) * 2}; }) == 1);
  // A view, and one value twice.
  CHECK(in_place(matrix, [](const List& a) {
          const Tensor x = exp(a[0]);
          return List{concat({x, x, expand_dims(x[2], 0)}, 0) * 2};
        }) == 1);
  // Two wholes: the first has it.
  CHECK(in_place(matrix, [](const List& a) {
          const Tensor x = exp(a[0]), y = sin(a[1]);
          return List{stack({x, y}) * 2, stack({y, x}) * 3};
        }) == 2);
  // What outlives the call.
  CHECK(in_place(matrix, [](const List& a) { return List{stack({exp(a[0]), tanh(a[1])})}; }) == 0);
  CHECK(in_place(matrix, [](const List& a) {
          const Tensor x = exp(a[0]);
          return List{stack({x, tanh(a[1])}) * 2, x};
        }) == 1);
  // Other axes; indices that vectors of 64 bytes do not like.
  CHECK(in_place(matrix, [](const List& a) { return List{concat({exp(a[0]), tanh(a[1])}, 1) * 2}; }) == 0);
  CHECK(in_place({3, 5}, [](const List& a) { return List{concat({exp(a[0]), tanh(a[1])}, 0) * 2}; }) == 1);
}

TEST_CASE("plan: a concat is printed with the lifetimes of its operands") {
  const Spec spec{matrix, float32, {}};
  const Ref<Graph> g = traced({spec}, [](const List& a) {
    const Tensor x = exp(a[0]), y = tanh(x);
    return List{stack({x, y}) * 2};
  });
  CHECK_THAT(to_string(make_plan(*g), *g), ContainsSubstring("float32[2,4,16] @0 (nodes 1 to "));
}
