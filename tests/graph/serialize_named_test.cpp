// Format 2 of saved graphs: names of inputs and outputs, Variables whose values are elsewhere, and files that have them
// wrong.
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/op_table.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/call_graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using testing::call;
using testing::error_of;
using Names = std::vector<std::string>;

namespace {

// x w + b and x w
Ref<Graph> two_outputs(const Variable& w, const Variable& b) {
  Tracer t("model");
  const Tensor product = matmul(t.argument({{none, 2}, float32, {}}, "x"), w);
  const Tensor outputs[] = {product + b, product};
  return t.finish(outputs);
}
struct Model {
  Variable w{constant({{1.f}, {2.f}}), {.name = "kernel"}}, b{constant({0.5f}), {.name = "bias"}};
  Ref<Graph> graph = two_outputs(w, b);
  SaveOptions options{.inputs = {"x"}, .outputs = {"y", "z"}, .values_elsewhere = {{"net/w", w}}};
  std::string bytes = serialize(*graph, options);
};
LoadOptions with(const char* name, const Variable& v) { return {.ops = all_ops(), .values = {{name, v}}}; }
// The format in the header.
int format_of(const std::string& bytes) { return bytes[8]; }

}  // namespace

TEST_CASE("named graph: names and Variables by name come back") {
  const Model m;
  CHECK(format_of(m.bytes) == 2);
  const Variable live(constant({{10.f}, {20.f}}));
  LoadOptions options = with("net/w", live);
  options.values.emplace_back("of another graph", m.b);
  const NamedGraph back = parse_named_graph(m.bytes, options);
  CHECK(back.inputs == Names{"x"});
  CHECK(back.outputs == Names{"y", "z"});
  REQUIRE(back.graph->variables.size() == 2);
  CHECK(back.graph->variables[0].is_same(live));
  CHECK_FALSE(back.graph->variables[1].is_same(m.b));  // its value is in the file
  const auto out = call(back.graph, {constant({{1.f, 1.f}})});
  CHECK(out[0].to_vector<float>() == std::vector<float>{30.5f});
  CHECK(out[1].to_vector<float>() == std::vector<float>{30});
  CHECK(serialize(*back.graph, {back.inputs, back.outputs, {{"net/w", live}}}) == m.bytes);
}

TEST_CASE("named graph: LoadOptions::variables replaces a Variable whether or not its value is in the file") {
  const Model m;
  const Variable live(constant({{10.f}, {20.f}})), bias(constant({1.f}));
  const Ref<Graph> g =
      parse_graph(m.bytes, {.ops = all_ops(), .variables = {{"net/w", live}, {"bias", bias}}, .values = {}});
  CHECK(g->variables[0].is_same(live));
  CHECK(g->variables[1].is_same(bias));
}

TEST_CASE("named graph: what format 1 can hold is written in format 1") {
  const Model m;
  CHECK(format_of(serialize(*m.graph)) == 1);
  CHECK(format_of(serialize(*m.graph, {.values_elsewhere = {{"other", Variable(ones({2}))}}})) == 1);
  CHECK(format_of(serialize(*m.graph, {.inputs = {"x"}})) == 2);
  CHECK(parse_named_graph(serialize(*m.graph), {.ops = all_ops()}).inputs.empty());
}

TEST_CASE("named graph: wrong names are not written") {
  const Model m;
  const auto error = [&](const SaveOptions& o) {
    return error_of<errors::InvalidArgumentError>([&] { serialize(*m.graph, o); });
  };
  CHECK_THAT(error({.inputs = {"x", "y"}}), ContainsSubstring("names of the inputs are 2, the graph has 1"));
  CHECK_THAT(error({.outputs = {"y", "y"}}), ContainsSubstring("names of the outputs have 'y' twice"));
  CHECK_THAT(error({.inputs = {""}}), ContainsSubstring("must not be empty"));
}

TEST_CASE("named graph: a value that is nowhere is named, and so is one of another shape") {
  const Model m;
  CHECK_THAT(
      error_of<errors::NotFoundError>([&] { parse_graph(m.bytes, {.ops = all_ops()}); }),
      ContainsSubstring("the value of the Variable 'net/w' float32[2,1]") && ContainsSubstring("LoadOptions::values"));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { parse_graph(m.bytes, with("net/w", Variable(ones({3})))); }),
             ContainsSubstring("float32[3] on CPU:0") && ContainsSubstring("float32[2,1] on CPU:0"));
}

TEST_CASE("named graph: a Variable without a value in a file of format 1 is damage") {
  Model m;
  m.bytes[8] = 1;
  m.bytes.erase(20, 4 + 4 + 1 + 4 + 4 + 1 + 4 + 1);  // the names
  CHECK_THAT(error_of<errors::DataLossError>([&] { parse_graph(m.bytes, with("net/w", m.w)); }),
             ContainsSubstring("a Variable or an object without a value"));
}

TEST_CASE("named graph: names that do not fit the graph are damage") {
  const Model m;
  const auto refuse = [&](const std::string& bytes) {
    return error_of<errors::DataLossError>([&] { parse_graph(bytes, with("net/w", m.w)); });
  };
  const std::string names("\1\0\0\0x\2\0\0\0\1\0\0\0y\1\0\0\0z", 19);  // behind the count of inputs
  const std::size_t at = m.bytes.find(names);
  REQUIRE(at == 24);
  std::string bytes = m.bytes;
  bytes[at + 18] = 'y';
  CHECK_THAT(refuse(bytes), ContainsSubstring("has two outputs 'y'"));
  bytes = m.bytes;
  bytes[at - 4] = 0;
  bytes.erase(at, 5);
  CHECK(parse_graph(bytes, with("net/w", m.w))->outputs.size() == 2);  // no names of inputs are fine
  bytes = m.bytes;
  bytes[at] = 0;
  bytes.erase(at + 4, 1);
  CHECK_THAT(refuse(bytes), ContainsSubstring("an empty name"));
  bytes = m.bytes;
  bytes[at + 5] = 1;
  bytes.erase(at + 14, 5);
  CHECK_THAT(refuse(bytes), ContainsSubstring("names 1 of 2 outputs"));
}

TEST_CASE("named graph: two Variables that would share one value are damage") {
  const Variable a(constant({1.f})), b(constant({2.f}));
  Tracer t("f");
  const Tensor outputs[] = {a + b};
  std::string bytes = serialize(*t.finish(outputs), {.values_elsewhere = {{"va", a}, {"vb", b}}});
  bytes[bytes.find("vb") + 1] = 'a';
  CHECK_THAT(error_of<errors::DataLossError>([&] { parse_graph(bytes, with("va", a)); }),
             ContainsSubstring("two Variables 'va' whose values are elsewhere"));
}

TEST_CASE("named graph: torn and changed bytes raise an error or give a sound graph") {
  const Model m;
  const LoadOptions options = with("net/w", m.w);
  for (std::size_t n = 0; n < m.bytes.size(); ++n)
    CHECK_THROWS_AS(parse_graph(std::string_view(m.bytes).substr(0, n), options), errors::DataLossError);
  int sound = 0;
  for (std::size_t i = 0; i < m.bytes.size(); ++i)
    for (const int change : {1, 0x80, 0xff}) {
      std::string torn = m.bytes;
      torn[i] = static_cast<char>(torn[i] ^ change);
      CAPTURE(i, change);
      try {
        verify(*parse_graph(torn, options));
        ++sound;
      } catch (const errors::OpError&) {  // any other exception fails the test
      }
    }
  CHECK(sound > 0);
}
