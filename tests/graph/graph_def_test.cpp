// as_graph_def: what a trace consists of, as data and as text.
#include "tandem/graph/debug/graph_def.hpp"

#include <algorithm>
#include <set>

#include "tandem/graph/control/control.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
i64 count(const GraphDef& def, const std::string& op) {
  return std::count_if(def.nodes.begin(), def.nodes.end(), [&](const GraphDef::Node& n) { return n.op == op; });
}
}  // namespace

TEST_CASE("as_graph_def lists the ops of a trace in an order in which they can run") {
  const Variable w(ones({3, 4}), {.name = "w"});
  const auto f = function([&](Tensor x) {
    x = matmul(x, w, {.name = "product", .transpose_a = true});
    for (int i = 0; i < 5; ++i) x = nn::relu(x);
    const Tensor unused = exp(x);
    return x;
  });
  const Ref<ConcreteFunction> g = f.get_concrete_function(ones({3, 2}));
  const GraphDef def = as_graph_def(g->graph());
  CHECK(count(def, "relu") == 5);
  CHECK(count(def, "exp") == 1);
  CHECK(count(as_graph_def(g->optimized()), "exp") == 0);
  std::set<std::string> made;
  for (const GraphDef::Node& n : def.nodes) {
    CAPTURE(n.name);
    for (const std::string& in : n.inputs) CHECK(made.count(in) == 1);
    for (std::size_t k = 0; k < n.outputs.size(); ++k) CHECK(made.insert(n.name + ":" + std::to_string(k)).second);
  }
  for (const std::string& v : def.outputs) CHECK(made.count(v) == 1);
  REQUIRE(def.arguments.size() == 1);
  CHECK(made.count(def.arguments[0]) == 1);
  const auto product =
      std::find_if(def.nodes.begin(), def.nodes.end(), [](const GraphDef::Node& n) { return n.name == "product"; });
  REQUIRE(product != def.nodes.end());
  CHECK(product->op == "matmul");
  CHECK(product->inputs == std::vector<std::string>{def.arguments[0], "w:0"});
  REQUIRE(product->outputs.size() == 1);
  CHECK(product->outputs[0].shape == Shape{2, 4});
  CHECK_THAT(product->where, ContainsSubstring("graph_def_test.cpp:"));
  CHECK_THAT(to_string(def), ContainsSubstring("op: \"matmul\"") && ContainsSubstring("output: \"float32[2,4]\""));
}
TEST_CASE("as_graph_def lists the bodies of control flow, and open sizes") {
  const auto f = function(
      [](const Tensor& x) {
        return cond(
            reduce_sum(x) > 0, [&] { return exp(x); }, [&] { return sin(x); });
      },
      {.input_signature = {TensorSpec({none})}});
  const GraphDef def = as_graph_def(f.get_concrete_function(ones({2}))->graph());
  const auto choice =
      std::find_if(def.nodes.begin(), def.nodes.end(), [](const GraphDef::Node& n) { return !n.bodies.empty(); });
  REQUIRE(choice != def.nodes.end());
  REQUIRE(choice->bodies.size() == 2);
  CHECK(count(choice->bodies[0], "exp") + count(choice->bodies[1], "exp") == 1);
  CHECK(choice->outputs[0].shape[0] == none);
  CHECK_THAT(to_string(def), ContainsSubstring("body {"));
}
