// Optimizers on f(w) = w^2 against the values of their formulas, sparse updates, errors, clipping.
#include "tandem/optim/optimizer.hpp"

#include <cmath>
#include <limits>

#include "tandem/autodiff/tape.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/clip.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

// w after steps 1 to 5 from 1 with g = 2 w, in float64.
std::vector<double> walk(const Optimizer& optimizer) {
  const Variable w(constant(std::vector<double>{1}));
  std::vector<double> path;
  for (int i = 0; i < 5; ++i) {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(w));
    optimizer.apply_gradients(tape.gradient(loss, std::vector<Variable>{w}), {w});
    path.push_back(w.item<double>());
  }
  return path;
}
void check_path(const Optimizer& optimizer, const std::vector<double>& want) {
  const std::vector<double> got = walk(optimizer);
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO("step " << i + 1);
    CHECK(std::fabs(got[i] - want[i]) < 2e-8);
  }
}
Variable table(i64 rows) { return Variable(ones({rows, 3}), {.name = "table"}); }
Gradient rows_of(const Variable& t, const std::vector<i64>& rows, float value) {
  const auto n = static_cast<i64>(rows.size());
  return IndexedSlices{full_like(zeros({n, 3}), value), constant(rows), t};
}

}  // namespace

TEST_CASE("five steps on w^2") {
  // The learning rate is a float32 Variable: 0.1 as the formulas have it is 0.1f here, hence powers of two where exact.
  using namespace optimizers;
  const double lr = .1;
  check_path(SGD({.learning_rate = lr}), {.8, .64, .512, .4096, .32768});
  check_path(SGD({.learning_rate = lr, .momentum = .9}), {.8, .46, .062, -.3086, -.58042});
  check_path(SGD({.learning_rate = lr, .momentum = .9, .nesterov = true}),
             {.62, .2224, -.108352, -.32482304, -.41571758});
  check_path(RMSprop({.learning_rate = lr}), {.68377227, .49887066, .36918060, .27282494, .19979520});
  check_path(RMSprop({.learning_rate = lr, .momentum = .9}),
             {.68377227, .21426570, -.26825664, -.62575630, -.78542035});
  check_path(RMSprop({.learning_rate = lr, .centered = true}), {.66666671, .46556773, .32356946, .22042609, .14637463});
  check_path(Adam({.learning_rate = lr}), {.90000016, .80041250, .70158664, .60393952, .50796419});
}

TEST_CASE("the step count and the learning rate are Variables") {
  const optimizers::Adam adam({.learning_rate = .5});
  const Variable w(constant({1.f, 2.f}));
  CHECK(adam.iterations().item<i64>() == 0);
  adam.apply_gradients({Gradient(constant({1.f, 1.f}))}, {w});
  CHECK(adam.iterations().item<i64>() == 1);
  const float before = w.to_vector<float>()[0];
  adam.learning_rate().assign(constant(0.f));
  adam.apply_gradients({Gradient(constant({1.f, 1.f}))}, {w});
  CHECK(w.to_vector<float>()[0] == before);
  CHECK(adam.named_variables().size() == 4);  // learning_rate, iterations, m, v
}

TEST_CASE("a row-sparse step changes its rows alone, equal rows add up") {
  for (const bool momentum : {false, true}) {
    const optimizers::SGD sgd({.learning_rate = .5, .momentum = momentum ? .5 : 0});
    const Variable t = table(5);
    sgd.apply_gradients({rows_of(t, {3, 1, 3}, 1)}, {t});
    const std::vector<float> v = t.to_vector<float>();
    for (std::size_t r = 0; r < 5; ++r)
      for (std::size_t c = 0; c < 3; ++c) CHECK(v[r * 3 + c] == (r == 3 ? 0.f : r == 1 ? .5f : 1.f));
  }
  // The same numbers as the dense form where every row occurs.
  const Variable a = table(2), b = table(2);
  const optimizers::Adam sparse({.learning_rate = .1}), dense({.learning_rate = .1});
  for (int i = 0; i < 3; ++i) {
    sparse.apply_gradients({rows_of(a, {1, 0}, 2)}, {a});
    dense.apply_gradients({Gradient(full_like(zeros({2, 3}), 2))}, {b});
  }
  CHECK(a.to_vector<float>() == b.to_vector<float>());
}

TEST_CASE("equal rows of a sparse gradient: the error of the sum does not grow with their number") {
  for (const DType d : {float32, bfloat16}) {
    const Variable t(zeros({5, 3}, {.dtype = d}));
    std::vector<i64> rows(1'000'000, 3);
    rows[5] = 1;
    const Tensor values = cast(full_like(zeros({1'000'000, 3}), .1f), d);
    optimizers::SGD({.learning_rate = 1}).apply_gradients({IndexedSlices{values, constant(rows), t}}, {t});
    const double each = cast(values, float64).to_vector<double>()[0], bound = d == float32 ? 1e-6 : 1. / 256;
    const std::vector<double> v = cast(t, float64).to_vector<double>();
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(v[3 * 3 + c] == Approx(-999'999 * each).epsilon(bound));
      CHECK(v[1 * 3 + c] == Approx(-each).epsilon(bound));
    }
  }
}

TEST_CASE("embedding gradients stay sparse from the tape to the update") {
  const layers::Embedding embedding(1000, 4);
  const Variable t = embedding.variables()[0];
  const std::vector<float> before = t.to_vector<float>();
  GradientTape tape;
  const Tensor loss = reduce_sum(square(embedding(constant({{7, 9}, {7, 3}}))));
  const std::vector<Gradient> g = tape.gradient(loss, std::vector<Variable>{t});
  REQUIRE(g[0].is_sparse());
  CHECK(g[0].slices().values.shape() == Shape{4, 4});
  optimizers::SGD({.learning_rate = .1}).apply_gradients(g, {t});
  const std::vector<float> after = t.to_vector<float>();
  for (std::size_t r = 0; r < 1000; ++r)
    for (std::size_t c = 0; c < 4; ++c) {
      const bool used = r == 7 || r == 9 || r == 3;
      CHECK((after[r * 4 + c] != before[r * 4 + c]) == used);
    }
}

TEST_CASE("optimizers: many Variables at once have the numbers that they have alone") {
  const auto wave = [](i64 n, float phase) { return sin(range(static_cast<float>(n)) * 1.7f + phase); };
  const int threads = config::intra_op_parallelism_threads();
  const auto trained = [&](bool together, bool twice) {
    const optimizers::Adam adam({.learning_rate = .1});
    std::vector<Variable> v;
    std::vector<Gradient> g;
    for (const i64 n : {i64{40000}, i64{3}, i64{0}, i64{65}, i64{20001}}) {
      v.emplace_back(wave(n, 0));
      g.emplace_back(wave(n, 1));
    }
    v.emplace_back(table(7));
    g.emplace_back(rows_of(v.back(), {1, 3}, 2));
    v.emplace_back(cast(wave(5, 0), float64));
    g.emplace_back(cast(wave(5, 2), float64));
    if (twice) v[4] = v[0], g[4] = g[0];
    g.emplace_back(Gradient());
    v.push_back(v[1]);
    config::set_intra_op_parallelism_threads(together ? 3 : 1);
    for (int i = 0; i < 3; ++i) adam.apply_gradients(g, v);
    config::set_intra_op_parallelism_threads(threads);
    std::vector<std::vector<double>> values;
    for (const Variable& x : v) values.push_back(cast(x, float64).to_vector<double>());
    return values;
  };
  for (const bool twice : {false, true}) CHECK(trained(true, twice) == trained(false, twice));
}

TEST_CASE("optimizers: without any gradient the first three say why") {
  const Variable a(1.f, {.name = "a"}), b(2.f, {.name = "b", .trainable = false}), c(3.f, {.name = "c"}),
      d(4.f, {.name = "d"});
  const Tensor before = square(a);
  std::string text;
  try {
    optimizers::SGD(.1).minimize([&] { return before + b + cast(cast(c, int32), float32); }, {a, b, c, d});
  } catch (const errors::InvalidArgumentError& e) {
    text = e.what();
  }
  CHECK_THAT(text, ContainsSubstring("no gradients for any variable: a, b, c, d\n"));
  CHECK_THAT(text,
             ContainsSubstring("\n  a: no gradient: no path from variable 'a' to the target: the tape has not seen"));
  CHECK_THAT(text,
             ContainsSubstring("\n  b: no gradient: no path from variable 'b' to the target: it is not trainable"));
  CHECK_THAT(text, ContainsSubstring("\n  c: no gradient: the path from variable 'c'") &&
                       ContainsSubstring("non-differentiable op Cast"));
  CHECK_THAT(text, !ContainsSubstring("\n  d:"));
}

TEST_CASE("optimizers: bad input changes nothing") {
  const optimizers::SGD sgd;
  const Variable w(constant({1.f, 2.f}), {.name = "w"}), b(constant(3.f), {.name = "b"});
  CHECK_THROWS_WITH(sgd.apply_gradients({Gradient(), Gradient()}, {w, b}),
                    ContainsSubstring("no gradients for any variable: w, b"));
  CHECK_THROWS_AS(sgd.apply_gradients({Gradient(constant(1.f))}, {w, b}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(sgd.apply_gradients({Gradient(constant({1.f, 2.f, 3.f}))}, {w}),
                    ContainsSubstring("variable 'w' is float32[2]"));
  const Variable t = table(4);
  CHECK_THROWS_WITH(sgd.apply_gradients({rows_of(t, {1, 4}, 1)}, {t}), ContainsSubstring("index 4 at position 1"));
  CHECK(t.to_vector<float>() == std::vector<float>(12, 1));
  sgd.apply_gradients({Gradient(), Gradient(constant(1.f))}, {w, b});  // one unset is skipped
  CHECK(b.item<float>() == 3 - .01f);
  CHECK_THROWS_AS(optimizers::SGD({.momentum = 1.5}), errors::InvalidArgumentError);
}

TEST_CASE("clipping") {
  CHECK(clip_by_norm(constant({3.f, 4.f}), 2.5).to_vector<float>() == std::vector<float>{1.5, 2});
  CHECK(clip_by_norm(constant({3.f, 4.f}), 10).to_vector<float>() == std::vector<float>{3, 4});
  CHECK(clip_by_norm(zeros({2}), 1).to_vector<float>() == std::vector<float>{0, 0});
  const std::vector<Gradient> g{Gradient(constant({3.f, 4.f})), Gradient(), Gradient(constant({12.f}))};
  const ClippedGradients c = clip_by_global_norm(g, 6.5);
  CHECK(c.norm.item<float>() == 13);
  CHECK(c.gradients[0].tensor().to_vector<float>() == std::vector<float>{1.5, 2});
  CHECK(!c.gradients[1].is_set());
  CHECK(c.gradients[2].tensor().item<float>() == 6);
  const float inf = std::numeric_limits<float>::infinity();
  const ClippedGradients bad = clip_by_global_norm({Gradient(constant(std::vector<float>{1, inf}))}, 1);
  for (float x : bad.gradients[0].tensor().to_vector<float>()) CHECK(std::isnan(x));
  const std::vector<Gradient> v = clip_by_value({Gradient(constant({-5.f, .5f, 5.f}))}, -1, 1);
  CHECK(v[0].tensor().to_vector<float>() == std::vector<float>{-1, .5, 1});
  CHECK_THROWS_AS(clip_by_norm(constant({1.f}), 0), errors::InvalidArgumentError);
}

TEST_CASE("a step that raises is not counted, eager and traced") {
  for (const bool traced : {false, true}) {
    INFO((traced ? "traced" : "eager"));
    const Variable w(constant({1.f, 2.f})), t = table(4);
    const optimizers::Adam adam({.learning_rate = .5});
    const auto step = [&](const Tensor& rows) {
      adam.apply_gradients({Gradient(constant({1.f, 1.f})), Gradient(IndexedSlices{ones({1, 3}), rows, t})}, {w, t});
    };
    const auto traced_step = function(step);
    const auto run = [&](i64 row) { traced ? traced_step(constant({row})) : step(constant({row})); };
    run(1);
    CHECK(adam.iterations().item<i64>() == 1);
    const std::vector<float> before = w.to_vector<float>(), rows = t.to_vector<float>();
    CHECK_THROWS_AS(run(4), errors::OpError);  // there is no such row
    CHECK(adam.iterations().item<i64>() == 1);
    CHECK(w.to_vector<float>() != before);  // the update before the one that raised
    CHECK(t.to_vector<float>() == rows);
    run(1);
    CHECK(adam.iterations().item<i64>() == 2);
  }
}
