// ensure_shape and Tensor::set_shape: what they check at once, what a trace checks at each call, what they refine.
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/recorder.hpp"

using namespace tandem;
using errors::InvalidArgumentError;
using testing::Recorder;
using List = std::vector<Tensor>;

TEST_CASE("ensure_shape: in a trace it refines open dims and checks at each call") {
  Recorder recorder;
  recorder.trace({TensorSpec({none, 128}, float32)}, [](const List& in) -> List {
    const Tensor x = ensure_shape(in[0], {32, none});
    CHECK(x.shape() == Shape{32, 128});
    CHECK(ensure_shape(in[0], {none, none}).shape() == Shape{none, 128});
    CHECK_THROWS_AS(ensure_shape(in[0], {32, 129}), InvalidArgumentError);
    CHECK_THROWS_AS(ensure_shape(in[0], {32}), InvalidArgumentError);
    return {x * 2};
  });
  CHECK(recorder.replay({ones({32, 128})})[0].shape() == Shape{32, 128});
  CHECK_THROWS_AS(recorder.replay({ones({31, 128})}), InvalidArgumentError);
  CHECK_THROWS_WITH(recorder.replay({ones({31, 128})}), ContainsSubstring("ensure_shape") &&
                                                            ContainsSubstring("[31,128]") &&
                                                            ContainsSubstring("(32, None)"));
}

TEST_CASE("ensure_shape: gradients pass") {
  const Tensor x = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = square(ensure_shape(x, {none}));
  CHECK(tape.gradient(y, x).to_vector<float>() == std::vector<float>{2, 4});
}

TEST_CASE("set_shape: a value that exists is only checked") {
  Tensor x = ones({2, 3});
  const Tensor same = x;
  x.set_shape({none, 3});
  x.set_shape({2, 3});
  CHECK(x.is_same(same));  // a tape that watches it still does
  CHECK_THROWS_AS(x.set_shape({2, 4}), InvalidArgumentError);
  CHECK_THROWS_WITH(x.set_shape({none}), ContainsSubstring("set_shape") && ContainsSubstring("float32[2,3]") &&
                                             ContainsSubstring("(None,)"));
  CHECK(x.is_same(same));
  CHECK_THROWS_AS(Tensor().set_shape({2}), errors::FailedPreconditionError);
}

TEST_CASE("set_shape: in a trace it refines this handle, and each call checks it though nothing uses it") {
  Recorder recorder;
  recorder.trace({TensorSpec({none, none}, float32)}, [](const List& in) -> List {
    Tensor x = in[0];
    x.set_shape({none, none});
    CHECK(x.is_same(in[0]));  // nothing new was said
    x.set_shape({none, 3});
    x.set_shape({2, none});
    CHECK(x.shape() == Shape{2, 3});
    CHECK(in[0].shape() == Shape{none, none});
    CHECK_THROWS_AS(x.set_shape({2, 4}), InvalidArgumentError);
    CHECK(x.shape() == Shape{2, 3});
    return {};
  });
  CHECK(recorder.staged(ensure_shape_op) == 2);
  CHECK(ensure_shape_op.flags.stateful);  // so that no pass may drop it
  recorder.replay({ones({2, 3})});
  CHECK_THROWS_WITH(recorder.replay({ones({2, 4})}), ContainsSubstring("[2,4]") && ContainsSubstring("(None, 3)"));
  CHECK_THROWS_WITH(recorder.replay({ones({1, 3})}), ContainsSubstring("[1,3]") && ContainsSubstring("(2, "));
}
