// Checkpoints that are restored before the model's first call.
#include <filesystem>
#include <random>

#include "tandem/tandem.hpp"
#include "tandem/train/checkpoint.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats;

namespace {

struct Net : Model<Net> {
  layers::Dense hidden{3, nn::relu}, out{1};
  Tensor operator()(const Tensor& x) const { return out(hidden(x)); }
};
const Tensor x = constant({{1.f, 2.f}, {-1.f, .5f}});

struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tandem_deferred_" + std::to_string(std::random_device()()))).string();
  ~File() { std::filesystem::remove(path); }
};
struct Run {
  Net net;
  optimizers::Adam adam{.1};
  train::Checkpoint checkpoint{{"net", net}, {"adam", adam}};
  void step() {
    adam.minimize([&] { return reduce_mean(square(net(x) - 1)); }, (net(x), net.trainable_variables()));
  }
};

}  // namespace

TEST_CASE("a checkpoint is restored before the first call, slots included") {
  const File file;
  Run a;
  a.step(), a.step();
  a.checkpoint.save(file.path);
  Run b;
  b.checkpoint.restore(file.path);
  CHECK(b.adam.iterations().item<i64>() == 2);
  CHECK(b.net.variables().empty());
  CHECK(floats(b.net(x)) == floats(a.net(x)));
  a.step(), b.step();
  CHECK(floats(b.net(x)) == floats(a.net(x)));
  a.step(), b.step();
  CHECK(floats(b.net(x)) == floats(a.net(x)));
}

TEST_CASE("a checkpoint of another model is refused, at the latest where a layer is built") {
  const File file;
  Run a;
  a.step();
  a.checkpoint.save(file.path);
  struct Other : Model<Other> {
    layers::Dense only{3};
  } other;
  CHECK_THROWS_WITH(train::Checkpoint({{"net", other}, {"adam", a.adam}}).restore(file.path),
                    ContainsSubstring("net/dense_1/kernel float32[3,1] is only in the file"));
  struct Wider : Model<Wider> {
    layers::Dense hidden{5}, out{1};
  } wider;
  optimizers::Adam adam;
  train::Checkpoint({{"net", wider}, {"adam", adam}}).restore(file.path);
  CHECK_THROWS_WITH(wider.hidden(x),
                    ContainsSubstring("'kernel' is float32[2,5], but the checkpoint has float32[2,3]"));
  CHECK(wider.variables().empty());
  struct NoBias : Model<NoBias> {
    layers::Dense hidden{3, {.use_bias = false}}, out{1};
  } no_bias;
  train::Checkpoint({{"net", no_bias}, {"adam", adam}}).restore(file.path);
  CHECK_THROWS_WITH(no_bias.hidden(x), ContainsSubstring("the checkpoint has 'bias' float32[3] for a dense"));
  const Net unbuilt;
  CHECK_THROWS_WITH(train::Checkpoint({{"net", unbuilt}}).save(file.path), ContainsSubstring("'net' has no Variables"));
}

TEST_CASE("a plain Module inside of a Model and a tied layer have the same names before the first call") {
  struct Block : Module {
    layers::Dense inner{2};
    Block() { add_module("inner", inner); }
    Tensor operator()(const Tensor& t) const { return inner(t); }
  };
  struct Nested : Model<Nested> {
    Block block;
    layers::Dense out{1}, again = out;
    Nested() { add_module("last", out); }
    Tensor operator()(const Tensor& t) const { return out(block(t)); }
  };
  const File file;
  const Nested a;
  const Tensor want = a(x);
  train::Checkpoint({{"net", a}}).save(file.path);
  const Nested b;
  train::Checkpoint({{"net", b}}).restore(file.path);
  CHECK(floats(b(x)) == floats(want));
  CHECK(b.variables().size() == 4);
}

TEST_CASE("Normalization takes its statistics from a checkpoint, without adapt()") {
  const File file;
  const layers::Normalization a, b, unfit;
  a.adapt(constant({{1.f, 2.f}, {3.f, 6.f}}));
  train::Checkpoint({{"norm", a}}).save(file.path);
  train::Checkpoint({{"norm", b}}).restore(file.path);
  CHECK(floats(b(x)) == floats(a(x)));
  CHECK(b.variables().size() == 2);
  train::Checkpoint({{"norm", unfit}}).restore(file.path);
  CHECK_THROWS_WITH(unfit(ones({1, 3})), ContainsSubstring("'mean'"));
  CHECK_THROWS_AS(layers::Normalization()(x), errors::FailedPreconditionError);
}
