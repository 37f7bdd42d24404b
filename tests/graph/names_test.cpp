// Names in traces: scopes, repeats, what the user named; and the hash that ignores them.
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using Names = std::vector<std::string>;

namespace {

struct Single : Module {
  Variable make() const { return add_variable("c", constant(1.f)); }
};
template <class F>
Ref<Graph> trace(const F& body) {
  Tracer t("f");
  const Tensor outputs[] = {body(t)};
  return t.finish(outputs);
}
Names names_of(const Graph& g) {
  Names names;
  for (const Node& n : g.nodes) names.push_back(n.name);
  return names;
}

}  // namespace

TEST_CASE("names: constants and Variables, named or not, and repeats") {
  const Ref<Graph> g = trace([](Tracer&) {
    const Variable v(constant(1)), named(constant(1), {.name = "a"});
    const Tensor one = constant(1), a = constant(1, {.name = "a"}), again = constant({1, 2}, {.name = "a"});
    Tensor sum = v + one;
    sum = sum + named;
    sum = add(sum, a, {.name = "a"});
    return sum + again;
  });
  CHECK(names_of(*g) == Names{"a", "a_1", "Variable", "Const", "Add", "a_2", "Add_1", "a_3", "Add_2"});
}

TEST_CASE("names: one scope rule for ops, constants, Variables and layers") {
  const auto body = [] {
    const name_scope scope("scope");
    const Tensor a = constant(1.f, {.name = "a"});
    const Variable b(constant(1.f), {.name = "b"});
    const Variable c = Single().make();
    const Tensor sum = a + b;
    return nn::relu(sum + c);
  };
  const Ref<Graph> g = trace([&](Tracer&) {
    const Tensor first = body(), second = body();
    return first + second;
  });
  CHECK(names_of(*g) == Names{"scope/a", "scope/b", "scope/Add", "scope/c", "scope/Add_1", "scope/Relu", "scope_1/a",
                              "scope_1/b", "scope_1/Add", "scope_1/c", "scope_1/Add_1", "scope_1/Relu", "Add"});
}

TEST_CASE("names: scopes nest, and are unique by their whole path") {
  const Ref<Graph> g = trace([](Tracer& t) {
    const Tensor x = t.argument({{}, float32, {}}, "x");
    Tensor y = x;
    for (int i = 0; i < 2; ++i) {
      const name_scope outer("a");
      y = nn::relu(y);
      const name_scope inner("b");
      y = nn::relu(y);
    }
    const name_scope late("x");  // an op has that name
    return nn::relu(y);
  });
  CHECK(names_of(*g) == Names{"x", "a/Relu", "a/b/Relu", "a_1/Relu", "a_1/b/Relu", "x_1/Relu"});
}

TEST_CASE("names: outside of a trace a scope may come twice") {
  for (int i = 0; i < 2; ++i) {
    const name_scope scope("scope");
    CHECK(Variable(constant(1.f), {.name = "w"}).name() == "scope/w");
  }
}

TEST_CASE("names: repeats of one op are numbered, and what looks numbered is left alone") {
  const Ref<Graph> g = trace([](Tracer& t) {
    Tensor y = t.argument({{}, float32, {}}, "x");
    for (int i = 0; i < 5; ++i) y = nn::relu(y);
    y = nn::relu(y, {.name = "Tanh_1"});
    return tanh(tanh(tanh(y)));
  });
  CHECK(names_of(*g) ==
        Names{"x", "Relu", "Relu_1", "Relu_2", "Relu_3", "Relu_4", "Tanh_1", "Tanh", "Tanh_2", "Tanh_3"});
}

TEST_CASE("names: a constant keeps its name's line, and appears once") {
  const Ref<Graph> g = trace([](Tracer&) {
    const Tensor a = constant(2.f, {.name = "a"});
    return a * a;
  });
  CHECK(names_of(*g) == Names{"a", "Multiply"});
  CHECK(std::string(g->nodes.front().where.file).ends_with("names_test.cpp"));
}

namespace {

Ref<Graph> layer(const char* name, float bias, const Variable& v) {
  return trace([&](Tracer& t) {
    const Tensor x = t.argument({{2}, float32, {}}, name);
    return nn::relu(x * v + constant(bias, {.name = name}), {.name = name});
  });
}

}  // namespace

TEST_CASE("structure hash: names do not count, all else does") {
  const Variable v(constant(1.f)), w(constant(2.f));
  const Ref<Graph> g = layer("a", 1, v);
  CHECK(structure_hash(*g) == structure_hash(*layer("b", 1, w)));
  CHECK(structure_hash(*g) != structure_hash(*layer("a", 2, v)));
  Ref<Graph> other = g->copy();
  other->outputs.push_back(other->outputs[0]);
  CHECK(structure_hash(*g) != structure_hash(*other));
  other = g->copy();
  other->nodes.back().op = &tanh_op;
  CHECK(structure_hash(*g) != structure_hash(*other));
}

TEST_CASE("structure hash: equal scopes of a graph are equal") {
  const Ref<Graph> g = trace([](Tracer& t) {
    Tensor y = t.argument({{2}, float32, {}}, "x");
    for (int i = 0; i < 3; ++i) {
      const Variable w(constant(0.5f));
      const name_scope scope("layer");
      y = i == 2 ? tanh(y * w) : nn::relu(y * w);
    }
    return y;
  });
  CHECK(structure_hash(*g, "layer") == structure_hash(*g, "layer_1"));
  CHECK(structure_hash(*g, "layer") != structure_hash(*g, "layer_2"));
  CHECK(structure_hash(*g, "layer") != structure_hash(*g));
}

TEST_CASE("names: of functions, ops, Variables and scopes are copied from any text") {
  const auto named = [](int layer) {
    const std::string name = "layer_with_a_name_beyond_small_strings_" + std::to_string(layer);
    return function([layer](const Tensor& x) { return x * static_cast<float>(layer); }, {.name = name});
  };
  const auto f = named(3);
  std::string other(100, '?');  // where the name may have been
  CHECK(f.get_concrete_function(constant(1.f))->graph().name == "layer_with_a_name_beyond_small_strings_3");
  CHECK_THROWS_WITH((*f.get_concrete_function(constant(1.f)))({}),
                    ContainsSubstring("beyond_small_strings_3: takes 1"));
  const Ref<Graph> g = trace([](Tracer& t) {
    const Tensor x = t.argument({{2}, float32, {}}, "x");
    const std::string op = "an op's name that is not short";
    const Variable v(constant({1.f, 2.f}), {.name = op + "'s Variable"});
    return add(x, v, {.name = std::string_view(op).substr(0, 12)});
  });
  CHECK(names_of(*g) == Names{"x", "an op's name that is not short's Variable", "an op's name"});
  const std::string scores = "scores";
  CHECK_THROWS_WITH(add(constant({1.f, 2.f}), constant({1.f, 2.f, 3.f}), {.name = scores}),
                    ContainsSubstring("add 'scores':"));
}
