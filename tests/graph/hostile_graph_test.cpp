// Graphs that no trace makes, as a file may hold them: refused when they are loaded, or by the call that would read
// what is not there.
#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/op_table.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/call_graph.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

const LoadOptions everything{.ops = all_ops()};
const Tensor pattern = constant({7.f, 8.f, 9.f, 10.f});

// The saved graph, with the data of `pattern` taken out.
template <class F>
std::string without_pattern(const F& f) {
  std::string bytes = serialize(function(f).get_concrete_function(ones({4}))->graph());
  const std::size_t at = bytes.find(std::string(static_cast<const char*>(pattern.raw()), pattern.spec().bytes()));
  REQUIRE(at != std::string::npos);
  bytes[at - 1] = 0;  // "has data"
  return bytes.erase(at, pattern.spec().bytes());
}
template <class F>
Ref<Graph> traced(std::initializer_list<Spec> arguments, const F& f) {
  Tracer t("f");
  std::vector<Tensor> in;
  for (const Spec& s : arguments) in.push_back(t.argument(s));
  const Tensor outputs[] = {f(in)};
  return t.finish(outputs);
}
// A graph of one control-flow op on arguments of these specs; returns the op's first output.
Ref<Graph> around(const OpDef& op, const Attrs& attrs, const std::vector<Spec>& arguments,
                  std::initializer_list<Spec> outputs) {
  auto g = make_ref<Graph>();
  std::vector<ValueId> in;
  for (const Spec& s : arguments) in.push_back(g->add_argument(s));
  g->outputs.push_back(g->add(op, attrs, in, {outputs.begin(), outputs.size()}));
  return g;
}
Tensor run(const Ref<Graph>& g, const std::vector<Tensor>& in, bool plan) {
  return (*make_ref<ConcreteFunction>(g, ExecutionOptions{.plan = plan}))(in)[0];
}
const Spec count{{}, DType::int64, {}};
Spec floats(const Shape& shape) { return {shape, DType::float32, {}}; }

}  // namespace

TEST_CASE("hostile graph: a constant without data is refused where its values are read") {
  const Variable v(ones({4}));
  const std::string cases[] = {without_pattern([](const Tensor& x) { return x * pattern; }),
                               without_pattern([](const Tensor& x) { return std::pair(x * 2, pattern); }),
                               without_pattern([&](const Tensor& x) { return v.assign(pattern), x * 2; }),
                               without_pattern([](const Tensor& x) {
                                 const Tensor outer = pattern + x;
                                 return cond(
                                     reduce_any(x > 0), [&] { return outer; }, [&] { return x + pattern; });
                               })};
  for (const std::string& bytes : cases) {
    CHECK_THROWS_AS(parse_graph(bytes, everything), errors::DataLossError);
    CHECK_THROWS_WITH(parse_graph(bytes, everything), ContainsSubstring("a constant without data"));
  }
  const Ref<Graph> fine =
      parse_graph(without_pattern([](const Tensor& x) { return x + ones_like(pattern); }), everything);
  verify(*fine);
  for (const bool plan : {false, true}) CHECK(run(fine, {ones({4})}, plan).to_vector<float>()[0] == 2);
}

TEST_CASE("hostile graph: verify looks into the graphs that control flow runs") {
  const Ref<Graph> g = function([](const Tensor& x) {
                         return cond(
                             reduce_any(x > 0), [&] { return x * 2; }, [&] { return x; });
                       })
                           .get_concrete_function(ones({4}))
                           ->graph()
                           .copy();
  verify(*g);
  for (Node& n : g->nodes)
    if (n.op == &cond_op) n.attrs.get<rules::CondAttrs>().then->nodes.back().in[0] = ValueId(1000);
  CHECK_THROWS_AS(verify(*g), errors::InternalError);
}

TEST_CASE("trace: a tensor of a finished trace has a shape there, but no value, whatever was asked for first") {
  Tensor leaked;
  function([&](const Tensor& x) { return leaked = x + 1.f; })(ones({4}));
  const auto f = function([&](const Tensor& x) {
    const Tensor shape_alone = x + zeros_like(leaked);
    return shape_alone + leaked;
  });
  CHECK_THROWS_AS(f(ones({4})), errors::TraceError);
  const auto shape_alone = function([&](const Tensor& x) { return x + zeros_like(leaked) + ones_like(leaked); });
  CHECK(shape_alone(ones({4})).to_vector<float>()[0] == 2);
}

TEST_CASE("hostile graph: a condition that takes other values than the loop carries is refused") {
  const Ref<Graph> body = traced({floats({1})}, [](const auto& in) { return in[0] + 1.f; });
  const auto loop_with = [&](const Spec& takes) {
    const Ref<Graph> condition = traced({takes}, [](const auto& in) { return reduce_all(cast(in[0], bool_)); });
    const rules::LoopAttrs a{condition, body, 1, 0, false, {}, {}};
    return around(loop_op, a, {count, floats({1})}, {floats({1}), count});
  };
  verify(*loop_with(floats({1})));
  CHECK_THROWS_WITH(verify(*loop_with(floats({100000}))), ContainsSubstring("takes float32[100000]"));
  CHECK_THROWS_AS(verify(*loop_with({{1}, DType::float64, {}})), errors::InternalError);
  const rules::LoopAttrs overflows{make_ref<Graph>(), body, INT64_MAX, 1, false, {}, {}};
  CHECK_THROWS_AS(verify(*around(loop_op, overflows, {count, floats({1})}, {floats({1}), count})),
                  errors::InternalError);
}

TEST_CASE("hostile graph: sums of a loop that are not carried, or not numbers with fractions, are refused") {
  const auto loop_with = [&](const Spec& spec, const char* sums) {
    const Ref<Graph> body = traced({spec}, [](const auto& in) { return in[0] + in[0]; });
    rules::LoopAttrs a{make_ref<Graph>(), body, 1, 0, false, {}, {}};
    a.sums.text = sums;
    return around(loop_op, a, {count, spec}, {spec, count});
  };
  verify(*loop_with(floats({1}), "s"));
  verify(*loop_with(floats({1}), "-----"));
  CHECK_THROWS_WITH(verify(*loop_with({{1}, DType::int32, {}}, "s")), ContainsSubstring("carried value 0 is a sum"));
  CHECK_THROWS_WITH(verify(*loop_with(floats({1}), "-s")), ContainsSubstring("carried value 1 is a sum"));
  const Ref<Graph> body = traced({floats({none})}, [](const auto& in) { return concat({in[0], in[0]}, 0); });
  rules::LoopAttrs grows{make_ref<Graph>(), body, 1, 0, false, {}, {}};
  grows.sums.text = "s";
  const Ref<Graph> g = around(loop_op, grows, {count, floats({none})}, {floats({none}), count});
  CHECK(run(g, {constant(i64{3}), ones({1})}, false).to_vector<float>() == std::vector<float>(8, 1));
}

TEST_CASE("hostile graph: a loop whose body returns other sizes than it takes raises") {
  const Ref<Graph> body = traced({floats({4})}, [](const auto& in) { return boolean_mask(in[0], in[0] > 0.f); });
  const rules::LoopAttrs a{make_ref<Graph>(), body, 1, 0, false, {}, {}};
  const Ref<Graph> g = around(loop_op, a, {count, floats({4})}, {floats({4}), count});
  for (const bool plan : {false, true}) {
    CHECK(run(g, {constant(i64{2}), ones({4})}, plan).to_vector<float>() == std::vector<float>(4, 1));
    CHECK_THROWS_WITH(run(g, {constant(i64{2}), constant({1.f, 0.f, 0.f, 0.f})}, plan),
                      ContainsSubstring("is float32[1], it takes float32[4]"));
  }
}

TEST_CASE("hostile graph: a branch that takes more than the call has raises") {
  const Ref<Graph> large = traced({floats({100000})}, [](const auto& in) { return reduce_sum(in[0]); });
  const Ref<Graph> any = traced({floats({none})}, [](const auto& in) { return reduce_sum(in[0]); });
  const Ref<Graph> g = around(cond_op, rules::CondAttrs{large, any, 1},
                              {{{}, DType::bool_, {}}, floats({none}), floats({none})}, {floats({})});
  verify(*g);
  for (const bool plan : {false, true}) {
    CHECK_THROWS_WITH(run(g, {constant(true), ones({2}), ones({3})}, plan),
                      ContainsSubstring("it takes float32[100000]"));
    CHECK(run(g, {constant(false), ones({2}), ones({3})}, plan).item<float>() == 3);
    CHECK(run(g, {constant(true), ones({100000}), ones({3})}, plan).item<float>() == 100000);
  }
}

TEST_CASE("hostile graph: ragged rows whose table says something else raise") {
  const Ref<Graph> body =
      traced({floats({}), floats({none})}, [](const auto& in) { return in[0] + reduce_sum(in[1]); });
  const rules::LoopAttrs a{make_ref<Graph>(), body, 1, 1, false, "r", {}};
  const auto graph = [&](const Spec& rows, const Spec& table) {
    return around(loop_op, a, {count, floats({}), rows, table}, {floats({}), count});
  };
  const Spec table{{none, none}, DType::int64, {}};
  CHECK_THROWS_AS(verify(*graph({{none}, DType::uint8, {}}, table)), errors::InternalError);
  CHECK_THROWS_AS(verify(*graph(floats({none, 2}), table)), errors::InternalError);
  const Ref<Graph> g = graph(floats({none}), table);
  verify(*g);
  const auto sum = [&](const Tensor& shapes, bool plan) {
    return run(g, {constant(i64{2}), constant(0.f), ones({5}), shapes}, plan).item<float>();
  };
  for (const bool plan : {false, true}) {
    CHECK(sum(constant({{i64{2}}, {i64{3}}}), plan) == 5);
    CHECK_THROWS_WITH(sum(constant({{i64{2}}, {i64{4}}}), plan), ContainsSubstring("does not describe"));
    CHECK_THROWS_AS(sum(constant({{i64{1000000}}, {i64{-999995}}}), plan), errors::InvalidArgumentError);
    CHECK_THROWS_AS(sum(constant({{i64{1}, i64{2}}, {i64{1}, i64{3}}}), plan), errors::InvalidArgumentError);
  }
}

TEST_CASE("a traced value whose size overflows raises, as it does in an eager call") {
  const auto cube = [](const Tensor& x) {
    return reduce_sum(expand_dims(expand_dims(x, 1), 2) * expand_dims(expand_dims(x, 0), 2) *
                      expand_dims(expand_dims(x, 0), 0));
  };
  const Tensor x = zeros({i64{1} << 22}, {.dtype = int32});  // 2^66 products: their number is 0 modulo 2^64
  CHECK_THROWS_AS(cube(x), errors::OpError);
  CHECK_THROWS_AS(function(cube)(x), errors::OpError);
  CHECK_THROWS_AS(function(cube, {.input_signature = {TensorSpec({none}, int32)}})(x), errors::OpError);
}
