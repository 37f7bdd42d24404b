// The optimizers of matrices: Adafactor and Muon against loops, eager and traced; their slots, row-sparse gradients,
// weight decay, errors.
#include <cmath>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace optim_matrix_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<double>;

// Calls each(step, gradient, weight) after each of four steps on sum(factor w^2), with what the step has read.
template <class F>
void walk(const Optimizer& optimizer, const Tensor& start, bool traced, const F& each) {
  const Variable w(start);
  const Tensor factor = testing::wave(start.shape(), 3, float64) + 2;
  const auto step = [&] { optimizer.minimize([&] { return reduce_sum(square(w) * factor); }, {w}); };
  const auto f = function([&] { step(); });
  for (int t = 1; t <= 4; ++t) {
    const Tensor g = w * factor * 2;
    if (traced) f();
    else step();
    each(t, g, w.read_value());
  }
}
void check_near(const Tensor& got, const Tensor& want) {
  CHECK(reduce_max(abs(got - want)).item<double>() < 1e-12 * reduce_max(abs(want)).item<double>());
}
double mean_square(const Tensor& x) { return reduce_mean(square(x)).item<double>(); }
std::vector<Shape> slots_of(const Optimizer& optimizer) {
  std::vector<Shape> r;
  for (const auto& n : optimizer.named_variables())
    if (n.weight.is_set()) r.push_back(n.variable.shape());
  return r;
}

TEST_CASE("Adafactor against a loop: matrices by rows and columns, vectors, eager and traced") {
  const double lr = .75, clip = .7;  // below 1 / sqrt(t) at first, above it later; u is clipped in some steps
  for (const bool traced : {false, true})
    for (const Shape& shape : {Shape{3, 4}, Shape{5}, Shape{2, 3, 2}}) {
      const Tensor start = testing::wave(shape, 1, float64);
      const optimizers::Adafactor adafactor({.learning_rate = lr, .clip_threshold = clip, .weight_decay = .125});
      Tensor w = start, r = zeros({}, float64), c = r;
      walk(adafactor, start, traced, [&](int t, const Tensor& g, const Tensor& got) {
        w = w - lr * .125 * w;
        const double beta = 1 - std::pow(t, -.8);
        const Tensor squares = square(g) + 1e-30;
        r = beta * r + (1 - beta) * (shape.rank() == 1 ? squares : reduce_mean(squares, -1));
        Tensor v = r;
        if (shape.rank() > 1) {
          c = beta * c + (1 - beta) * reduce_mean(squares, -2);
          v = expand_dims(r / reduce_mean(r, {.axis = -1, .keepdims = true}), -1) * expand_dims(c, -2);
        }
        const Tensor u = g / sqrt(v);
        const double rms = std::max(std::sqrt(mean_square(w)), 1e-3), by = std::sqrt(mean_square(u)) / clip;
        w = w - std::min(lr, 1 / std::sqrt(t)) * rms / std::max(1., by) * u;
        check_near(got, w);
        w = got;
      });
    }
}
TEST_CASE("Adafactor: a row and a column of the gradient without values") {
  const Tensor g = constant({{0.f, 0.f}, {0.f, 1.f}, {0.f, 2.f}});
  for (const float factor : {1.f, 1e8f}) {
    const Variable dense(ones({3, 2})), sparse(ones({3, 2}));
    optimizers::Adafactor(.1).apply_gradients({Gradient(g * factor)}, {dense});
    const IndexedSlices rows{g(Slice(1, 3)) * factor, constant({1, 2}), sparse};
    optimizers::Adafactor(.1).apply_gradients({Gradient(rows)}, {sparse});
    // The means are 0, 1/2, 2 of the rows and 5/3 of the column: v is 1 and 4, u is 1 in both rows.
    const std::vector<float> w = dense.to_vector<float>();
    for (const std::size_t i : {0, 1, 2, 4}) CHECK(w[i] == 1);
    CHECK(w[3] == Approx(.9));
    CHECK(w[5] == Approx(.9));
    CHECK(sparse.to_vector<float>() == w);
  }
}
TEST_CASE("Muon against a loop: wide and tall matrices, eager and traced; their size") {
  const double lr = .125;
  for (const bool traced : {false, true})
    for (const bool nesterov : {false, true})
      for (const Shape& shape : {Shape{3, 4}, Shape{5, 2}}) {
        const Tensor start = testing::wave(shape, 1, float64);
        const optimizers::Muon muon({.learning_rate = lr, .weight_decay = .25, .nesterov = nesterov});
        Tensor w = start, m = zeros(shape, float64);
        walk(muon, start, traced, [&](int, const Tensor& g, const Tensor& got) {
          w = w - lr * .25 * w;
          m = .95 * m + g;
          Tensor x = nesterov ? .95 * m + g : m;
          x = x / (std::sqrt(mean_square(x) * double(shape.size())) + 1e-7);
          for (int i = 0; i < 5; ++i) {  // from the other side than the optimizer for the tall one
            const Tensor gram = matmul(x, x, {.transpose_b = true});
            x = 3.4445 * x - 4.775 * matmul(gram, x) + 2.0315 * matmul(gram, matmul(gram, x));
          }
          w = w - lr * .2 * std::sqrt(double(std::max(shape[0], shape[1]))) * x;
          check_near(got, w);
          w = got;
        });
      }
  // Singular values of the update near to 1: its norm is about the root of the rank.
  const Variable w(zeros({4, 6}, float64));
  const optimizers::Muon plain({.learning_rate = 1, .rms_rate = std::nullopt});
  plain.apply_gradients({Gradient(testing::wave({4, 6}, 2, float64) * 100)}, {w});
  CHECK(reduce_euclidean_norm(w).item<double>() == Approx(2).epsilon(.3));
}
TEST_CASE("Muon: what AdamW updates") {
  const Tensor start = testing::wave({3, 2}, 1), g = testing::wave({3, 2}, 4);
  const Variable head(start), table(start, {.name = "embeddings"}), bias(start[0]), matrix(start);
  const optimizers::Muon muon({.learning_rate = .125, .exclude_variables = {head}, .adam_lr_ratio = .5});
  muon.apply_gradients({Gradient(g), Gradient(g), Gradient(g[0]), Gradient(g)}, {head, table, bias, matrix});
  // AdamW at half of the rate, with the decay of the whole one.
  const Variable whole(start), row(start[0]);
  optimizers::AdamW({.learning_rate = .0625, .weight_decay = .008})
      .apply_gradients({Gradient(g), Gradient(g[0])}, {whole, row});
  CHECK(head.to_vector<float>() == whole.to_vector<float>());
  CHECK(table.to_vector<float>() == whole.to_vector<float>());
  CHECK(bias.to_vector<float>() == row.to_vector<float>());
  CHECK(matrix.to_vector<float>() != whole.to_vector<float>());
  CHECK(slots_of(muon) == std::vector<Shape>{{3, 2}, {3, 2}, {3, 2}, {3, 2}, {2}, {2}, {3, 2}});
  const optimizers::Muon all({.exclude_embeddings = false});
  all.build({table});
  CHECK(slots_of(all).size() == 1);
}
TEST_CASE("Adafactor and Muon: row-sparse gradients are dense ones with zeros elsewhere") {
  const Tensor start = testing::wave({4, 3}, 1), rows = testing::wave({2, 3}, 5);
  const auto check = [&](const auto& make) {
    const Variable sparse(start), dense(start);
    const Gradient some = IndexedSlices{rows, constant({3, 1}), sparse};
    const Optimizer a = make(), b = make();
    for (int i = 0; i < 3; ++i) {
      a.apply_gradients({some}, {sparse});
      b.apply_gradients({Gradient(some.tensor())}, {dense});
    }
    CHECK(sparse.to_vector<float>() == dense.to_vector<float>());
    return sparse.read_value();
  };
  const Tensor moved = check([] { return optimizers::Adafactor(.1); });
  CHECK(moved[0].to_vector<float>() == start[0].to_vector<float>());
  CHECK(moved[1].to_vector<float>() != start[1].to_vector<float>());
  check([] { return optimizers::Muon(.1); });
  const Variable table(start, {.name = "embeddings"});
  const optimizers::Muon muon(.1);
  muon.apply_gradients({Gradient(IndexedSlices{rows, constant({3, 1}), table})}, {table});
  CHECK(table[0].to_vector<float>() == start[0].to_vector<float>());  // AdamW's rows alone
}
TEST_CASE("Adafactor and Muon: slots, weights without elements, decay, errors") {
  const Variable matrix(ones({4, 3})), vector(ones({5})), number(2.f), none_of(zeros({0, 3}));
  const optimizers::Adafactor adafactor;
  adafactor.build({matrix, vector, number});
  CHECK(slots_of(adafactor) == std::vector<Shape>{{4}, {3}, {5}, {}});
  CHECK(adafactor.named_variables()[2].path.find("r") != std::string::npos);
  for (const Optimizer& o : {Optimizer(adafactor), Optimizer(optimizers::Muon())}) {
    o.apply_gradients({Gradient(zeros({4, 3})), Gradient(zeros({0, 3}))}, {matrix, none_of});
    CHECK(reduce_all(is_finite(matrix)).item<bool>());
  }
  const Variable kept(ones({2, 2})), decayed(ones({2, 2}));
  const optimizers::Muon muon({.learning_rate = .5, .weight_decay = .5});
  muon.exclude_from_weight_decay({.var_list = {kept}});
  muon.apply_gradients({Gradient(zeros({2, 2})), Gradient(zeros({2, 2}))}, {kept, decayed});
  CHECK(kept.to_vector<float>() == std::vector<float>(4, 1));
  CHECK(decayed.to_vector<float>() == std::vector<float>(4, .75f));
  const Variable part(ones({2, 2}), {.name = "part", .aggregate = false});
  for (const Optimizer& o : {Optimizer(adafactor), Optimizer(muon)})
    CHECK_THROWS_WITH(o.apply_gradients({Gradient(ones({2, 2}))}, {part}),
                      ContainsSubstring("needs the whole of 'part'"));
  optimizers::Muon({.exclude_variables = {part}}).apply_gradients({Gradient(ones({2, 2}))}, {part});
  CHECK_THROWS_WITH(optimizers::Adafactor({.beta_2_decay = 1}), ContainsSubstring("beta_2_decay must not be negative"));
  CHECK_THROWS_WITH(optimizers::Adafactor({.epsilon_1 = 0}), ContainsSubstring("epsilon_1 must be positive"));
  CHECK_THROWS_WITH(optimizers::Adafactor({.clip_threshold = 0}), ContainsSubstring("clip_threshold"));
  CHECK_THROWS_WITH(optimizers::Muon({.momentum = 1}), ContainsSubstring("Muon: momentum must be in [0, 1)"));
  CHECK_THROWS_WITH(optimizers::Muon({.adam_lr_ratio = 0}), ContainsSubstring("adam_lr_ratio must be positive"));
  CHECK_THROWS_WITH(optimizers::Muon({.ns_steps = -1}), ContainsSubstring("ns_steps must not be negative"));
  CHECK_THROWS_WITH(optimizers::Muon({.rms_rate = 0}), ContainsSubstring("rms_rate must be positive"));
  CHECK(optimizers::Muon().settings().find("muon learning_rate=0.001") == 0);
  CHECK_THROWS_WITH(optimizers::Muon({.exclude_variables = {kept, Variable()}}),
                    ContainsSubstring("Muon: exclude_variables has an empty Variable"));
}
}  // namespace optim_matrix_test
