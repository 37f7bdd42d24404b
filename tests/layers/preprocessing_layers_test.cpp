// Layers that prepare inputs.
#include "tandem/layers/all.hpp"
#include "tandem/module/model.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/layer_checks.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using layers::OutputMode;
using testing::check_close, testing::check_layer_gradients, testing::check_traced, testing::floats, testing::Floats;

namespace {
using Ints = std::vector<i64>;
Ints ints(const Tensor& t) { return t.to_vector<i64>(); }
const Tensor table = constant({{1.f, 10.f}, {3.f, 10.f}, {5.f, 40.f}});
}  // namespace

TEST_CASE("Rescaling: numbers of any dtype") {
  const layers::Rescaling half(.5, 1);
  CHECK(floats(half(constant({2.f, -4.f}))) == Floats{2, -1});
  CHECK(floats(half(constant({2, 255}))) == Floats{2, 128.5});
  CHECK(half(constant({2.f}, {.dtype = float64})).dtype() == float64);
  check_traced(half, table);
}

TEST_CASE("Normalization: adapts to data, per feature or as a whole, and back") {
  const layers::Normalization norm;
  norm.adapt(table);
  const Tensor mean = constant({3.f, 20.f}), deviation = constant({std::sqrt(8.f / 3), std::sqrt(200.f)});
  check_close(floats(norm(table)), floats((table - mean) / deviation));
  check_close(floats(norm.variables()[1]), {8.f / 3, 200});
  CHECK(norm.trainable_variables().empty());
  check_traced(norm, table);
  norm.adapt(table + 1);
  check_close(floats(norm(table + 1)), floats((table - mean) / deviation));
  const layers::Normalization whole({.axis = Axes::none()});
  whole.adapt(constant({{1, 2}, {3, 4}}));
  check_close(floats(whole(constant({1, 4}))), {-1.5f / std::sqrt(1.25f), 1.5f / std::sqrt(1.25f)});
  const layers::Normalization given({.mean = mean, .variance = square(deviation)});
  check_close(floats(given(table)), floats((table - mean) / deviation));
  CHECK(given.variables().empty());
  const layers::Normalization back({.mean = mean, .variance = square(deviation), .invert = true});
  check_close(floats(back(given(table))), floats(table));
  const layers::Normalization constant_feature;
  constant_feature.adapt(ones({4, 1}));
  CHECK(floats(constant_feature(ones({1, 1}))) == Floats{0});
  const layers::Normalization wide;
  CHECK_THROWS_WITH(wide.adapt(constant({{1e30f}, {3e30f}})), ContainsSubstring("beyond the range of float32"));
  const auto refuses = [&](const Tensor& data, const std::string& what) {
    CHECK_THROWS_WITH(wide.adapt(data), ContainsSubstring("Normalization: the " + what));
  };
  const double most = 1e300, far = 1e39;
  const auto rows = [](double a, double b) {
    return constant(std::vector<double>{1, a, 2, b}, {.shape = Shape{2, 2}});
  };
  refuses(rows(far, far), "mean of column [1] is beyond the range of float32");
  refuses(rows(1, far), "mean of column [1] is beyond");
  refuses(rows(1, 1e25), "variance of column [1] is beyond");
  refuses(rows(-far, far), "variance of column [1] is beyond");
  refuses(rows(-most, most), "variance of column [1] is infinite");
  refuses(rows(1, NAN), "mean of column [1] is NaN: the data has NaN or infinities there");
  refuses(rows(1, INFINITY), "mean of column [1] is infinite");
  CHECK_THROWS_WITH(layers::Normalization({.axis = Axes::none()}).adapt(rows(1, NAN)),
                    ContainsSubstring("the mean is NaN"));
  CHECK_THROWS_AS(wide(ones({1, 1})), errors::FailedPreconditionError);
  wide.adapt(constant({{1e18f}, {3e18f}}));
  check_close(floats(wide(constant({{1e18f}, {3e18f}}))), {-1, 1});
}

TEST_CASE("Normalization: channels on axis 1, in a clone, in a trace") {
  const Tensor x = random::stateless_normal({5, 2, 3}, {1, 2});
  struct Net : Model<Net> {
    layers::Normalization norm{{.axis = 1}};
    Tensor operator()(const Tensor& t) const { return norm(t); }
  };
  const Net net;
  net.norm.adapt(x);
  const nn::Moments m = nn::moments(x, {0, 2}, {.keepdims = true});
  check_close(floats(net(x)), floats((x - m.mean) / sqrt(m.variance)), 1e-4);
  const Net clone = net.clone();
  net.norm.adapt(3 * x);
  check_close(floats(clone(x)), floats((x - m.mean) / sqrt(m.variance)), 1e-4);
  check_traced(net, x);
}

TEST_CASE("Normalization: errors") {
  const layers::Normalization norm;
  CHECK_THROWS_AS(norm(table), errors::FailedPreconditionError);
  CHECK_THROWS_WITH(norm(table), ContainsSubstring("adapt"));
  CHECK_THROWS_WITH(norm.adapt(zeros({0, 2})), ContainsSubstring("empty"));
  norm.adapt(table);
  CHECK_THROWS_WITH(norm.adapt(zeros({2, 3})), ContainsSubstring("(3,)"));
  CHECK_THROWS_AS(norm(zeros({2, 3})), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(layers::Normalization({.axis = 4}).adapt(table), ContainsSubstring("Normalization: axis 4"));
  CHECK_THROWS_WITH(layers::Normalization({.mean = ones({2})}), ContainsSubstring("both"));
  CHECK_THROWS_AS(layers::Normalization({.mean = ones({2}), .variance = ones({2})}).adapt(table),
                  errors::FailedPreconditionError);
}

TEST_CASE("CategoryEncoding: one-hot, multi-hot, counts, weights") {
  const Tensor x = constant({{0, 2, 2}, {1, 1, 3}});
  CHECK(floats(layers::CategoryEncoding(4)(x)) == Floats{1, 0, 1, 0, 0, 1, 0, 1});
  const layers::CategoryEncoding count(4, {.output_mode = OutputMode::count});
  CHECK(floats(count(x)) == Floats{1, 0, 2, 0, 0, 2, 0, 1});
  CHECK(floats(count(x, constant({{.5f, 1.f, 2.f}, {4.f, 4.f, 1.f}}))) == Floats{.5, 0, 3, 0, 0, 8, 0, 1});
  const layers::CategoryEncoding one(3, {.output_mode = OutputMode::one_hot, .dtype = int32});
  CHECK(one(constant({2, 0})).to_vector<int>() == std::vector<int>{0, 0, 1, 1, 0, 0});
  CHECK(one(constant({{2}, {0}})).shape() == Shape{2, 3});
  CHECK(one(constant({{2, 1}})).shape() == Shape{1, 2, 3});
  CHECK(one(constant(2)).shape() == Shape{3});
  CHECK(floats(layers::CategoryEncoding(3)(constant(2))) == Floats{0, 0, 1});
  CHECK(floats(layers::CategoryEncoding(3)(constant({2, 0}))) == Floats{1, 0, 1});
  check_traced(layers::CategoryEncoding(4), x);
  check_traced(count, x);
  check_traced(one, constant({{1}, {2}}));
}

TEST_CASE("CategoryEncoding: errors") {
  CHECK_THROWS_WITH(layers::CategoryEncoding(3)(constant({{0, 3}})),
                    ContainsSubstring("CategoryEncoding") && ContainsSubstring("3"));
  CHECK_THROWS_AS(layers::CategoryEncoding(3)(constant({{0, -1}})), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(layers::CategoryEncoding(3)(constant({.5f})), ContainsSubstring("int32 or int64"));
  CHECK_THROWS_WITH(layers::CategoryEncoding(0), ContainsSubstring("num_tokens"));
  CHECK_THROWS_WITH(layers::CategoryEncoding(3, {.output_mode = OutputMode::integer}),
                    ContainsSubstring("output_mode"));
  CHECK_THROWS_WITH(layers::CategoryEncoding(3)(constant({1}), constant({1.f})),
                    ContainsSubstring("OutputMode::count"));
}

TEST_CASE("Discretization: intervals, closed below") {
  const layers::Discretization bins({0, 1, 2});
  const Tensor x = constant({{-1.5f, 1.f, 3.4f, .5f}, {0.f, 3.f, 1.3f, 0.f}});
  CHECK(ints(bins(x)) == Ints{0, 2, 3, 1, 1, 3, 2, 1});
  CHECK(bins(x).dtype() == int64);
  CHECK(ints(bins(constant({-1, 0, 2}))) == Ints{0, 1, 3});
  CHECK(ints(layers::Discretization(std::vector<double>{})(constant({7.f}))) == Ints{0});
  check_traced(bins, x);
  const layers::Discretization rows({0, 1}, {.output_mode = OutputMode::one_hot});
  CHECK(floats(rows(constant({.5f, 9.f}))) == Floats{0, 1, 0, 0, 0, 1});
  CHECK(floats(layers::Discretization({0, 1}, {.output_mode = OutputMode::count})(constant({{.5f, 9.f, .2f}}))) ==
        Floats{0, 2, 1});
  CHECK_THROWS_WITH(layers::Discretization({1, 1}), ContainsSubstring("ascend"));
}

TEST_CASE("IntegerLookup: ids of a vocabulary, and back") {
  const layers::IntegerLookup lookup({12, -5, 36});
  const Tensor x = constant({{12, 36}, {7, -5}});
  CHECK(ints(lookup(x)) == Ints{1, 3, 0, 2});
  CHECK(lookup.vocabulary_size() == 4);
  CHECK(ints(lookup(constant({i64(99), i64(12), i64(-99)}))) == Ints{0, 1, 0});
  check_traced(lookup, x);
  const layers::IntegerLookup back({12, -5, 36}, {.invert = true});
  CHECK(ints(back(lookup(x))) == Ints{12, 36, -1, -5});
  CHECK(ints(layers::IntegerLookup({12, -5}, {.num_oov_indices = 2})(constant({12, 7, -7, 8, -5}))) ==
        Ints{2, 1, 1, 0, 3});
  const layers::IntegerLookup strict({12, -5}, {.num_oov_indices = 0});
  CHECK(ints(strict(constant({-5, 12}))) == Ints{1, 0});
  CHECK_THROWS_WITH(strict(x), ContainsSubstring("IntegerLookup") && ContainsSubstring("-1"));
  CHECK_THROWS_AS(back(constant({4})), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(lookup(constant({1.f})), ContainsSubstring("int32 or int64"));
  CHECK_THROWS_WITH(layers::IntegerLookup({1, 2, 1}), ContainsSubstring("1 twice"));
  CHECK_THROWS_WITH(layers::IntegerLookup(std::vector<i64>{}), ContainsSubstring("empty"));
}

TEST_CASE("Masking: steps whose features all have the value") {
  const Tensor x = constant({{{1.f, 2.f}, {0.f, 0.f}}, {{0.f, 3.f}, {0.f, 0.f}}});
  const layers::Masking masking;
  CHECK(masking.compute_mask(x).to_vector<bool>() == std::vector<bool>{true, false, true, false});
  CHECK(floats(masking(x)) == floats(x));
  const layers::Masking two(2);
  CHECK(floats(two(constant({{2.f, 2.f}, {2.f, 1.f}}))) == Floats{0, 0, 2, 1});
  check_traced(two, x);
  check_layer_gradients(two, constant({{2.5, 1.}, {3., 4.}}, {.dtype = float64}), {});
  CHECK_THROWS_WITH(masking(constant(1.f)), ContainsSubstring("Masking"));
}

TEST_CASE("Normalization: inputs of another size raise, also where they would broadcast") {
  const layers::Normalization n;
  n.adapt(ones({4, 3}));
  CHECK_THROWS_WITH(n(ones({2, 1})), ContainsSubstring("Normalization: the statistics have the shape (3,)"));
  CHECK_THROWS_WITH(n(ones({2, 4})), ContainsSubstring("Normalization: the statistics have the shape (3,)"));
}

TEST_CASE("CategoryEncoding: one example keeps its axis; examples without categories are zeros") {
  const layers::CategoryEncoding rows(3, {.output_mode = layers::OutputMode::one_hot});
  CHECK(rows(constant({1})).shape() == Shape{1, 3});
  CHECK(rows(constant({{1}})).shape() == Shape{1, 3});
  const layers::CategoryEncoding many(3);
  CHECK(floats(many(zeros({1, 0}, {.dtype = int32}))) == Floats{0, 0, 0});
}

TEST_CASE("Discretization has no member that a Model lists") {
  struct Net : Model<Net> {
    layers::Discretization bins{{1.}, {.output_mode = layers::OutputMode::one_hot}};
  };
  CHECK_THAT(Net().summary(), !ContainsSubstring("category_encoding"));
}
