// Models whose members register themselves: names, copies, clones, freezing, weights as lists.
#include "tandem/module/model.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats;

namespace {

using Names = std::vector<std::string>;

Names names(const Module& m) {
  Names r;
  for (const Module::Named& n : m.named_variables()) r.push_back(n.path);
  return r;
}
// A Dense layer that has its Variables, kernel [n, units].
layers::Dense built(i64 units, i64 n = 2) {
  layers::Dense d(units, {.use_bias = false});
  d.build(n);
  return d;
}

struct Net : Model<Net> {
  layers::Dense hidden{3, nn::relu}, out{1};
  Tensor operator()(const Tensor& x) const { return out(hidden(x)); }
};
struct TwoBlocks : Model<TwoBlocks> {
  Net first, second;
  layers::LSTM lstm{2};
  Tensor operator()(const Tensor& x) const { return first(x) + second(x); }
};
struct Pieces : Model<Pieces> {
  layers::Dense a = built(8), b = built(1);
  std::array<layers::Dense, 2> pair{built(2), built(3)};
  std::optional<layers::Dense> maybe;
};
template <class T>
struct Holding : Model<Holding<T>> {
  layers::Dense d = built(1);
};
const Names of_pieces{"dense/kernel", "dense_1/kernel", "dense_2/kernel", "dense_3/kernel"};
const Tensor x = constant({{1.f, 2.f}, {-1.f, .5f}});

}  // namespace

TEST_CASE("members are named by their classes, in the order of their declaration") {
  TwoBlocks net;
  CHECK(net.variables().empty());
  net(x);
  CHECK(names(net) == Names{"net/dense/kernel", "net/dense/bias", "net/dense_1/kernel", "net/dense_1/bias",
                            "net_1/dense/kernel", "net_1/dense/bias", "net_1/dense_1/kernel", "net_1/dense_1/bias"});
  net.lstm(zeros({1, 2, 3}));
  CHECK(names(net).back() == "lstm/cell_0/bias");
  CHECK(names(net.second).front() == "dense/kernel");
}

TEST_CASE("members are found wherever the object stands") {
  Pieces net;
  const layers::Dense stray = built(99);
  CHECK(names(net) == of_pieces);
  const Pieces copy = net;
  CHECK(names(copy) == of_pieces);
  CHECK(copy.variables()[0].is_same(net.variables()[0]));
  std::vector<Pieces> many;
  for (int i = 0; i < 20; ++i) many.push_back(net);  // moved as the vector grows
  CHECK(names(many[7]) == of_pieces);
  const Pieces moved = std::move(net);
  CHECK(names(moved) == of_pieces);
  auto heap = std::make_unique<Pieces>(copy);
  CHECK(names(*heap) == of_pieces);
  heap->maybe.emplace(built(77));
  CHECK(names(*heap).back() == "dense_4/kernel");
  heap->b = built(55);
  CHECK(heap->variables()[1].shape() == Shape{2, 55});
  CHECK(copy.variables()[1].shape() == Shape{2, 1});
}

TEST_CASE("a plain Module that is copied from a Model keeps its members") {
  const Pieces net;
  const Module plain = net;
  CHECK(names(plain) == of_pieces);
  struct Open : Module {
    using Module::add_module;
  } outer;
  {
    TwoBlocks inner;
    inner(x);
    outer.add_module("inner", inner);
  }
  CHECK(names(outer)[4] == "inner/net_1/dense/kernel");
  Module assigned, of_model;
  assigned = plain, of_model = net;
  CHECK(names(assigned) == of_pieces);
  CHECK(names(of_model) == of_pieces);
}

TEST_CASE("members that share a state are listed once, and add_module gives another name") {
  struct Tied : Model<Tied> {
    layers::Dense a = built(4), b{a};
  };
  CHECK(names(Tied()) == Names{"dense/kernel"});
  struct Renamed : Model<Renamed> {
    layers::Dense a = built(4), encoder = built(2);
    std::vector<layers::Dense> list{built(5)};
    Renamed() { add_module("encoder", encoder), add_module("list_0", list[0]); }
  };
  CHECK(names(Renamed()) == Names{"encoder/kernel", "list_0/kernel", "dense/kernel"});
  struct Whole : Module {  // not a Model, with a layer of its own inside
    layers::Dense d = built(4);
    Whole() { add_module("d", d); }
  };
  struct Around : Model<Around> {
    Whole whole;
    layers::Dense last = built(1);
  };
  CHECK(names(Around()) == Names{"module/d/kernel", "dense/kernel"});
}

TEST_CASE("a clone has Variables of its own with the same values") {
  TwoBlocks net;
  net(x);
  net.lstm(zeros({1, 2, 3}));
  const TwoBlocks clone = net.clone();
  CHECK(names(clone) == names(net));
  CHECK(floats(clone(x)) == floats(net(x)));
  const std::vector<Variable> old = net.variables(), fresh = clone.variables();
  for (std::size_t i = 0; i < old.size(); ++i) CHECK_FALSE(fresh[i].is_same(old[i]));
  const Floats before = floats(clone(x));
  for (const Variable& v : old) v.assign_add(1);
  CHECK(floats(clone(x)) == before);
  CHECK(floats(net(x)) != before);
  const Tensor sequence = ones({1, 2, 3});
  CHECK(floats(clone.lstm(sequence)) != floats(net.lstm(sequence)));
  net.set_weights(clone.get_weights());
  CHECK(floats(net.lstm(sequence)) == floats(clone.lstm(sequence)));
}

TEST_CASE("a clone of what is not built, tied or in a vector") {
  const Net lazy;
  const Net clone = lazy.clone();
  lazy(x);
  CHECK(clone.variables().empty());
  clone(constant({{1.f, 2.f, 3.f}}));  // another width
  CHECK(clone.hidden.variables()[0].shape() == Shape{3, 3});
  struct Tied : Model<Tied> {
    layers::Dense a = built(2), b{a};
    std::vector<layers::Dense> list{built(5)};
    Tied() { add_module("list_0", list[0]); }
  };
  Tied tied;
  Tied copy = tied.clone();
  copy.a.variables()[0].assign(1);
  CHECK(floats(copy.b(x)) == Floats{3, 3, -.5f, -.5f});
  copy.list[0].variables()[0].assign(2);
  CHECK(floats(copy.variables_by_name("list_0/kernel")[0])[0] == 2);
  CHECK(floats(tied.list[0].variables()[0])[0] != 2);
}

TEST_CASE("clone refuses what may keep handles on its Variables") {
  struct Scaled : Model<Scaled> {
    layers::Dense d = built(2);
    Variable scale = add_variable("scale", constant(2.f));
  };
  CHECK_THROWS_WITH(Scaled().clone(), ContainsSubstring("scaled") && ContainsSubstring("'scale'"));
  struct Training : Model<Training> {
    Net net;
    optimizers::Adam adam;
  };
  CHECK_THROWS_AS(Training().clone(), errors::FailedPreconditionError);
  CHECK(names(Training()) == Names{"adam/learning_rate", "adam/iterations"});
}

TEST_CASE("a frozen module is not trained, and its tied Variables are where another module has them") {
  TwoBlocks net;
  net.first.set_trainable(false);  // before it has Variables
  net(x);
  CHECK(net.variables().size() == 8);
  CHECK(net.trainable_variables().size() == 4);
  CHECK(net.trainable_variables()[0].is_same(net.second.variables()[0]));
  CHECK(net.count_params() == net.second.count_params());
  CHECK(net.first.trainable_variables().empty());
  net.first.set_trainable(true);
  CHECK(net.trainable_variables().size() == 8);
  net.set_trainable(false);
  CHECK(net.trainable_variables().empty());
  CHECK(net.second.trainable_variables().size() == 4);  // asked for by itself
}

TEST_CASE("weights are set as a whole or not at all") {
  Net net;
  CHECK_THROWS_WITH(net.set_weights({x}), ContainsSubstring("call the model"));
  net(x);
  std::vector<Tensor> weights = net.get_weights();
  REQUIRE(weights.size() == 4);
  const Floats before = floats(net(x));
  weights[0] = zeros({2, 3});
  weights[3] = zeros({2});
  CHECK_THROWS_WITH(net.set_weights(weights),
                    ContainsSubstring("'dense_1/bias' is float32[1]") && ContainsSubstring("value 3 is float32[2]"));
  CHECK(floats(net(x)) == before);
  weights[3] = ones({1});
  net.set_weights(weights);
  CHECK(floats(net(x)) == Floats{1, 1});
  weights.pop_back();
  CHECK_THROWS_WITH(net.set_weights(weights), ContainsSubstring("3 values for 4"));
}

TEST_CASE("models are made, copied and listed on several threads at once") {
  const Pieces shared;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const Pieces mine, copy = shared;
        wrong += names(mine) != of_pieces || names(copy) != of_pieces || names(shared.clone()) != of_pieces;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("a Model with another base class before it ends where its object ends") {
  struct Interface {
    virtual ~Interface() = default;
    double numbers[16] = {};
  };
  struct Net : Interface, Model<Net> {
    layers::Dense inside{2};
  };
  struct Pair {
    Net net;
    layers::Dense behind{3};
  };
  const Pair pair;
  pair.net.inside(ones({1, 2}));
  pair.behind(ones({1, 2}));
  CHECK(pair.net.variables().size() == 2);
  CHECK(pair.behind.path_in_model().empty());
}

TEST_CASE("Variables that are made in the bytes of a Model are its own") {
  struct Scaled : Model<Scaled> {
    layers::Dense dense = built(1);
    Variable scale{1.f, {.name = "scale"}};
    std::array<Variable, 2> pair{Variable(2.f), Variable(3.f, {.trainable = false})};
    Variable added = add_variable("added", constant(4.f));
    Variable empty;
    Tensor operator()(const Tensor& t) const { return dense(t) * scale; }
  };
  const Scaled net;
  CHECK(names(net) == Names{"scale", "variable", "variable_1", "added", "dense/kernel"});
  CHECK(net.trainable_variables().size() == 4);
  struct Outer : Model<Outer> {
    Scaled inner;
    Variable bias{0.f};
  };
  const Outer outer;
  CHECK(names(outer) == Names{"variable", "scaled/scale", "scaled/variable", "scaled/variable_1", "scaled/added",
                              "scaled/dense/kernel"});
  const Scaled copy = net;  // shares them
  CHECK(copy.variables()[0].is_same(net.scale));
  CHECK_THROWS_AS(net.clone(), errors::FailedPreconditionError);
  struct Named : Model<Named> {
    Variable w{1.f}, v{2.f};
    Named() { add_variables({{.path = "weight", .variable = w}}); }
  };
  CHECK(names(Named()) == Names{"weight", "variable_1"});
  struct Same : Model<Same> {
    Variable w{1.f, {.name = "weight"}}, path{2.f, {.name = "a/b"}};
    Same() { add_variables({{.path = "weight", .variable = w}}); }
  };
  CHECK(names(Same()) == Names{"weight", "a_b"});
  struct Again : Model<Again> {
    std::optional<Variable> w;
  };
  Again again;
  for (int i = 0; i < 3; ++i) again.w.emplace(float(i));
  CHECK(names(again) == Names{"variable"});
  CHECK(again.variables()[0].is_same(*again.w));
  // Where a Model has ended, there is none; nor is one made that is moved or assigned to a member.
  struct Late : Model<Late> {
    Variable w;
    Late() { w = Variable(1.f); }
  };
  CHECK(Late().variables().empty());
  const Variable alone(1.f);
  CHECK(alone.is_set());
}

TEST_CASE("a member Variable is trained like a weight of a layer") {
  struct Line : Model<Line> {
    Variable w{0.f}, b{0.f};
    Tensor operator()(const Tensor& t) const { return w * t + b; }
  };
  const Line line;
  const optimizers::SGD sgd(0.1);
  const Tensor t = constant({-1.f, 0.f, 1.f, 2.f});
  for (int i = 0; i < 200; ++i)
    sgd.minimize([&] { return reduce_mean(square(line(t) - (3.f * t - 1.f))); }, line.trainable_variables());
  CHECK(line.w.item<float>() == Approx(3).margin(1e-3));
  CHECK(line.b.item<float>() == Approx(-1).margin(1e-3));
}

TEST_CASE("names of Models: in functions, in lambdas, of templates") {
  struct Local : Model<Local> {
    layers::Dense d = built(1);
  };
  const auto of_lambda = [] {
    struct LambdaNet : Model<LambdaNet> {
      layers::Dense d = built(1);
    };
    struct Both : Model<Both> {
      LambdaNet net;
    };
    return names(Both());
  };
  struct Outer : Model<Outer> {
    Local local;
    Holding<std::pair<int, std::vector<Local>>> holding;
  };
  CHECK(of_lambda() == Names{"lambda_net/dense/kernel"});
  CHECK(names(Outer()) == Names{"local/dense/kernel", "holding/dense/kernel"});
}
