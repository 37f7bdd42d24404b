// Partial runs: feeds and fetches by name and by value, what runs and what does not, what is refused.
#include "tandem/graph/ir/prune.hpp"

#include "tandem/graph/trace/trace.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/call_graph.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using testing::call;
using Names = std::vector<std::string>;
using Values = std::vector<ValueId>;
using Nodes = std::vector<NodeId>;

namespace {

int runs = 0;
Specs infer_same(const InferCall& c) { return Specs(c.spec(0)); }
Specs infer_nothing(const InferCall&) { return {}; }
void count_and_copy(const KernelCall& c) {
  ++runs;
  *static_cast<float*>(c.out[0].data) = *c.in[0].as<float>();
}
void count(const KernelCall&) { ++runs; }
// x, and one more run counted; the same without an output.
constexpr OpDef counting_op{.name = "counting", .infer = &infer_same, .cpu = &count_and_copy};
constexpr OpDef effect_op{
    .name = "effect", .infer = &infer_nothing, .cpu = &count, .outputs = 0, .flags = {.stateful = true}};

// a = 2 + 5, b = a * 3
Ref<Graph> sums() {
  Tracer t("sums");
  const Tensor a = add(constant(2), constant(5), {.name = "a"});
  const Tensor outputs[] = {multiply(a, constant(3), {.name = "b"})};
  return t.finish(outputs);
}
// y = counting(x) * 2, and an effect
Ref<Graph> counted() {
  Tracer t("counted");
  const Tensor x = t.argument({{}, float32, {}}, "x");
  const Tensor y = apply1(counting_op, no_attrs, {.name = "y"}, x);
  const Tensor* in[] = {&y};
  apply(effect_op, in, no_attrs, {.name = "told"});
  const Tensor outputs[] = {multiply(y, constant(2.f), {.name = "z"})};
  return t.finish(outputs);
}
std::vector<Tensor> run_pruned(const Graph& g, const Names& feeds, const Names& fetches,
                               const std::vector<Tensor>& fed) {
  const Ref<Graph> part = prune(g, feeds, fetches);
  verify(*part);
  return call(part, fed);
}

}  // namespace

TEST_CASE("prune: fetches by name") {
  const Ref<Graph> g = sums();
  CHECK(run_pruned(*g, {}, {"b"}, {})[0].item<int>() == 21);
  const auto both = run_pruned(*g, {}, {"a:0", "b:0"}, {});
  CHECK((both[0].item<int>() == 7 && both[1].item<int>() == 21));
  CHECK(run_pruned(*g, {}, {"b", "b"}, {}).size() == 2);
}

TEST_CASE("prune: a fed value takes the place of what made it") {
  const Ref<Graph> g = sums();
  CHECK(run_pruned(*g, {"a"}, {"b"}, {constant(15)})[0].item<int>() == 45);
  const Ref<Graph> part = prune(*g, Names{"a:0"}, Names{"b:0", "a:0"});
  CHECK(part->nodes.size() == 3);  // the argument, 3, and the product
  CHECK(part->nodes.front().op == &argument_op);
  CHECK(part->nodes.front().name == "a");
  CHECK(part->spec(part->arguments[0]) == Spec{{}, int32, {}});
  CHECK(call(part, {constant(15)})[1].item<int>() == 15);
}

TEST_CASE("prune: a vector is fed into prod + sum") {
  Tracer t("f");
  const Tensor a = constant({1, 1}, {.name = "a"});
  const Tensor outputs[] = {add(reduce_prod(a), reduce_sum(a), {.name = "d"})};
  const Ref<Graph> g = t.finish(outputs);
  CHECK(run_pruned(*g, {}, {"d"}, {})[0].item<int>() == 3);
  CHECK(run_pruned(*g, {"a"}, {"d"}, {constant({5, 3})})[0].item<int>() == 23);
}

TEST_CASE("prune: by value") {
  const Ref<Graph> g = sums();
  const ValueId b = g->outputs[0], a = g->nodes.back().in[0];
  CHECK(call(prune(*g, Values{}, Values{a, b}), {})[1].item<int>() == 21);
  CHECK(call(prune(*g, Values{a}, Values{b}), {constant(15)})[0].item<int>() == 45);
}

TEST_CASE("prune: what lies above a fed value does not run, nor effects that are not fetched") {
  const Ref<Graph> g = counted();
  runs = 0;
  CHECK(call(g, {constant(4.f)})[0].item<float>() == 8);
  CHECK(runs == 2);
  CHECK(run_pruned(*g, {"x"}, {"z"}, {constant(4.f)})[0].item<float>() == 8);
  CHECK(runs == 3);
  CHECK(run_pruned(*g, {"y"}, {"z"}, {constant(4.f)})[0].item<float>() == 8);
  CHECK(runs == 3);
}

TEST_CASE("prune: fetching an op without output runs it and yields nothing") {
  const Ref<Graph> g = counted();
  runs = 0;
  CHECK(run_pruned(*g, {"y"}, {"told"}, {constant(4.f)}).empty());
  CHECK(runs == 1);
  CHECK(run_pruned(*g, {"x"}, {"told", "z"}, {constant(4.f)}).size() == 1);
  CHECK(runs == 3);
}

TEST_CASE("prune: assignments run when they are fetched, in program order") {
  const Variable v(constant(1.f), {.name = "v"}), other(constant(9.f), {.name = "other"});
  Tracer t("f");
  const Tensor before = v + 10;
  other.assign(constant(0.f));
  v.assign(v * 2);
  const Tensor outputs[] = {before, v + 10};
  const Ref<Graph> g = t.finish(outputs);
  CHECK(run_pruned(*g, {}, {"Add_1"}, {})[0].item<float>() == 12);
  CHECK(v.item<float>() == 1);
  const auto r = run_pruned(*g, {}, {"assign/v", "Add"}, {});
  CHECK(r[0].item<float>() == 11);
  CHECK(v.item<float>() == 2);
  CHECK(other.item<float>() == 9);
  CHECK(prune(*g, Names{}, Names{"assign/v"})->variables.size() == 1);
}

TEST_CASE("prune: ops with several outputs, some of them fed") {
  Tracer t("f");
  const Tensor x = t.argument({{4}, float32, {}}, "x");
  const std::vector<Tensor> pieces = split(x, 2, {.name = "pieces"});
  const Tensor outputs[] = {add(pieces[0], pieces[1], {.name = "sum"})};
  const Ref<Graph> g = t.finish(outputs);
  const auto r = run_pruned(*g, {"x", "pieces:1"}, {"sum"}, {constant({1.f, 2.f, 3.f, 4.f}), constant({10.f, 20.f})});
  CHECK(r[0].to_vector<float>() == std::vector<float>{11, 22});
  CHECK_THROWS_WITH(prune(*g, Names{"x"}, Names{"pieces"}),
                    ContainsSubstring("'pieces' has 2 outputs: use 'pieces:0'"));
  CHECK_THROWS_WITH(prune(*g, Names{"x"}, Names{"pieces:2"}), ContainsSubstring("no output 2"));
}

TEST_CASE("prune: open dims stay open, and unused arguments may be fed") {
  Tracer t("f");
  const Tensor x = t.argument({{none}, float32, {}}, "x"), y = t.argument({{}, float32, {}}, "y");
  const Tensor outputs[] = {nn::relu(x), y + 1};
  const Ref<Graph> g = t.finish(outputs);
  const Ref<Graph> part = prune(*g, Names{"y", "x"}, Names{"Relu"});
  CHECK(part->arguments.size() == 2);
  CHECK(part->spec(part->arguments[1]).shape == Shape{none});
  CHECK(call(part, {constant(1.f), constant({-1.f, 2.f, 3.f})})[0].to_vector<float>() == std::vector<float>{0, 2, 3});
}

TEST_CASE("prune: a fetch that needs an argument that is not fed names both") {
  const Ref<Graph> g = counted();
  CHECK_THROWS_AS(prune(*g, Names{}, Names{"z"}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(prune(*g, Names{}, Names{"z"}),
                    ContainsSubstring("input 'x' is not fed and has no default; 'z:0' depends on it"));
  CHECK_THROWS_WITH(prune(*g, Names{"z"}, Names{"z", "told"}), ContainsSubstring("an op that must run depends on it"));
}

TEST_CASE("prune: a fed value of another dtype or shape raises") {
  const Ref<ConcreteFunction> f = make_ref<ConcreteFunction>(sums())->prune(Names{"a"}, Names{"b"});
  CHECK((*f)({constant(15)})[0].item<int>() == 45);
  CHECK_THROWS_AS((*f)({constant(15.f)}), errors::InvalidArgumentError);
  CHECK_THROWS_AS((*f)({constant({15, 16})}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH((*f)({constant(15.f)}), ContainsSubstring("float32[]") && ContainsSubstring("int32[]"));
  CHECK_THROWS_AS((*f)({}), errors::InvalidArgumentError);
}

TEST_CASE("prune: wrong names and values raise") {
  const Ref<Graph> g = counted();
  CHECK_THROWS_AS(prune(*g, Names{}, Names{"w"}), errors::NotFoundError);
  CHECK_THROWS_WITH(prune(*g, Names{}, Names{"w:0"}),
                    ContainsSubstring("no op named 'w'") && ContainsSubstring("x, y, told, Const, z"));
  CHECK_THROWS_WITH(prune(*g, Names{}, Names{"y:x"}), ContainsSubstring("no op named 'y:x'"));
  CHECK_THROWS_WITH(prune(*g, Names{}, Names{"y:"}), ContainsSubstring("no op named 'y:'"));
  CHECK_THROWS_WITH(prune(*g, Names{}, Names{"y:99999999999999"}), ContainsSubstring("no op named"));
  CHECK_THROWS_WITH(prune(*g, Names{}, Names{""}), ContainsSubstring("no op named ''"));
  CHECK_THROWS_WITH(prune(*g, Names{}, Names{":0"}), ContainsSubstring("no op named ''"));
  CHECK_THROWS_WITH(prune(*g, Names{"told"}, Names{"z"}), ContainsSubstring("no output to feed"));
  CHECK_THROWS_WITH(prune(*g, Names{"x", "x:0"}, Names{"z"}), ContainsSubstring("'x:0' is fed twice"));
  CHECK_THROWS_AS(prune(*g, Values{ValueId(99)}, Values{ValueId(0)}), errors::OutOfRangeError);
  CHECK_THROWS_AS(prune(*g, Values{}, Values{ValueId(-1)}), errors::OutOfRangeError);
  CHECK_THROWS_AS(prune(*g, Values{ValueId(0)}, Values{}, Nodes{NodeId(99)}), errors::OutOfRangeError);
}
