// Discretization and IntegerLookup that adapt to data, and their output modes; UpSampling2D's bilinear form.
#include <algorithm>
#include <cmath>

#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/layer_checks.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using layers::OutputMode;
using testing::check_layer_gradients, testing::check_traced, testing::floats, testing::Floats, testing::wave;

namespace {

using Ints = std::vector<i64>;
Ints integers(const Tensor& t) { return t.to_vector<i64>(); }

// tf.image.resize's bilinear value of one pixel, with half-pixel centers.
double pixel(const std::vector<double>& image, i64 h, i64 w, double y, double x) {
  const auto clamp = [](i64 i, i64 n) { return std::min(std::max<i64>(i, 0), n - 1); };
  const auto at = [&](i64 i, i64 j) { return image[static_cast<std::size_t>(clamp(i, h) * w + clamp(j, w))]; };
  const double fy = std::floor(y), fx = std::floor(x), ty = y - fy, tx = x - fx;
  const i64 i = static_cast<i64>(fy), j = static_cast<i64>(fx);
  return (1 - ty) * ((1 - tx) * at(i, j) + tx * at(i, j + 1)) + ty * ((1 - tx) * at(i + 1, j) + tx * at(i + 1, j + 1));
}

}  // namespace

TEST_CASE("Discretization: adapts to quantiles, with Keras' example") {
  const layers::Discretization bins({.num_bins = 4});
  const Tensor x = constant({{-1.5f, 1.f, 3.4f, .5f}, {0.f, 3.f, 1.3f, 0.f}});
  CHECK_THROWS_WITH(bins(x), ContainsSubstring("adapt"));
  const layers::Discretization copy = bins;
  bins.adapt(x);
  CHECK(integers(copy(x)) == Ints{0, 2, 3, 2, 1, 3, 3, 1});
  CHECK(bins.bin_boundaries()[0] == 0);
  CHECK(bins.bin_boundaries()[2] == Approx(1.3));
  check_traced(bins, x);
  // Many values: equal shares of them in each bin, within epsilon.
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(std::exp(5 * std::sin(i * 1.7)));
  for (const double epsilon : {.01, .03}) {
    const layers::Discretization ten({.num_bins = 10, .epsilon = epsilon, .output_mode = OutputMode::one_hot});
    ten.adapt(constant(values));
    REQUIRE(ten.bin_boundaries().size() == 9);
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < 9; ++i) {
      const double share = static_cast<double>(std::lower_bound(sorted.begin(), sorted.end(), ten.bin_boundaries()[i]) -
                                               sorted.begin()) /
                           1000;
      CHECK(std::fabs(share - (i + 1) * .1) <= 2 * epsilon);
    }
    CHECK(ten(constant(values)).shape() == Shape{1000, 10});
    // Keras 3.15's, which computes in float32.
    const std::vector<double> keras =
        epsilon == .01 ? std::vector<double>{.00854970608, .0175475944, .0530973673, .215112284, .999997556,
                                             4.68950605,   18.7633591,  56.8338890,  115.903183}
                       : std::vector<double>{.00861902814, .0173118617, .0503799543, .207221478, .932269394,
                                             4.17304134,   16.9786587,  51.9473648,  108.388542};
    for (std::size_t i = 0; i < 9; ++i) CHECK(ten.bin_boundaries()[i] == Approx(keras[i]).epsilon(2e-5));
  }
  bins.adapt(constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f}));
  CHECK(copy.bin_boundaries() == std::vector<double>{2, 4, 6});
}
TEST_CASE("Discretization: what does not fit raises") {
  CHECK_THROWS_AS(layers::Discretization(layers::DiscretizationOptions{}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(layers::Discretization({0, 1}, {.num_bins = 3}), ContainsSubstring("num_bins"));
  CHECK_THROWS_WITH(layers::Discretization({.num_bins = 0}), ContainsSubstring("num_bins"));
  CHECK_THROWS_AS(layers::Discretization({0, 1}).adapt(constant({1.f})), errors::FailedPreconditionError);
  const layers::Discretization bins({.num_bins = 2});
  CHECK_THROWS_WITH(bins.adapt(zeros({0})), ContainsSubstring("empty"));
  CHECK_THROWS_WITH(bins.adapt(constant({1.f, NAN})), ContainsSubstring("NaN"));
}
TEST_CASE("IntegerLookup: adapts, with Keras' example; limits; modes") {
  const Tensor data = constant({{12, 1138, 42}, {42, 1000, 36}});
  const layers::IntegerLookup lookup;
  CHECK_THROWS_WITH(lookup(data), ContainsSubstring("adapt"));
  lookup.adapt(data);
  CHECK(lookup.get_vocabulary() == Ints{-1, 42, 1138, 1000, 36, 12});
  CHECK(integers(lookup(data)) == Ints{5, 2, 1, 1, 3, 4});
  check_traced(lookup, data);
  const layers::IntegerLookup three({.max_tokens = 3, .output_mode = OutputMode::one_hot});
  three.adapt(data);
  CHECK(three.vocabulary_size() == 3);
  CHECK(floats(three(constant({42, 36}))) == Floats{0, 1, 0, 1, 0, 0});
  const layers::IntegerLookup many({7, 8}, {.output_mode = OutputMode::multi_hot});
  CHECK(floats(many(constant({{7, 7, 5}, {8, 7, 8}}))) == Floats{1, 1, 0, 0, 1, 1});
  const layers::IntegerLookup counts({7, 8}, {.output_mode = OutputMode::count, .dtype = float64});
  CHECK(counts(constant({{7, 7, 5}, {8, 7, 8}})).to_vector<double>() == std::vector<double>{1, 2, 0, 0, 1, 2});
  lookup.adapt(constant({3, -1, 3, -1, -1, 5}));
  CHECK(lookup.get_vocabulary() == Ints{-1, 3, 5});
  CHECK_THROWS_AS(many.adapt(data), errors::FailedPreconditionError);
  CHECK_THROWS_WITH(lookup.adapt(constant({1.f})), ContainsSubstring("int32 or int64"));
  CHECK_THROWS_WITH(layers::IntegerLookup({7, 8}, {.max_tokens = 2}), ContainsSubstring("max_tokens"));
  CHECK_THROWS_WITH(layers::IntegerLookup({.max_tokens = 1}), ContainsSubstring("max_tokens"));
  CHECK_THROWS_WITH(layers::IntegerLookup({7}, {.invert = true, .output_mode = OutputMode::count}),
                    ContainsSubstring("invert"));
}
TEST_CASE("UpSampling2D: bilinear, by tf.image.resize's formula") {
  const layers::UpSampling2D twice(2, {.interpolation = layers::Interpolation::bilinear});
  CHECK(floats(twice(constant({{{{1.f}, {2.f}}, {{3.f}, {4.f}}}}))) ==
        Floats{1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  for (const auto& [down, right] : {std::pair<i64, i64>{3, 2}, {1, 4}, {2, 1}, {5, 3}}) {
    const layers::UpSampling2D layer({down, right}, {.interpolation = layers::Interpolation::bilinear});
    const Tensor x = wave({1, 3, 4, 1}, .2f, float64), y = layer(x);
    REQUIRE(y.shape() == Shape{1, 3 * down, 4 * right, 1});
    const std::vector<double> image = x.to_vector<double>(), got = y.to_vector<double>();
    for (i64 i = 0; i < 3 * down; ++i)
      for (i64 j = 0; j < 4 * right; ++j) {
        const double at_y = (static_cast<double>(i) + .5) / static_cast<double>(down) - .5,
                     at_x = (static_cast<double>(j) + .5) / static_cast<double>(right) - .5;
        CHECK(got[static_cast<std::size_t>(i * 4 * right + j)] == Approx(pixel(image, 3, 4, at_y, at_x)).margin(1e-12));
      }
    check_layer_gradients(layer, x, {});
    check_traced(layer, wave({2, 3, 4, 2}));
  }
  const auto open = function([&](const Tensor& x) { return twice(x); },
                             {.input_signature = {TensorSpec({none, none, none, 2}, float32)}});
  const Tensor x = wave({2, 3, 1, 2});
  CHECK(floats(open(x)) == floats(twice(x)));
  const layers::UpSampling2D first(2,
                                   {.data_format = DataFormat::nchw, .interpolation = layers::Interpolation::bilinear});
  CHECK(floats(first(transpose(x, {0, 3, 1, 2}))) == floats(transpose(twice(x), {0, 3, 1, 2})));
  CHECK(twice(constant({{{{1}, {2}}}})).dtype() == float32);
  const layers::UpSampling2D nearest(2, {.interpolation = layers::Interpolation::nearest});
  CHECK(floats(nearest(x)) == floats(layers::UpSampling2D(2)(x)));
}

TEST_CASE("IntegerLookup: a mask has the id 0, and padded columns") {
  const layers::IntegerLookup lookup({.num_oov_indices = 2, .mask_token = 0, .oov_token = -9});
  lookup.adapt(constant({0, 0, 0, 7, 7, 3, -9}));
  CHECK(lookup.get_vocabulary() == Ints{0, -9, -9, 7, 3});
  CHECK(lookup.vocabulary_size() == 5);
  CHECK(integers(lookup(constant({3, 0, 7, 4, 5}))) == Ints{4, 0, 3, 1, 2});
  check_traced(lookup, constant({3, 0, 7, 4, 5}));
  const layers::IntegerLookup back({7, 3}, {.num_oov_indices = 2, .mask_token = 0, .oov_token = -9, .invert = true});
  CHECK(integers(back(constant({0, 1, 2, 3, 4}))) == Ints{0, -9, -9, 7, 3});
  const layers::IntegerLookup strict({7, 3}, {.num_oov_indices = 0, .mask_token = 0});
  CHECK(integers(strict(constant({3, 0, 7}))) == Ints{2, 0, 1});
  CHECK_THROWS_WITH(strict(constant({4})), ContainsSubstring("IntegerLookup"));
  const layers::IntegerLookup few({.max_tokens = 3, .mask_token = 0});
  few.adapt(constant({0, 7, 7, 3}));
  CHECK(few.get_vocabulary() == Ints{0, -1, 7});
  const layers::IntegerLookup wide({7, 3},
                                   {.max_tokens = 6, .output_mode = OutputMode::one_hot, .pad_to_max_tokens = true});
  CHECK(floats(wide(constant({7}))) == Floats{0, 1, 0, 0, 0, 0});
  CHECK_THROWS_WITH(layers::IntegerLookup({7, 0}, {.mask_token = 0}),
                    ContainsSubstring("IntegerLookup: the vocabulary has the mask_token 0 at 1"));
  CHECK_THROWS_WITH(layers::IntegerLookup({.mask_token = 0, .output_mode = OutputMode::count}),
                    ContainsSubstring(".mask_token needs OutputMode::integer"));
  CHECK_THROWS_WITH(layers::IntegerLookup({.pad_to_max_tokens = true}), ContainsSubstring("needs .max_tokens"));
  CHECK_THROWS_WITH(layers::IntegerLookup({.max_tokens = 2, .mask_token = 0}), ContainsSubstring("no ids"));
  CHECK_THROWS_WITH(layers::IntegerLookup({.num_oov_indices = -1, .mask_token = 0}), ContainsSubstring("negative"));
}

TEST_CASE("IntegerLookup: get_vocabulary() is a vocabulary; special tokens at other places raise") {
  const Tensor x = constant({3, 0, 7, 4, 5, -9});
  const auto again = [&](const layers::IntegerLookupOptions& o) {
    const layers::IntegerLookup lookup({7, 3}, o), other(lookup.get_vocabulary(), o);
    CHECK(other.get_vocabulary() == lookup.get_vocabulary());
    const Tensor in = o.invert ? constant({0, 1, 2}) : x;
    CHECK(integers(other(in)) == integers(lookup(in)));
  };
  again({});
  again({.mask_token = 0});
  again({.num_oov_indices = 2, .mask_token = 0, .oov_token = -9});
  again({.mask_token = 0, .invert = true});
  const auto refuses = [](const Ints& tokens, const layers::IntegerLookupOptions& o, const std::string& what) {
    CHECK_THROWS_WITH(layers::IntegerLookup(tokens, o),
                      ContainsSubstring("IntegerLookup: the vocabulary has the " + what));
  };
  refuses({0, 7}, {.mask_token = 0}, "mask_token 0 at 0");  // all of them, or none
  refuses({-1, 0, 7}, {.mask_token = 0}, "mask_token 0 at 1");
  refuses({0, -1, 7, 0}, {.mask_token = 0}, "mask_token 0 at 3");
  refuses({7, -1}, {.invert = true}, "oov_token -1 at 1");
  CHECK(layers::IntegerLookup({7, -1}).get_vocabulary() == Ints{-1, 7, -1});  // as in Keras
  CHECK_THROWS_WITH(layers::IntegerLookup({-1, 7, 7}), ContainsSubstring("7 twice"));
  CHECK_THROWS_WITH(layers::IntegerLookup({-1}), ContainsSubstring("the vocabulary is empty"));
}

TEST_CASE("a traced function is traced again when a layer has learned something else, and only then") {
  const layers::IntegerLookup lookup, other;
  const layers::Discretization bins({.num_bins = 2});
  lookup.adapt(constant({7, 7, 8})), other.adapt(constant({1}));
  bins.adapt(constant({0.f, 1.f, 2.f, 3.f}));
  const auto ids = function([&](const Tensor& x) { return lookup(x); });
  const auto outer = function([&](const Tensor& x) {  // by a call of a traced function, and in a branch
    return cond(
        reduce_sum(x) > 0, [&] { return ids(x) + bins(cast(x, float32)); }, [&] { return cast(x, int64); });
  });
  const Tensor x = constant({7, 8, 9});
  CHECK(integers(ids(x)) == Ints{1, 2, 0});
  CHECK(integers(outer(x)) == Ints{2, 3, 1});
  const auto concrete = ids.get_concrete_function(x);
  other.adapt(constant({2}));
  CHECK(integers(ids(x)) == Ints{1, 2, 0});
  CHECK(ids.trace_count() == 1);
  lookup.adapt(constant({9, 9, 7}));
  CHECK(integers(ids(x)) == Ints{2, 0, 1});
  CHECK(integers(ids(x)) == Ints{2, 0, 1});
  CHECK(ids.trace_count() == 2);
  CHECK(ids.trace_log().back().reason ==
        "the vocabulary of a layer was replaced (adapt, restore) since the trace for such arguments");
  CHECK(ids.trace_log().back().advice.find("adapt layers") == 0);
  CHECK(integers(outer(x)) == Ints{3, 1, 2});
  CHECK(outer.trace_count() == 2);
  bins.adapt(constant({100.f, 200.f, 300.f, 400.f}));
  CHECK(integers(outer(x)) == Ints{2, 0, 1});
  CHECK(outer.trace_count() == 3);
  CHECK(ids.trace_count() == 2);
  CHECK(integers((*concrete)({x})[0]) == Ints{1, 2, 0});  // one trace: what it has read
}

TEST_CASE("a traced function of a clone keeps its trace when the original learns") {
  struct Net : Model<Net> {
    layers::IntegerLookup lookup;
  };
  const Net net;
  net.lookup.adapt(constant({7, 7, 8}));
  const Net clone = net.clone(), copy = net;
  const auto f = function([&](const Tensor& x) { return clone.lookup(x); });
  const auto g = function([&](const Tensor& x) { return copy.lookup(x); });
  const Tensor x = constant({8});
  CHECK((f(x).item<i64>() == 2 && g(x).item<i64>() == 2));
  net.lookup.adapt(x);
  CHECK((f(x).item<i64>() == 2 && g(x).item<i64>() == 1));
  CHECK((f.trace_count() == 1 && g.trace_count() == 2));
}
