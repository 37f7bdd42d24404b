// Files that earlier versions wrote: they are read, run, and written again byte for byte. A new format gets new files
// beside these: test_graph "[.write]" writes those of this version.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/op_table.hpp"
#include "tests/support/call_graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/source_folder.hpp"

using namespace tandem;

namespace {

std::string path_of(const std::string& name) { return testing::source_folder() + "/tests/graph/golden/" + name; }
std::string bytes_of(const std::string& name) {
  std::ifstream in(path_of(name), std::ios::binary);
  REQUIRE(in);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}
Ref<Graph> read(const std::string& name) { return parse_graph(bytes_of(name), {.ops = all_ops()}); }
// All but the version of the library, which may rise without a new format.
std::string unversioned(std::string bytes) { return bytes.erase(12, 8); }

// relu(x w + b), its sum, and a count of the calls.
Ref<Graph> model() {
  const Variable w(constant({{1.f, -1.f}, {2.f, 0.5f}}), {.name = "w"}), b(constant({0.5f, -0.5f}), {.name = "b"});
  const Variable calls(constant(i64{0}), {.name = "calls", .trainable = false});
  Tracer t("model");
  const Tensor x = t.argument({{none, 2}, float32, {}}, "x");
  const Tensor product = matmul(x, w);
  const Tensor y = nn::relu(product + b);
  calls.assign(calls + constant(i64{1}));
  const Tensor outputs[] = {y, reduce_sum(y)};
  return t.finish(outputs);
}
// The model with names; the values of w and b are elsewhere, that of the count is in the file.
std::string serialize_named(const Graph& g) {
  return serialize(g, {.inputs = {"x"},
                       .outputs = {"y", "sum"},
                       .values_elsewhere = {{"net/w", g.variables[0]}, {"net/b", g.variables[1]}}});
}
// Attributes of every kind: numbers, reals, enums, dtypes, devices, shapes, axes given, none and not given.
Ref<Graph> fields() {
  Tracer t("fields");
  const Tensor x = t.argument({{2, 3}, float32, {}}, "x");
  const Tensor none_given = reduce_sum(x), no_axis = reduce_sum(x, {.axis = Axes::none()});
  const Tensor last = reduce_max(x, {.axis = {-1}, .keepdims = true});
  const std::vector<Tensor> pieces = split(x, {1, 2}, {.axis = 1});
  const Tensor turned = transpose(matmul(x, x, {.transpose_b = true}), {.perm = {1, 0}});
  const Tensor drawn = random::stateless_uniform({2}, constant(std::vector<i64>{1, 2}), {.minval = -1, .maxval = 1});
  const Tensor outputs[] = {none_given,
                            no_axis,
                            last,
                            pieces[0],
                            pieces[1],
                            turned,
                            cast(x, int32),
                            drawn,
                            sort(x, {.direction = Direction::descending}),
                            constant({"a", "", "b\n"}),
                            constant({true, false}),
                            x(Slice(0, 1), Ellipsis, -1)};
  return t.finish(outputs);
}

}  // namespace

TEST_CASE("golden: a model is read and runs") {
  const Ref<Graph> g = read("model_1.graph");
  verify(*g);
  CHECK(g->name == "model");
  for (i64 i = 1; i <= 2; ++i) {
    const auto out = testing::call(g, {constant({{1.f, 2.f}, {0.f, 4.f}})});
    CHECK(out[0].to_vector<float>() == std::vector<float>{5.5f, 0, 8.5f, 1.5f});
    CHECK(out[1].item<float>() == 15.5f);
    CHECK(g->variables.back().item<i64>() == i);
  }
}

TEST_CASE("golden: attributes of every kind are read") {
  const Ref<Graph> g = read("fields_1.graph"), fresh = fields();
  CHECK(to_string(*g) == to_string(*fresh));
  const Tensor x = constant({{1.f, 2.f, 3.f}, {6.f, 5.f, 4.f}});
  const auto a = testing::call(g, {x}), b = testing::call(fresh, {x});
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(to_string(a[i]) == to_string(b[i]));
  CHECK(a[0].item<float>() == 21);
  CHECK(a[4].to_vector<float>() == std::vector<float>{2, 3, 5, 4});
  CHECK(a[8].to_vector<float>() == std::vector<float>{3, 2, 1, 6, 5, 4});
}

TEST_CASE("golden: names and Variables whose values are elsewhere are read") {
  const Variable w(constant({{1.f, -1.f}, {2.f, 0.5f}}), {.name = "w"}), b(constant({0.5f, -0.5f}), {.name = "b"});
  const NamedGraph g =
      parse_named_graph(bytes_of("model_2.graph"), {.ops = all_ops(), .values = {{"net/w", w}, {"net/b", b}}});
  CHECK(g.inputs == std::vector<std::string>{"x"});
  CHECK(g.outputs == std::vector<std::string>{"y", "sum"});
  CHECK(g.graph->variables[0].is_same(w));
  const auto out = testing::call(g.graph, {constant({{1.f, 2.f}, {0.f, 4.f}})});
  CHECK(out[0].to_vector<float>() == std::vector<float>{5.5f, 0, 8.5f, 1.5f});
  CHECK(out[1].item<float>() == 15.5f);
  CHECK(unversioned(serialize_named(*model())) == unversioned(bytes_of("model_2.graph")));
}

TEST_CASE("golden: the same graph gives the same bytes") {
  CHECK(unversioned(serialize(*model())) == unversioned(bytes_of("model_1.graph")));
  CHECK(unversioned(serialize(*fields())) == unversioned(bytes_of("fields_1.graph")));
  CHECK(unversioned(serialize(*read("fields_1.graph"))) == unversioned(bytes_of("fields_1.graph")));
}

TEST_CASE("golden: writes this version's files", "[.write]") {
  std::filesystem::create_directories(path_of(""));
  const auto write = [](const std::string& name, const std::string& bytes) {
    REQUIRE(std::ofstream(path_of(name), std::ios::binary) << bytes);
  };
  write("model_1.graph", serialize(*model()));
  write("fields_1.graph", serialize(*fields()));
  write("model_2.graph", serialize_named(*model()));
}
