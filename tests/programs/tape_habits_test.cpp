// tape.gradient and apply_gradients as TensorFlow users write them: lists in braces, destructured results, minimize.
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::floats, testing::Floats;

TEST_CASE("gradients of a list in braces destructure and are applied") {
  const Variable w(2.f), b(constant({1.f, 2.f}));
  const optimizers::SGD sgd(0.5);
  const Tensor x = constant({3.f, 4.f});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor loss = reduce_sum(w * x + b);

  const auto [dw, db] = tape.gradient(loss, {w, b});
  CHECK(dw.item<float>() == 7);
  CHECK(db.to_vector<float>() == Floats{1, 1});
  CHECK(db.shape() == Shape{2});
  CHECK(floats(dw * 2.f) == Floats{14});

  const auto g = tape.gradient(loss, {w, b});
  sgd.apply_gradients(g, {w, b});
  CHECK(w.item<float>() == -1.5f);
  CHECK(floats(b) == Floats{0.5f, 1.5f});
  sgd.apply_gradients({dw, db}, {w, b});
  CHECK(w.item<float>() == -5);
  sgd.apply_gradients(tape.gradient(loss, {b}), {b});
  CHECK(floats(b) == Floats{-0.5f, 0.5f});

  const auto [gw, gx] = tape.gradient(loss, {w, x});
  CHECK(gw.item<float>() == 7);
  CHECK(gx.to_vector<float>() == Floats{2, 2});
  const std::vector<Tensor> tensors = tape.gradient(loss, {x, w});
  CHECK(floats(tensors[0]) == Floats{2, 2});
  static_assert(std::same_as<decltype(tape.gradient(loss, w)), Tensor>);
  static_assert(std::same_as<decltype(tape.gradient(loss, {w})), Gradients<1>>);
}

TEST_CASE("gradients of vectors, whose lengths are known at run time") {
  const Variable w(2.f), b(1.f);
  const std::vector<Variable> variables{w, b};
  const optimizers::SGD sgd(0.5);
  GradientTape tape({.persistent = true});
  const Tensor x = w * 3.f, loss = x * x + b;
  sgd.apply_gradients(tape.gradient(loss, variables), variables);
  CHECK(w.item<float>() == -16);
  CHECK(floats(tape.gradient(loss, std::vector<Tensor>{x})[0]) == Floats{12});
  const std::vector<Tensor> dense = tape.gradient(loss, {w, b});
  sgd.apply_gradients(dense, variables);
  CHECK(w.item<float>() == -34);
  CHECK_THROWS_AS(sgd.apply_gradients({dense[0]}, {w, b}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(sgd.apply_gradients(tape.gradient(loss, {w, b}), std::vector<Variable>{w}),
                  errors::InvalidArgumentError);
}

TEST_CASE("row-sparse gradients of a list stay so until they are read") {
  const Variable table(ones({4, 2})), w(2.f);
  GradientTape tape;
  const auto [dt, dw] = tape.gradient(reduce_sum(gather(table, constant({1, 1})) * w), {table, w});
  CHECK(dt.is_sparse());
  CHECK(dt.shape() == Shape{4, 2});
  CHECK(dt.dtype() == float32);
  CHECK(dt.to_vector<float>() == Floats{0, 0, 4, 4, 0, 0, 0, 0});
  CHECK(dw.item<float>() == 4);
}

TEST_CASE("a gradient of a list without a path says why when it is read") {
  const Variable w(2.f), unused(1.f);
  GradientTape tape;
  const auto [dw, du] = tape.gradient(w * 2.f, {w, unused});
  CHECK(dw.item<float>() == 2);
  CHECK_FALSE(du.is_set());
  CHECK_THROWS_WITH(du.item<float>(), ContainsSubstring("no path from"));
}

TEST_CASE("minimize makes steps, eager and traced") {
  const auto train = [](bool traced) {
    const Variable w(0.f), b(0.f);
    const optimizers::SGD sgd(0.1);
    const Tensor x = constant({0.f, 1.f, 2.f});
    const auto loss = [&] { return reduce_mean(square(w * x + b - (2.f * x + 1.f))); };
    const auto step = function([&] { return sgd.minimize(loss, {w, b}); });
    Floats losses;
    for (int i = 0; i < 200; ++i)
      losses.push_back((traced ? step() : sgd.minimize(loss, {w, b})).template item<float>());
    CHECK(losses.back() < 1e-3f * losses.front());
    CHECK(std::abs(w.item<float>() - 2) < 0.05f);
    return losses;
  };
  CHECK(train(false) == train(true));
}

TEST_CASE("an empty list of Variables is refused: the model has not been built") {
  const layers::Dense net(2);
  const optimizers::Adam adam(0.1);
  const std::vector<Variable> weights = net.trainable_variables();
  GradientTape tape;
  const Tensor loss = reduce_sum(net(ones({1, 3})));
  CHECK_THROWS_WITH(adam.apply_gradients(tape.gradient(loss, weights), weights),
                    ContainsSubstring("no variables") && ContainsSubstring("build()"));
  CHECK(adam.iterations().item<i64>() == 0);
}

TEST_CASE("habit: a traced function returns gradients as the tape gives them") {
  const Variable w(constant({1.f, 2.f})), table(ones({4, 2}));
  const auto pair = function([&](const Tensor& x) {
    GradientTape tape;
    return tape.gradient(reduce_sum(w * w * x), {w, w});
  });
  const auto [first, second] = pair(constant({3.f, 5.f}));
  CHECK(floats(first) == Floats{6, 20});
  CHECK(floats(second) == Floats{6, 20});
  const auto all = function([&](const Tensor& x) {
    GradientTape tape;
    const Tensor loss = reduce_sum(nn::embedding_lookup(table, cast(x, int32)) * w);
    return tape.gradient(loss, std::vector<Variable>{w, table});
  });
  for (int round = 0; round < 2; ++round) {
    const std::vector<Gradient> g = all(constant({1.f, 3.f}));
    CHECK(floats(g[0]) == Floats{2, 2});
    CHECK_FALSE(g[1].is_sparse());
    CHECK(floats(g[1]) == Floats{0, 0, 1, 2, 0, 0, 1, 2});
  }
  const auto chosen = function([&](const Tensor& x) {
    const auto slope = [&](const Tensor& by) {
      GradientTape tape;
      return tape.gradient(reduce_sum(nn::embedding_lookup(table, constant({2})) * by), {table})[0];
    };
    return cond(
        reduce_sum(x) > 0, [&] { return slope(x); }, [&] { return slope(-2 * x); });
  });
  CHECK(floats(chosen(constant(3.f))) == Floats{0, 0, 0, 0, 3, 3, 0, 0});
  CHECK(floats(chosen(constant(-3.f))) == Floats{0, 0, 0, 0, 6, 6, 0, 0});
}
