// Graph: what verify refuses, how graphs print.
#include "tandem/graph/ir/graph.hpp"

#include "tandem/graph/trace/trace.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/call_graph.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

// relu(x w + 1), and v += 1.
Ref<Graph> traced(const Variable& v) {
  Tracer t("layer");
  const Tensor x = t.argument({{none, 2}, float32, {}}, "x");
  const Tensor w = constant({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}}, {.name = "w"});
  const Tensor y = nn::relu(matmul(x, w) + 1);
  v.assign(v + 1);
  const Tensor outputs[] = {y};
  return t.finish(outputs);
}
Ref<Graph> broken(void (*change)(Graph&)) {
  Ref<Graph> g = traced(Variable(constant(1.f), {.name = "v"}));
  verify(*g);
  change(*g);
  return g;
}
std::string complaint(void (*change)(Graph&)) {
  try {
    verify(*broken(change));
  } catch (const errors::InternalError& e) {
    return e.what();
  }
  return "none";
}
Node& named(Graph& g, const std::string& name) {
  for (Node& n : g.nodes)
    if (n.name == name) return n;
  throw std::runtime_error("no node " + name);
}

}  // namespace

TEST_CASE("graph: what is traced is verified and runs") {
  const Variable v(constant(1.f), {.name = "v"});
  const Ref<Graph> g = traced(v);
  verify(*g);
  CHECK(v.item<float>() == 1);
  const auto out = testing::call(g, {constant({{1.f, -1.f}})});
  CHECK(out[0].to_vector<float>() == std::vector<float>{0, 0, 0});
  CHECK(v.item<float>() == 2);
}

TEST_CASE("graph: verify names what is wrong with a node") {
  CHECK_THAT(complaint([](Graph& g) { named(g, "MatMul").in[1] = ValueId(100); }),
             ContainsSubstring("'layer', node MatMul") && ContainsSubstring("uses %100 before it is made"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "MatMul").in[1] = ValueId(-1); }), ContainsSubstring("uses %-1"));
  CHECK_THAT(complaint([](Graph& g) { std::swap(named(g, "MatMul"), named(g, "Relu")); }),
             ContainsSubstring("before it is made"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "MatMul").in = InlinedVector<ValueId, 3>(ValueId(0)); }),
             ContainsSubstring("takes 2 inputs"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "MatMul").in.push_back(ValueId(0)); }),
             ContainsSubstring("takes 2 inputs"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "MatMul").attrs = no_attrs; }), ContainsSubstring("attributes"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "MatMul").attrs = rules::PositionAttrs{1}; }),
             ContainsSubstring("attributes"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "Relu").op = &matmul_op; }), ContainsSubstring("attributes"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "Relu").first_out = named(g, "MatMul").first_out; }),
             ContainsSubstring("a second time"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "Relu").first_out = ValueId(1000); }),
             ContainsSubstring("does not have"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "Relu").outputs = 2; }), ContainsSubstring("node Relu"));
}

TEST_CASE("graph: verify compares specs with the rules") {
  CHECK_THAT(complaint([](Graph& g) { g.specs[g.outputs[0]].dtype = float64; }),
             ContainsSubstring("is float32[None,3], not float64[None,3]"));
  CHECK_THAT(complaint([](Graph& g) {
               g.specs[g.outputs[0]].shape = {2, 2};
             }),
             ContainsSubstring("is float32[None,3], not float32[2,2]"));
  CHECK_THAT(complaint([](Graph& g) {
               g.specs[named(g, "w").first_out].shape = {2, 4};
             }),
             ContainsSubstring("node w: is float32[2,3], not float32[2,4]"));
  CHECK_THAT(complaint([](Graph& g) {
               g.specs[ValueId(0)].shape = {5, 7};
             }),
             ContainsSubstring("node MatMul") && ContainsSubstring("inner dimensions"));
  CHECK(complaint([](Graph& g) { g.specs[g.outputs[0]].shape = {5, 3}; }) == "none");
}

TEST_CASE("graph: verify checks leaves") {
  CHECK_THAT(complaint([](Graph& g) { g.outputs[0] = ValueId(99); }), ContainsSubstring("%99, which no node makes"));
  CHECK_THAT(complaint([](Graph& g) { g.arguments.push_back(ValueId(99)); }),
             ContainsSubstring("%99, which no node makes"));
  CHECK_THAT(complaint([](Graph& g) { g.arguments.clear(); }), ContainsSubstring("is not argument 0"));
  CHECK_THAT(complaint([](Graph& g) { g.variables.clear(); }),
             ContainsSubstring("Variable that the graph does not have"));
  CHECK_THAT(complaint([](Graph& g) { g.variables[0] = Variable(ones({2})); }), ContainsSubstring("is float32[2]"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "x").attrs = rules::PositionAttrs{-1}; }),
             ContainsSubstring("is not argument"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "x").attrs = rules::PositionAttrs{i64{1} << 32}; }),
             ContainsSubstring("is not argument 4294967296"));
  CHECK_THAT(complaint([](Graph& g) { named(g, "v").attrs = rules::PositionAttrs{i64{1} << 32}; }),
             ContainsSubstring("Variable that the graph does not have"));
}

TEST_CASE("graph: prints one line an op") {
  const Ref<Graph> g = traced(Variable(constant(1.f), {.name = "v"}));
  CHECK(to_string(*g) == R"(layer(%0) {
  %0 = argument() index=0 : float32[None,2]  # x
  %1 = constant() value=tensor : float32[2,3]  # w
  %2 = matmul(%0, %1) transpose_a=0 transpose_b=0 conjugate_a=0 conjugate_b=0 : float32[None,3]  # MatMul
  %3 = constant() 1.0 : float32[]  # Const
  %4 = add(%2, %3) : float32[None,3]  # Add
  %5 = relu(%4) : float32[None,3]  # Relu
  %6 = read_variable() 'v' : float32[]  # v
  %7 = constant() 1.0 : float32[]  # Const_1
  %8 = add(%6, %7) : float32[]  # Add_1
  assign_variable(%8) 'v'  # assign/v
  return %5
}
)");
}

TEST_CASE("graph: dot has a box an op and an arrow an input, quotes escaped") {
  Ref<Graph> g = traced(Variable(constant(1.f), {.name = "v"}));
  g->name = "a \"quoted\" \\ name";
  const std::string dot = to_dot(*g);
  CHECK_THAT(dot, ContainsSubstring("digraph \"a \\\"quoted\\\" \\\\ name\" {"));
  CHECK_THAT(dot, ContainsSubstring("n2 [label=\"MatMul\"];"));
  CHECK_THAT(dot, ContainsSubstring("n0 -> n2 [label=\"float32[None,2]\"];"));
  CHECK_THAT(dot, ContainsSubstring("n5 -> output [label=\"float32[None,3]\"];"));
}
