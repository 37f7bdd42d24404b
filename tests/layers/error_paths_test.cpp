// Errors of layers: they name the layer's path in its model, and what to do about dtypes.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const errors::OpError& e) {
    return e.what();
  }
  return "no error";
}

struct Block : Model<Block> {
  layers::Dense a{4}, b{4};
  layers::MaxPooling2D pool{2};
  layers::Embedding embedding{10, 3};
  layers::Sequential tail{layers::Dense(2), layers::Reshape({5}), layers::Dense(1)};
};
struct Net : Model<Net> {
  Block first, second;
  std::unique_ptr<layers::Dense> heap = std::make_unique<layers::Dense>(3);
  Net() { add_module("head", *heap); }
};
const Tensor x = ones({2, 3});

}  // namespace

TEST_CASE("errors of layers name the path in the outermost model") {
  const Net net;
  net.second.b(x);
  CHECK_THAT(message([&] {
               net.second.b(ones({2, 5}));
             }),
             ContainsSubstring("dense: inner dimensions differ: float32[2,5] x float32[3,4]") &&
                 ContainsSubstring("(in net/block_1/dense_1)"));
  CHECK_THAT(message([&] { net.first.a(constant(1.f)); }), ContainsSubstring("(in net/block/dense)"));
  CHECK_THAT(message([&] { net.first.pool(x); }), ContainsSubstring("(in net/block/max_pooling2d)"));
  CHECK_THAT(message([&] { net.second.tail(x); }), ContainsSubstring("(in net/block_1/sequential/reshape)"));
  (*net.heap)(x);
  CHECK_THAT(message([&] { (*net.heap)(ones({2, 7})); }), ContainsSubstring("(in net/head)"));
  // A model alone, a Sequential alone, and a layer alone, which its op names.
  const Block block;
  CHECK_THAT(message([&] { block.pool(x); }), ContainsSubstring("(in block/max_pooling2d)"));
  const layers::Sequential tail{layers::Flatten(), layers::Reshape({5})};
  CHECK_THAT(message([&] { tail(x); }), ContainsSubstring("(in sequential/reshape)"));
  CHECK_THAT(message([&] { layers::Reshape({5})(x); }), !ContainsSubstring("(in "));
  CHECK(net.path_in_model().empty());
  CHECK(net.second.b.path_in_model() == "net/block_1/dense_1");
}

TEST_CASE("paths of layers follow what contains them, and are those in the original of a copy") {
  struct Parent : Module {
    using Module::add_module;
  };
  const layers::Reshape alone({5});
  const auto wrong = [&] { return message([&] { alone(x); }); };
  for (int i = 0; i < 2; ++i) CHECK_THAT(wrong(), !ContainsSubstring("(in "));
  const Parent parent;
  parent.add_module("shape", alone);
  for (int i = 0; i < 2; ++i) CHECK_THAT(wrong(), ContainsSubstring("(in module/shape)"));
  const Parent outer;
  outer.add_module("parent", parent);
  CHECK_THAT(wrong(), ContainsSubstring("(in module/parent/shape)"));
  struct Both {
    Block low;
    Net net;
    Block high;
  } both;
  both.low = both.high = both.net.first;
  const Block copies[] = {both.net.first};
  CHECK(copies[0].a.path_in_model() == "net/block/dense");
  CHECK(both.low.b.path_in_model() == "net/block/dense_1");
  CHECK(both.high.pool.path_in_model() == "net/block/max_pooling2d");
}

TEST_CASE("errors of layers name the path in traces, and after other errors nothing is left") {
  const Net net;
  const auto f = function([&](const Tensor& t) { return net.second.b(net.first.a(t)); });
  CHECK_THAT(message([&] { f(constant(1.f)); }), ContainsSubstring("(in net/block/dense)"));
  CHECK(f(x).shape() == Shape{2, 4});
  CHECK_THAT(message([&] { f(ones({2, 9})); }), ContainsSubstring("(in net/block/dense)"));
  CHECK_THAT(message([&] { matmul(x, x); }), !ContainsSubstring("(in "));
  // An initializer's error, while the layer is being built.
  struct Bad : Model<Bad> {
    layers::Dense flat{3, {.bias_initializer = initializers::Orthogonal()}};
  };
  const Bad bad;
  CHECK_THAT(message([&] { bad.flat(x); }),
             ContainsSubstring("orthogonal: needs a shape of rank 2") && ContainsSubstring("(in bad/dense)"));
  CHECK(bad.variables().empty());
}

TEST_CASE("Embedding names itself and the index") {
  const Net net;
  CHECK_THAT(
      message([&] {
        net.second.embedding(constant({1, 10}));
      }),
      ContainsSubstring("Embedding: index 10 at position [1]") && ContainsSubstring("(in net/block_1/embedding)"));
  const layers::Embedding alone(4, 2);
  CHECK_THAT(message([&] { alone(constant({-1})); }), ContainsSubstring("Embedding: index -1"));
}

TEST_CASE("errors of layers name the path when a traced call runs") {
  const Net net;
  const Tensor wrong = constant({1, 10});
  const auto check = [&](const std::string& text) {
    CHECK_THAT(text, ContainsSubstring("Embedding") && ContainsSubstring("index 10 at position [1]") &&
                         ContainsSubstring("(in net/block_1/embedding)"));
  };
  const auto embed = function([&](const Tensor& ids) { return net.second.embedding(ids); });
  CHECK(embed(constant({1, 9})).shape() == Shape{2, 3});
  check(message([&] { embed(wrong); }));
  const auto outer = function([&](const Tensor& ids) { return embed(ids) * 2.f; });
  check(message([&] { outer(wrong); }));
  const auto rows = function(
      [&](const Tensor& ids) { return map_fn([&](const Tensor& i) { return net.second.embedding(i); }, ids); });
  CHECK_THAT(message([&] { rows(wrong); }),
             ContainsSubstring("Embedding") && ContainsSubstring("(in net/block_1/embedding)"));
  check(message([&] {
    GradientTape tape;
    embed(wrong);
  }));
  CHECK_THAT(message([&] { net.second.embedding(constant({1, 2})), matmul(x, x); }), !ContainsSubstring("(in "));
}
TEST_CASE("errors of traced layers whose sizes are known only at run time name the path") {
  const Net net;
  net.first.a(x);
  const auto f =
      function([&](const Tensor& t) { return net.first.a(t) * 2.f; }, {.input_signature = {TensorSpec({none, none})}});
  CHECK(f(x).shape() == Shape{2, 4});
  CHECK_THAT(message([&] {
               f(ones({2, 9}));
             }),
             ContainsSubstring("float32[2,9]") && ContainsSubstring("(in net/block/dense)"));
}
TEST_CASE("errors of traced layers do not need the layers") {
  auto net = std::make_unique<Net>();
  const auto embed = function([&](const Tensor& ids) { return net->second.embedding(ids); });
  embed(constant({1, 9}));
  net.reset();
  CHECK_THAT(message([&] {
               embed(constant({1, 10}));
             }),
             ContainsSubstring("Embedding") && !ContainsSubstring("(in net"));
}

TEST_CASE("layers that get another dtype say which cast") {
  const Net net;
  const layers::Conv2D conv(2, {1, 1});
  net.first.a(x), conv(ones({1, 4, 4, 2}));
  CHECK_THAT(message([&] {
               net.first.a(ones({2, 3}, float64));
             }),
             ContainsSubstring("cast(x, float32)") && ContainsSubstring("(in net/block/dense)"));
  CHECK_THAT(message([&] { net.first.a(ones({2, 3}, int32)); }), ContainsSubstring("cast(x, float32)"));
  CHECK_THAT(message([&] { net.first.a(ones({2, 3}, bfloat16)); }), ContainsSubstring("cast(x, float32)"));
  CHECK_THAT(message([&] { net.first.a(ones({2, 3}, float16)); }), ContainsSubstring("cast(x, float32)"));
  CHECK_THAT(message([&] { conv(ones({1, 4, 4, 2}, float64)); }), ContainsSubstring("cast(x, float32)"));
  CHECK_THAT(message([&] { layers::Dense(2)(ones({2, 3}, float64)); }), ContainsSubstring("cast(x, float32)"));
}

TEST_CASE("a traced function that layers share names the layer of each call, or none") {
  struct Calls : Model<Calls> {
    explicit Calls(std::function<Tensor(const Tensor&)> g) : f(std::move(g)) {}
    std::function<Tensor(const Tensor&)> f;
    Tensor operator()(const Tensor& ids) const {
      const InCall here(*this);
      return f(ids);
    }
  };
  struct Parts : Module {
    using Module::add_module;
  };
  const auto rows = function([](const Tensor& ids) { return gather(ones({10, 2}), ids); });
  const Calls first(rows), second(rows);
  const Calls loop(
      [&](const Tensor& ids) { return map_fn([](const Tensor& i) { return gather(ones({10}), i); }, ids); });
  const Parts net;
  net.add_module("first", first), net.add_module("second", second), net.add_module("loop", loop);
  const Tensor wrong = constant({1, 10});
  first(constant({1, 9}));  // traced in its call
  CHECK_THAT(message([&] { rows(wrong); }), ContainsSubstring("index 10") && !ContainsSubstring("(in "));
  CHECK_THAT(message([&] { first(wrong); }), ContainsSubstring("index 10") && ContainsSubstring("/first)"));
  CHECK_THAT(message([&] { second(wrong); }), ContainsSubstring("index 10") && ContainsSubstring("/second)"));
  for (const Calls* layer : {&second, &loop}) {  // within another trace
    const auto traced = function([&](const Tensor& ids) { return (*layer)(ids)*2.f; });
    traced(constant({1, 9}));
    CHECK_THAT(message([&] { traced(wrong); }),
               ContainsSubstring("index 10") && ContainsSubstring(layer == &loop ? "/loop)" : "/second)"));
    CHECK_THAT(message([&] { rows(wrong); }), !ContainsSubstring("(in "));
  }
}
