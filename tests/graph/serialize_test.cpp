// Saved graphs: what comes back is what was written, byte for byte, and what is refused.
#include "tandem/graph/io/serialize.hpp"

#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/op_table.hpp"
#include "tests/support/call_graph.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/op_samples.hpp"
#include "tests/support/tested_ops.hpp"

using namespace tandem;
using testing::call;
using Floats = std::vector<float>;

namespace {

const std::vector<const OpDef*> tested = samples::tested_ops();
const LoadOptions everything{.ops = tested};

// One step of w -= 0.1 dw of a small regression; returns the loss.
Ref<Graph> training(const Variable& w) {
  Tracer t("training");
  const Tensor x = t.argument({{none, 2}, float32, {}}, "x"), y = t.argument({{none, 1}, float32, {}}, "y");
  GradientTape tape;
  const Tensor loss = reduce_mean(square(matmul(x, w) - y));
  w.assign_sub(0.1f * tape.gradient(loss, w));
  const Tensor outputs[] = {loss};
  return t.finish(outputs);
}
Ref<Graph> loaded(const Graph& g) { return parse_graph(serialize(g), everything); }

// A graph of one constant.
Tensor through_file(const Tensor& value) {
  Tracer t("f");
  const Tensor outputs[] = {value};
  return call(loaded(*t.finish(outputs)), {})[0];
}

}  // namespace

TEST_CASE("serialize: a training step comes back and trains") {
  const Variable w(constant({{1.f}, {-1.f}}), {.name = "w"});
  const Ref<Graph> g = training(w);
  const Ref<Graph> back = loaded(*g);
  verify(*back);
  CHECK(to_string(*back) == to_string(*g));
  CHECK(serialize(*back) == serialize(*g));
  CHECK(structure_hash(*back) == structure_hash(*g));
  REQUIRE(back->variables.size() == 1);
  CHECK(!back->variables[0].is_same(w));
  CHECK(back->variables[0].name() == "w");

  const std::vector<Tensor> batch{constant({{1.f, 2.f}, {3.f, 4.f}}), constant({{1.f}, {2.f}})};
  for (int i = 0; i < 3; ++i) CHECK(call(back, batch)[0].item<float>() == call(g, batch)[0].item<float>());
  CHECK(back->variables[0].to_vector<float>() == w.to_vector<float>());
  CHECK(w.to_vector<float>() != Floats{1, -1});
}

TEST_CASE("serialize: a split into parts of many sizes is one op and comes back") {
  std::vector<i64> sizes;
  for (i64 i = 0; i < 300; ++i) sizes.push_back(i % 3);
  sizes[7] = -1;
  Tracer t("parts");
  const Tensor x = t.argument({{2, 310}, float32, {}}, "x");
  const std::vector<Tensor> parts = split(x, sizes, {.axis = 1});
  const Ref<Graph> g = t.finish(parts);
  REQUIRE(g->nodes.size() == 2);
  CHECK(g->spec(g->outputs[7]).shape == Shape{2, 310 - 299});
  const Ref<Graph> back = loaded(*g);
  CHECK(to_string(*back) == to_string(*g));
  CHECK(back->nodes[NodeId(1)].attrs == g->nodes[NodeId(1)].attrs);
  const Tensor value = reshape(range(0.f, 620.f), {2, 310});
  const std::vector<Tensor> want = split(value, sizes, {.axis = 1});
  const auto got = call(back, {value});
  REQUIRE(want.size() == 300);
  for (unsigned i = 0; i < 300; ++i) CHECK(got[i].to_vector<float>() == want[i].to_vector<float>());
  CHECK(concat(want, 1).to_vector<float>() == value.to_vector<float>());
}

TEST_CASE("serialize: every op's sampled calls come back with their attributes") {
  for (const OpDef* op : tested) {
    for (const samples::Call& call : samples::calls_of(*op, float32)) {
      INFO(op->name);
      Tracer t("f");
      InlinedVector<const Tensor*, 8> in;
      for (const Tensor& x : call.in) in.push_back(&x);
      const Tensors out = apply(*op, {in.begin(), in.size()}, call.attrs);
      const Ref<Graph> g = t.finish({out.begin(), out.size()});
      const bool is_table = std::string(op->name).find("table_") != std::string::npos;
      if (op == &custom_gradient_op || (is_table && op->flags.stateful)) {  // refer to objects that may change
        CHECK_THROWS_AS(serialize(*g), errors::UnimplementedError);
        continue;
      }
      const Ref<Graph> back = loaded(*g);
      CHECK(to_string(*back) == to_string(*g));
      CHECK(serialize(*back) == serialize(*g));
      if (!is_table) CHECK(back->nodes.back().attrs == call.attrs);  // a table is another object
    }
  }
}

TEST_CASE("serialize: constants of every dtype") {
  for (int d = 0; d < dtype_count; ++d) {
    const Spec spec{{2, 3}, static_cast<DType>(d), {}};
    if (spec.dtype == string) continue;
    const Tensor t = Tensor::allocate(spec);
    for (std::size_t i = 0; i < spec.bytes(); ++i)
      static_cast<char*>(t.raw())[i] = spec.dtype == bool_ ? i % 2 : static_cast<char>(37 * i);
    const Tensor back = through_file(t);
    CHECK(back.spec() == spec);
    CHECK(std::memcmp(back.raw(), t.raw(), spec.bytes()) == 0);
  }
  const std::vector<std::string> texts{"", "a\"b", std::string("zero\0inside", 11), std::string(1000, 'x')};
  CHECK(through_file(constant(texts)).to_vector<std::string>() == texts);
  CHECK(through_file(zeros({0, 3})).shape() == Shape{0, 3});
}

TEST_CASE("serialize: Variables of the caller take the saved ones' places by name") {
  const Variable w(constant({{1.f}, {-1.f}}), {.name = "w"});
  const std::string bytes = serialize(*training(w));
  const Variable mine(constant({{5.f}, {5.f}}));
  LoadOptions options = everything;
  options.variables = {{"w", mine}};
  CHECK(parse_graph(bytes, options)->variables[0].is_same(mine));
  {
    const name_scope scope("elsewhere");
    CHECK(loaded(*training(w))->variables[0].name() == "w");
  }
  options.variables = {{"v", mine}};
  CHECK_THROWS_AS(parse_graph(bytes, options), errors::NotFoundError);
  CHECK_THROWS_WITH(parse_graph(bytes, options), ContainsSubstring("no Variable of the graph is named 'v'"));
  options.variables = {{"w", Variable(ones({3}))}};
  CHECK_THROWS_AS(parse_graph(bytes, options), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(parse_graph(bytes, options), ContainsSubstring("float32[3]") && ContainsSubstring("float32[2,1]"));
}

TEST_CASE("serialize: whether a Variable is trainable is kept") {
  for (const bool trainable : {false, true}) {
    Tracer t("f");
    const Tensor outputs[] = {Variable(ones({2}), {.name = "w", .trainable = trainable}).read_value()};
    CHECK(loaded(*t.finish(outputs))->variables[0].trainable() == trainable);
  }
}

TEST_CASE("serialize: closures are refused by op and node") {
  Tracer t("f");
  const Tensor x = t.argument({{2}, float32, {}}, "x");
  const Tensor outputs[] = {host_function([](const Tensor& a) { return a; }, {x}, TensorSpec({2}, float32))};
  const Ref<Graph> g = t.finish(outputs);
  CHECK_THROWS_AS(serialize(*g), errors::UnimplementedError);
  CHECK_THROWS_WITH(serialize(*g), ContainsSubstring("node 'HostFunction' (host_function) has a closure"));
}

TEST_CASE("serialize: a custom gradient is saved with its backward function and what that captured") {
  Tracer t("f");
  const Tensor x = t.argument({{2}, float32, {}}, "x");
  const Tensor outputs[] = {custom_gradient(
      [](const Tensor& a) { return std::pair(a * a, [a](const Tensor& g) { return g * a * 100; }); }, x)};
  const Ref<ConcreteFunction> f = make_ref<ConcreteFunction>(loaded(*t.finish(outputs)));
  const Tensor at = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch(at);
  const Tensor y = (*f)({at})[0];
  CHECK(y.to_vector<float>() == std::vector<float>{1, 4});
  CHECK(tape.gradient(y, at).to_vector<float>() == std::vector<float>{100, 200});
}

TEST_CASE("serialize: only allowed ops are loaded") {
  const std::string bytes = serialize(*training(Variable(ones({2, 1}))));
  const OpDef* const few[] = {&matmul_op, &add_op};
  CHECK_THROWS_AS(parse_graph(bytes, {.ops = few}), errors::NotFoundError);
  CHECK_THROWS_WITH(parse_graph(bytes, {.ops = few}),
                    ContainsSubstring("op 'subtract'") && ContainsSubstring("2 ops of LoadOptions::ops"));
  CHECK_THROWS_WITH(parse_graph(bytes, {}), ContainsSubstring("op_table.hpp"));
}

TEST_CASE("serialize: wrong graphs are not written") {
  Ref<Graph> g = training(Variable(ones({2, 1})));
  for (Node& n : g->nodes)
    if (n.op == &assign_variable_op) n.in[0] = ValueId(1000);
  CHECK_THROWS_AS(serialize(*g), errors::InternalError);
}

TEST_CASE("serialize: a newer format is refused with both versions") {
  std::string bytes = serialize(*training(Variable(ones({2, 1}))));
  bytes[8] = 7;
  bytes[12] = 9;
  CHECK_THROWS_AS(parse_graph(bytes, everything), errors::FailedPreconditionError);
  CHECK_THROWS_WITH(parse_graph(bytes, everything),
                    ContainsSubstring("format 7, written by Tandem 9.") &&
                        ContainsSubstring("this is Tandem " TANDEM_STRINGIFY(TANDEM_VERSION_MAJOR) ".") &&
                        ContainsSubstring("reads formats up to 2"));
  bytes[8] = 0;
  CHECK_THROWS_AS(parse_graph(bytes, everything), errors::DataLossError);
}

TEST_CASE("serialize: torn bytes raise DataLossError with the place") {
  const std::string bytes = serialize(*training(Variable(ones({2, 1}))));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    CAPTURE(n);
    CHECK_THROWS_AS(parse_graph(std::string_view(bytes).substr(0, n), everything), errors::DataLossError);
  }
  CHECK_THROWS_WITH(parse_graph(std::string_view(bytes).substr(0, 100), everything),
                    ContainsSubstring("is truncated") && ContainsSubstring("at byte"));
  CHECK_THROWS_WITH(parse_graph(bytes + "x", everything), ContainsSubstring("1 bytes after its end"));
  CHECK_THROWS_WITH(parse_graph("not a graph, but longer than 20 bytes", everything),
                    ContainsSubstring("does not begin with TANDEMGR"));
}

TEST_CASE("serialize: changed bytes give a sound graph or an error") {
  const std::string bytes = serialize(*training(Variable(ones({2, 1}), {.name = "w"})));
  int sound = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int change : {1, 0x80, 0xff}) {
      std::string torn = bytes;
      torn[i] = static_cast<char>(torn[i] ^ change);
      CAPTURE(i, change);
      try {
        verify(*parse_graph(torn, everything));
        ++sound;
      } catch (const errors::OpError&) {  // any other exception fails the test
      }
    }
  CHECK(sound > 0);  // names and numbers may be anything
}

TEST_CASE("serialize: loading and saving leave a trace alone") {
  const std::string bytes = serialize(*training(Variable(ones({2, 1}))));
  Tracer t("f");
  const Ref<Graph> g = parse_graph(bytes, everything);
  CHECK(serialize(*g) == bytes);
  CHECK(t.graph().nodes.empty());
  CHECK(t.created_variables().empty());
}
