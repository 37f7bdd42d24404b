// Initializers: bounds and moments by their formulas, seeds, dtypes, errors.
#include "tandem/layers/initializers.hpp"

#include <cmath>

#include "tandem/layers/all.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

std::vector<double> drawn(const Initializer& i, const Shape& shape = {200, 300}) {
  return i(shape, float64).to_vector<double>();
}
struct Moments {
  double mean = 0, deviation = 0, least = 0, most = 0;
};
Moments moments_of(const std::vector<double>& v) {
  Moments m{0, 0, v[0], v[0]};
  for (double x : v) m.mean += x, m.least = std::min(m.least, x), m.most = std::max(m.most, x);
  m.mean /= static_cast<double>(v.size());
  for (double x : v) m.deviation += (x - m.mean) * (x - m.mean);
  m.deviation = std::sqrt(m.deviation / static_cast<double>(v.size()));
  return m;
}
// 60,000 numbers: a mean is off by deviation / 245, a deviation by a 0.3 %; five such errors are allowed.
void check_normal(const Initializer& i, double mean, double deviation, double bound = INFINITY) {
  const Moments m = moments_of(drawn(i));
  CHECK(std::fabs(m.mean - mean) < 5 * deviation / 245);
  CHECK(std::fabs(m.deviation - deviation) < 0.015 * deviation);
  CHECK(m.most - mean <= bound);
  CHECK(m.least - mean >= -bound);
  CHECK(m.most - mean > (std::isfinite(bound) ? 0.98 * bound : 3 * deviation));
}
// Of n uniform numbers the extremes come within bound / 1000 of the bounds.
void check_uniform(const Initializer& i, double lo, double hi) {
  const Moments m = moments_of(drawn(i));
  CHECK(m.least >= lo);
  CHECK(m.most < hi);
  CHECK(m.least - lo < (hi - lo) / 1000);
  CHECK(hi - m.most < (hi - lo) / 1000);
  CHECK(std::fabs(m.mean - (lo + hi) / 2) < 5 * (hi - lo) / std::sqrt(12.) / 245);
}
constexpr double cut = .87962566103423978;  // the deviation of a standard normal cut at two deviations

}  // namespace

TEST_CASE("initializers: constants") {
  using namespace initializers;
  CHECK(drawn(Zeros(), {2, 2}) == std::vector<double>(4, 0));
  CHECK(drawn(Ones(), {3}) == std::vector<double>(3, 1));
  CHECK(drawn(Constant(-2.5), {}) == std::vector<double>{-2.5});
  CHECK(Ones()({2}).dtype() == float32);
  CHECK(Zeros()({0, 3}).size() == 0);
}

TEST_CASE("initializers: uniform and normal") {
  using namespace initializers;
  check_uniform(RandomUniform(), -.05, .05);
  check_uniform(RandomUniform(1, 3), 1, 3);
  check_normal(RandomNormal(), 0, .05);
  check_normal(RandomNormal(2, .5), 2, .5);
  check_normal(TruncatedNormal(1, .5), 1, .5 * cut, 1);
}

TEST_CASE("initializers: scaled by the fans of a kernel") {
  using namespace initializers;
  const double in = 200, average = 250, out = 300;
  check_uniform(GlorotUniform(), -std::sqrt(3 / average), std::sqrt(3 / average));
  check_uniform(HeUniform(), -std::sqrt(6 / in), std::sqrt(6 / in));
  check_uniform(LecunUniform(), -std::sqrt(3 / in), std::sqrt(3 / in));
  const auto cut_at = [](double variance) { return 2 * std::sqrt(variance) / cut; };
  check_normal(GlorotNormal(), 0, std::sqrt(1 / average), cut_at(1 / average));
  check_normal(HeNormal(), 0, std::sqrt(2 / in), cut_at(2 / in));
  check_normal(LecunNormal(), 0, std::sqrt(1 / in), cut_at(1 / in));
  using I = Initializer;
  check_uniform(VarianceScaling(2, I::Fan::out, I::Kind::uniform), -std::sqrt(6 / out), std::sqrt(6 / out));
  check_normal(VarianceScaling(2, I::Fan::out, I::Kind::normal), 0, std::sqrt(2 / out));
  check_normal(VarianceScaling(3, I::Fan::average, I::Kind::truncated_normal), 0, std::sqrt(3 / average),
               cut_at(3 / average));
}

TEST_CASE("initializers: the receptive field belongs to both fans, a vector's size is both") {
  using namespace initializers;
  const Moments conv = moments_of(drawn(GlorotUniform(), {3, 5, 40, 100}));
  CHECK(conv.most == Approx(std::sqrt(3 / (15. * 70))).epsilon(1e-3));
  const Moments vector = moments_of(drawn(LecunUniform(), {60000}));
  CHECK(vector.most == Approx(std::sqrt(3 / 60000.)).epsilon(1e-3));
  CHECK(std::fabs(drawn(GlorotUniform(), {})[0]) <= std::sqrt(3.));
}

TEST_CASE("initializers: orthogonal and identity") {
  using namespace initializers;
  for (const Shape& shape : {Shape{6, 4}, Shape{4, 6}, Shape{2, 3, 4}, Shape{5, 5}, Shape{33, 40}, Shape{150, 70}}) {
    const Tensor w = reshape(Orthogonal(2)(shape, float64), {-1, shape.dim(-1)});
    const bool tall = w.shape()[0] >= w.shape()[1];
    const Tensor gram = matmul(w, w, {.transpose_a = tall, .transpose_b = !tall});
    const Tensor want = eye(gram.shape()[0], {.dtype = float64}) * 4.;
    CHECK(reduce_max(abs(gram - want)).item<double>() < 1e-12);
  }
  CHECK(drawn(Identity(3), {2, 3}) == std::vector<double>{3, 0, 0, 0, 3, 0});
  CHECK_THROWS_AS(Orthogonal()({4}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(Identity()({2, 2, 2}), errors::InvalidArgumentError);
}

namespace {
using Kind = Initializer (*)(initializers::Seed);
const std::vector<Kind>& seeded_kinds() {
  using namespace initializers;
  static const std::vector<Kind> seeded{
      [](Seed s) { return RandomUniform(-1, 1, s); },
      [](Seed s) { return RandomNormal(0, 1, s); },
      [](Seed s) { return TruncatedNormal(0, 1, s); },
      [](Seed s) { return Orthogonal(1, s); },
      [](Seed s) { return GlorotUniform(s); },
      [](Seed s) { return GlorotNormal(s); },
      [](Seed s) { return HeUniform(s); },
      [](Seed s) { return HeNormal(s); },
      [](Seed s) { return LecunUniform(s); },
      [](Seed s) { return LecunNormal(s); },
      [](Seed s) { return VarianceScaling(1, Initializer::Fan::out, Initializer::Kind::uniform, s); }};
  return seeded;
}
}  // namespace

TEST_CASE("initializers: a seed fixes the numbers, the global generator goes on") {
  for (const Kind make : seeded_kinds()) {
    const Shape shape{4, 5};
    random::set_seed(3);
    const auto a = drawn(make({}), shape), b = drawn(make({}), shape), c = drawn(make(7), shape);
    random::set_seed(3);
    CHECK(drawn(make({}), shape) == a);
    CHECK(drawn(make(7), shape) == c);
    CHECK(a != b);
    CHECK(a != c);
    CHECK(drawn(make(8), shape) != c);
  }
}
TEST_CASE("initializers: with a seed each call draws the same numbers, whatever the global seed is") {
  for (const Kind make : seeded_kinds()) {
    const Initializer seeded = make(7);
    random::set_seed(3);
    const auto first = drawn(seeded, {4, 5});
    CHECK(drawn(seeded, {4, 5}) == first);
    CHECK(drawn(make(7), {4, 5}) == first);
    random::set_seed(4);
    CHECK(drawn(make(7), {4, 5}) == first);
  }
  // Layers too: of equal seeds, in any order, and of all kinds that have several weights.
  const auto dense = [] { return layers::Dense(3, {.kernel_initializer = initializers::GlorotUniform(3)}); };
  const layers::Dense a = dense(), b = dense();
  a.build(2), layers::Dense(5).build(2), b.build(2);
  CHECK(a.variables()[0].to_vector<float>() == b.variables()[0].to_vector<float>());
  const auto lstm = [] {
    return layers::LSTM(3, {},
                        {.weights = {.kernel_initializer = initializers::HeNormal(1),
                                     .recurrent_initializer = initializers::Orthogonal(1, 2)}});
  };
  const layers::LSTM c = lstm(), d = lstm();
  c(ones({1, 2, 4})), d(ones({1, 2, 4}));
  for (std::size_t i = 0; i < 3; ++i) CHECK(c.variables()[i].to_vector<float>() == d.variables()[i].to_vector<float>());
}

TEST_CASE("initializers: dtypes") {
  using namespace initializers;
  for (const Initializer& i : {Zeros(), RandomUniform(), TruncatedNormal(), Orthogonal(), Identity(), GlorotUniform()})
    for (const DType dtype : {float32, float64}) CHECK(i({3, 3}, dtype).dtype() == dtype);
  CHECK_THROWS_AS(RandomNormal()({3}, int32), errors::InvalidArgumentError);
}
