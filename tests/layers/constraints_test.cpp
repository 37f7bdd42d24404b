// Constraints: Keras' formulas against loops in double precision, when optimizers apply them (eager, traced, several
// Variables at once, row-sparse), the options of the layers, copies and clones, wrong settings.
#include "tandem/layers/constraints.hpp"

#include <cmath>
#include <limits>

#include "tandem/autodiff/check.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/module/model.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats;

namespace {

constexpr double small = 1e-7;  // Keras' epsilon
const Tensor matrix = constant({{3.f, -.5f, 0.f}, {4.f, .25f, 0.f}});

// The norms of w [rows, columns] along axis 0, each replaced by f(norm).
template <class F>
Floats with_norms(const Tensor& w, const F& f) {
  const std::size_t rows = static_cast<std::size_t>(w.shape()[0]), columns = static_cast<std::size_t>(w.shape()[1]);
  Floats y = floats(w);
  for (std::size_t j = 0; j < columns; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) sum += std::pow(y[i * columns + j], 2);
    const double norm = std::sqrt(sum), factor = f(norm) / (norm + small);
    for (std::size_t i = 0; i < rows; ++i) y[i * columns + j] = static_cast<float>(y[i * columns + j] * factor);
  }
  return y;
}
void check_close(const Floats& got, const Floats& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-6).margin(1e-9));
}

}  // namespace

TEST_CASE("constraints: the formulas of Keras") {
  using namespace constraints;
  check_close(floats(MaxNorm(2)(matrix)), with_norms(matrix, [](double n) { return std::min(n, 2.); }));
  check_close(floats(MaxNorm()(matrix)), floats(MaxNorm(2, 0)(matrix)));
  check_close(floats(UnitNorm()(matrix)), with_norms(matrix, [](double n) { return n > 0 ? 1. : 0.; }));
  check_close(floats(MinMaxNorm(1, 2, .75)(matrix)),
              with_norms(matrix, [](double n) { return .75 * std::min(std::max(n, 1.), 2.) + .25 * n; }));
  check_close(floats(MinMaxNorm()(matrix)), with_norms(matrix, [](double n) { return std::min(n, 1.); }));
  check_close(floats(UnitNorm()(ones({3, 5}))), Floats(15, .57735026f));  // the example of Keras' documentation
  check_close(floats(MaxNorm(1, 1)(constant({{3.f, 4.f}, {.3f, .4f}}))), {.6f, .8f, .3f, .4f});
  CHECK(floats(NonNeg()(matrix)) == Floats{3, 0, 0, 4, .25f, 0});
  const Tensor filters = ones({3, 3, 4, 2});  // norm 6 of each filter
  check_close(floats(MaxNorm(3, {0, 1, 2})(filters)), Floats(72, .5f));
  check_close(floats(UnitNorm()(constant({3.f, 4.f}))), {.6f, .8f});
  CHECK(std::isnan(floats(NonNeg()(constant(std::vector<float>{NAN})))[0]));
  CHECK(floats(cast(MaxNorm(2)(cast(4 * ones({4, 1}), bfloat16)), float32)) == Floats(4, 1));
}

TEST_CASE("constraints: values computed by Keras 3.15") {
  using namespace constraints;
  const auto check = [](const Constraint& c, const Floats& want) { check_close(floats(c(matrix)), want); };
  check(MaxNorm(2), {1.2f, -.49999988f, 0, 1.6f, .24999994f, 0});
  check(MaxNorm(1, 1), {.98639393f, -.16439898f, 0, .9980526f, .06237829f, 0});
  check(UnitNorm(), {.6f, -.894427f, 0, .8f, .4472135f, 0});
  check(MinMaxNorm(), {.6f, -.49999988f, 0, .8f, .24999994f, 0});
  check(MinMaxNorm(1, 2, .75), {1.65f, -.79582018f, 0, 2.2f, .39791009f, 0});
  check(NonNeg(), {3, 0, 0, 4, .25f, 0});
  const layers::Dense d(3, {.kernel_constraint = MaxNorm(2)});  // after a step of SGD, learning rate 1
  d.build(2);
  d.set_weights({matrix, zeros({3})});
  optimizers::SGD(1.f).apply_gradients({ones({2, 3}), zeros({3})}, d.trainable_variables());
  check_close(floats(d.variables()[0]),
              {1.10940039f, -1.49999988f, -.99999994f, 1.66410065f, -.74999994f, -.99999994f});
}

TEST_CASE("constraints: applied after each update, to Variables that have a gradient") {
  const auto step_of = [](bool traced) {
    const Variable a(matrix, {.constraint = constraints::MaxNorm(2)}), b(matrix),
        c(-matrix, {.constraint = constraints::NonNeg()});
    const Variable unused(-matrix, {.constraint = constraints::NonNeg()});
    const optimizers::SGD sgd(1.f);
    const std::vector<Gradient> g{Gradient(ones({2, 3})), Gradient(ones({2, 3})), Gradient(-ones({2, 3})), Gradient()};
    const auto step = [&] {
      sgd.apply_gradients(g, {a, b, c, unused});
      return a.read_value() + 0;
    };
    const auto f = function([&] { return step(); });
    const Floats seen = floats(traced ? f() : step());
    const Floats want = with_norms(matrix - 1, [](double n) { return std::min(n, 2.); });
    check_close(floats(a), want);
    CHECK(seen == floats(a));
    CHECK(floats(b) == floats(matrix - 1));
    CHECK(floats(c) == floats(maximum(1 - matrix, 0)));
    CHECK(floats(unused) == floats(-matrix));
    traced ? f() : step();  // and again
    check_close(floats(a), with_norms(constant(want.data(), {2, 3}) - 1, [](double n) { return std::min(n, 2.); }));
  };
  step_of(false);
  step_of(true);
}

TEST_CASE("constraints: many Variables of a layer in one update, eager and traced") {
  const int threads = config::intra_op_parallelism_threads();
  config::set_intra_op_parallelism_threads(2);  // with more than one, updates are joined
  std::vector<Floats> ways;
  for (const bool traced : {false, true}) {
    random::set_seed(3);
    const layers::Dense d(200,
                          {.kernel_constraint = constraints::UnitNorm(), .bias_constraint = constraints::NonNeg()});
    d.build(300);
    const optimizers::Adam adam(.01);
    const Tensor x = random::stateless_normal({8, 300}, {1, 2});
    const auto step = [&] { return adam.minimize([&] { return reduce_mean(d(x)); }, d.trainable_variables()); };
    const auto f = function([&] { return step(); });
    for (int i = 0; i < 3; ++i) traced ? f() : step();
    check_close(floats(reduce_sum(square(d.variables()[0]), {0})), Floats(200, 1));
    for (const float b : floats(d.variables()[1])) CHECK(b == 0);  // they only want to fall
    ways.push_back(floats(d.variables()[0]));
  }
  config::set_intra_op_parallelism_threads(threads);
  check_close(ways[1], ways[0]);
}

TEST_CASE("constraints: a row-sparse update, and the whole table is projected") {
  for (const bool traced : {false, true}) {
    const layers::Embedding table(
        4, 2,
        {.embeddings_initializer = initializers::Constant(3), .embeddings_constraint = constraints::MaxNorm(1, 1)});
    const optimizers::SGD sgd(1.f);
    const auto step = [&] {
      return sgd.minimize([&] { return reduce_sum(table(constant({2, 2}))); }, table.trainable_variables());
    };
    const auto f = function([&] { return step(); });
    traced ? f() : step();  // row 2: 3 - 2
    const float half = std::sqrt(.5f);
    check_close(floats(table.variables()[0]), Floats(8, half));
  }
}

TEST_CASE("constraints: kept by copies and clones, not applied to what is assigned") {
  struct Net : Model<Net> {
    layers::Dense out{1, {.use_bias = false, .kernel_constraint = constraints::NonNeg()}};
    Tensor operator()(const Tensor& x) const { return out(x); }
  };
  const Net net;
  net(ones({1, 2}));
  const Net copy = net, clone = net.clone();
  for (const Net* n : {&net, &copy, &clone}) {
    n->set_weights({constant({{-1.f}, {5.f}})});
    CHECK(floats(n->variables()[0]) == Floats{-1, 5});
    optimizers::SGD(1.f).minimize([&] { return reduce_sum((*n)(ones({1, 2}))); }, n->trainable_variables());
    CHECK(floats(n->variables()[0]) == Floats{0, 4});
  }
}

namespace {
// The constraint of each of the layer's own Variables, as what it makes of ones: 0 for none.
template <class L>
Floats marks(const L& layer) {
  Floats r;
  for (const Variable& v : layer.variables())
    r.push_back(v.constraint() ? floats(v.constraint()(ones(v.shape())))[0] : 0);
  return r;
}
constexpr Constraint mark_1 = [](const Tensor& w) { return w * 1; };
constexpr Constraint mark_2 = [](const Tensor& w) { return w * 2; };
constexpr Constraint mark_3 = [](const Tensor& w) { return w * 3; };

// Of a convolution with a kernel and a bias, called with an image of this rank.
template <class L>
void check_convolution(const L& layer, int rank) {
  Shape shape{1};
  for (int i = 0; i < rank; ++i) shape.push_back(4);
  shape.push_back(2);
  layer(ones(shape));
  CHECK(marks(layer) == Floats{1, 2});
}
}  // namespace

TEST_CASE("constraints: each option is that of its weight") {
  using namespace layers;
  const ConvOptions conv{.kernel_constraint = mark_1, .bias_constraint = mark_2};
  check_convolution(Conv1D(3, 2, conv), 1);
  check_convolution(Conv2D(3, 2, conv), 2);
  check_convolution(Conv3D(3, 2, conv), 3);
  const ConvTransposeOptions transposed{.kernel_constraint = mark_1, .bias_constraint = mark_2};
  check_convolution(Conv2DTranspose(3, 2, transposed), 2);
  check_convolution(DepthwiseConv2D(2, {.depthwise_constraint = mark_1, .bias_constraint = mark_2}), 2);
  const SeparableConv2D separable(
      3, 2, {.depthwise_constraint = mark_1, .pointwise_constraint = mark_2, .bias_constraint = mark_3});
  separable(ones({1, 4, 4, 2}));
  CHECK(marks(separable) == Floats{1, 2, 3});
  const Tensor x = ones({2, 3, 4});
  const LayerNormalization norm({.beta_constraint = mark_2, .gamma_constraint = mark_1});
  norm(x);
  CHECK(marks(norm) == Floats{1, 2});
  const BatchNormalization batch({.beta_constraint = mark_2, .gamma_constraint = mark_1});
  batch(x);
  CHECK(marks(batch) == Floats{1, 2, 0, 0});
  const GroupNormalization group({.groups = 2, .beta_constraint = mark_2, .gamma_constraint = mark_1});
  group(x);
  CHECK(marks(group) == Floats{1, 2});
  const PReLU prelu({.alpha_constraint = mark_1});
  prelu(x);
  CHECK(marks(prelu) == Floats{1});
  const MultiHeadAttention attention(2, 2, {.kernel_constraint = mark_1, .bias_constraint = mark_2});
  attention(x, x);
  CHECK(marks(attention) == Floats{1, 2, 1, 2, 1, 2, 1, 2});
  const RnnCellOptions cell{.kernel_constraint = mark_1, .recurrent_constraint = mark_2, .bias_constraint = mark_3};
  const LSTM lstm(2, {}, {.use_peepholes = true, .weights = cell});
  lstm(x);
  CHECK(marks(lstm) == Floats{1, 2, 3, 1, 1, 1});
  const GRU gru(2, {}, {.weights = cell});
  gru(x);
  CHECK(marks(gru) == Floats{1, 2, 3});
  const SimpleRNN simple(2, {}, {.weights = cell});
  simple(x);
  CHECK(marks(simple) == Floats{1, 2, 3});
}

TEST_CASE("constraints: wrong settings raise when they are made, wrong results with the Variable") {
  using namespace constraints;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(MaxNorm(-1), ContainsSubstring("MaxNorm") && ContainsSubstring("at least 0, not -1"));
  CHECK_THROWS_AS(MaxNorm(nan), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(MinMaxNorm(2, 1), ContainsSubstring("max_value must be at least min_value, not 1"));
  CHECK_THROWS_WITH(MinMaxNorm(-1, 1), ContainsSubstring("min_value must be at least 0, not -1"));
  CHECK_THROWS_WITH(MinMaxNorm(0, 1, 1.5), ContainsSubstring("rate must be in [0, 1], not 1.5"));
  CHECK_THROWS_WITH(Variable(matrix, {.constraint = UnitNorm(2)}), ContainsSubstring("axis 2 is out of range"));
  const Constraint flat = [](const Tensor& w) { return reshape(w, {-1}); };
  CHECK_THROWS_WITH(Variable(matrix, {.constraint = flat}), ContainsSubstring("float32[6] of float32[2,3]"));
  const layers::Dense d(2, {.bias_constraint = UnitNorm(1)});
  CHECK_THROWS_AS(d.build(3), errors::InvalidArgumentError);
  CHECK(d.variables().empty());
}
TEST_CASE("OrthogonalRegularizer: the mean cosine of rows or columns, zeros, gradient, errors") {
  using regularizers::OrthogonalMode, regularizers::OrthogonalRegularizer;
  const Tensor w = cast(constant({{3., 4.}, {-4., 3.}, {0., 2.}}), float64);  // cosines 0, .8 and .6
  CHECK(OrthogonalRegularizer(.5)(w).item<double>() == Approx(.5 * 1.4 / 3));
  CHECK(OrthogonalRegularizer(.5, OrthogonalMode::columns)(w).item<double>() ==
        Approx(.5 * std::fabs((3 * 4 - 4 * 3 + 0) / 5. / std::sqrt(29.))).margin(1e-12));
  CHECK(OrthogonalRegularizer()(constant({{1., 1.}, {2., 2.}})).item<float>() == Approx(.01));
  CHECK(OrthogonalRegularizer()(constant({{1., 1.}, {0., 0.}})).item<float>() == 0);
  CHECK(OrthogonalRegularizer()(ones({1, 4})).item<float>() == 0);
  CHECK(test::compute_gradient_error([](const Tensor& x) { return OrthogonalRegularizer(2)(x); },
                                     {cast(constant({{1., .5}, {.25, 3.}, {-2., 1.}}), float64)},
                                     {.delta = 1e-5}) < 1e-6);
  CHECK_THROWS_WITH(OrthogonalRegularizer()(ones({3})), ContainsSubstring("OrthogonalRegularizer: needs a matrix"));
  for (const DType half : {float16, bfloat16}) {  // only the penalty is rounded
    const Tensor narrow = cast(testing::wave({40, 3}), half), wide = cast(narrow, float32);
    for (const Regularizer& r : {OrthogonalRegularizer(1), OrthogonalRegularizer(1, OrthogonalMode::columns),
                                 regularizers::L1(1), regularizers::L2(1), regularizers::L1L2(.1, .3)}) {
      CHECK(r(narrow).dtype() == half);
      CHECK(cast(r(narrow), float32).item<float>() == cast(cast(r(wide), half), float32).item<float>());
    }
  }
  CHECK(cast(regularizers::L2(.01)(ones({300, 300}, float16)), float32).item<float>() == Approx(900).epsilon(1e-3));
  const layers::Dense dense(3, {.kernel_regularizer = OrthogonalRegularizer(1)});
  dense(ones({1, 3}));
  CHECK(dense.losses().at(0).item<float>() > 0);
}
