// Graph files: written whole or not at all, and read back. What is in them: tests/graph/serialize_test.cpp.
#include "tandem/io/graph_file.hpp"

#include <filesystem>
#include <fstream>

#include "tandem/graph/control/control.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/op_table.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/debug/strict_shapes.hpp"
#include "tandem/ops/host_function.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/softmax/softmax.hpp"
#include "tests/support/call_graph.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "tandem_graph_file_test";
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};
template <class F>
Ref<Graph> trace(const F& f, const Spec& spec = {{2}, float32, {}}) {
  Tracer t("f");
  const Tensor outputs[] = {f(t.argument(spec, "x"))};
  return t.finish(outputs);
}

}  // namespace

TEST_CASE("graph file: what is saved is loaded and runs") {
  const Folder folder;
  io::save_graph(folder / "f", *trace([](const Tensor& x) { return x * 2 + 1; }));
  const Ref<Graph> g = io::load_graph(folder / "f", {.ops = all_ops()});
  CHECK(testing::call(g, {constant({1.f, 2.f})})[0].to_vector<float>() == std::vector<float>{3, 5});
}

TEST_CASE("graph file: half precision is saved in float32 between casts, which every build can load") {
  const Folder folder;
  const Tensor x = cast(constant({{1.f, 2.f}, {3.f, 5.f}}), bfloat16);
  const auto f = [](const Tensor& t) {
    const Tensor y = reduce_sum(nn::softmax(matmul(t, t)), {.axis = 0});
    return cond(
        constant(true), [&] { return matmul(expand_dims(y, 0), t); }, [&] { return expand_dims(y, 0); });
  };
  io::save_graph(folder / "f", *trace(f, x.spec()));
  const Ref<Graph> loaded = io::load_graph(folder / "f", {.ops = all_ops()});
  for (const Node& n : loaded->nodes) {
    CAPTURE(n.op->name);
    if (n.op == &matmul_op || n.op == &softmax_op) CHECK(loaded->spec(n.first_out).dtype == float32);
  }
  const Tensor want = f(x), got = testing::call(loaded, {x})[0];
  CHECK(got.dtype() == bfloat16);
  CHECK(cast(got, float32).to_vector<float>() == cast(want, float32).to_vector<float>());
}

TEST_CASE("graph file: a graph that cannot be saved leaves the file as it was") {
  const Folder folder;
  io::save_graph(folder / "f", *trace([](const Tensor& x) { return x * 2; }));
  const auto closure = trace(
      [](const Tensor& x) { return host_function([](const Tensor& a) { return a; }, {x}, TensorSpec({2}, float32)); });
  CHECK_THROWS_AS(io::save_graph(folder / "f", *closure), errors::UnimplementedError);
  CHECK(io::load_graph(folder / "f", {.ops = all_ops()})->nodes.back().name == "Multiply");
  CHECK_THROWS_AS(io::save_graph(folder / "no such folder/f", *trace([](const Tensor& x) { return x; })),
                  errors::UnavailableError);
}

TEST_CASE("graph file: what is no graph file is named") {
  const Folder folder;
  const auto load = [&](const std::string& path) { return io::load_graph(path, {.ops = all_ops()}); };
  CHECK_THROWS_AS(load(folder / "none"), errors::NotFoundError);
  CHECK_THROWS_WITH(load(folder / "none"), ContainsSubstring("cannot read") && ContainsSubstring("none"));
  CHECK_THROWS_AS(load(folder.path.string()), errors::NotFoundError);
  CHECK_THROWS_AS(load("/dev/zero"), errors::NotFoundError);
  std::ofstream(folder / "empty").close();
  CHECK_THROWS_AS(load(folder / "empty"), errors::DataLossError);
}

TEST_CASE("graph file: StrictShapes does not concern the ops in a file") {
  const Folder folder;
  const Ref<Graph> g = trace([](const Tensor& x) { return expand_dims(x, 0) + x; });
  const debugging::StrictShapes strict;
  io::save_graph(folder / "f", *g);
  CHECK(io::load_graph(folder / "f", {.ops = all_ops()})->outputs.size() == 1);
}
