// BatchNormalization with a mask: statistics of the elements that count, averages, traces, gradients, Sequential,
// errors.
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/layer_checks.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::check_close, testing::check_layer_gradients, testing::distance, testing::floats, testing::Floats,
    testing::wave;

namespace {

const layers::CallOptions training{.training = true};
const Tensor x = wave({2, 3, 4});
// x with two steps behind each row that do not count; one of them is not a number.
const Tensor padded = concat({x, fill({2, 1, 4}, NAN), fill({2, 1, 4}, 50.f)}, 1);
const Tensor mask = constant({{true, true, true, false, false}, {true, true, true, false, false}});

Tensor steps(const Tensor& t) { return t(Slice(), Slice(0, 3)); }
Floats averages(const layers::BatchNormalization& layer) {
  Floats r = floats(layer.variables()[2]);
  for (const float v : floats(layer.variables()[3])) r.push_back(v);
  return r;
}

}  // namespace

TEST_CASE("BatchNormalization, masked: an example by hand; elements outside of the mask are normalized, too") {
  const layers::BatchNormalization layer({.momentum = .5});
  const Tensor t = constant({1.f, 2.f, 100.f, 3.f, 200.f, -7.f}, {.shape = Shape{2, 3, 1}});
  const Tensor y = layer(t, constant({{true, true, false}, {true, false, false}}), training);
  const double d = std::sqrt(2. / 3 + .001);
  check_close(floats(y), {float(-1 / d), 0, float(98 / d), float(1 / d), float(198 / d), float(-9 / d)});
  check_close(averages(layer), {1, .5f + 1.f / 3});
}

TEST_CASE("BatchNormalization, masked: the same as without the elements that do not count") {
  const layers::BatchNormalization plain({.momentum = .5}), masked({.momentum = .5}), whole({.momentum = .5});
  const Tensor y = plain(x, training);
  check_close(floats(steps(masked(padded, mask, training))), floats(y));
  check_close(averages(masked), averages(plain));
  check_close(floats(whole(x, fill({2, 3}, true), training)), floats(y));
  check_close(averages(whole), averages(plain));
  check_close(floats(layers::BatchNormalization()(x, Tensor(), training)), floats(y));
  // A mask of the batch alone, and one of all axes but the channels.
  const Tensor rows = wave({3, 4}), image = wave({2, 3, 4, 5});
  const layers::BatchNormalization two, all;
  check_close(floats(two(rows, constant({true, false, true}), training)(Slice(0, 3, 2))),
              floats(layers::BatchNormalization()(rows(Slice(0, 3, 2)), training)));
  const Tensor left = concat({fill({2, 3, 3}, true), fill({2, 3, 1}, false)}, 2);
  check_close(floats(all(image, left, training)(Slice(), Slice(), Slice(0, 3))),
              floats(layers::BatchNormalization()(image(Slice(), Slice(), Slice(0, 3)), training)));
}

TEST_CASE("BatchNormalization, masked: channels on axis 1, half precision, none of gamma and beta") {
  const Tensor image = wave({3, 2, 4});
  const layers::BatchNormalization first({.axis = 1}), last;
  const Tensor rows = constant({true, false, true});
  check_close(floats(transpose(first(image, rows, training), {0, 2, 1})),
              floats(last(transpose(image, {0, 2, 1}), rows, training)));
  const layers::BatchNormalization half({.dtype = bfloat16}), plain({.center = false, .scale = false});
  const Tensor narrow = cast(padded, bfloat16);
  const Tensor y = half(narrow, mask, training);
  CHECK(y.dtype() == bfloat16);
  const layers::BatchNormalization wide;
  CHECK(distance(cast(steps(y), float32), steps(wide(cast(narrow, float32), mask, training))) < .01);
  check_close(averages(half), averages(wide));
  check_close(floats(steps(plain(padded, mask, training))), floats(layers::BatchNormalization()(x, training)));
  CHECK(plain.variables().size() == 2);
}

TEST_CASE("BatchNormalization, masked: without training and frozen the mask has no effect") {
  const layers::BatchNormalization layer;
  layer(x, training);
  CHECK(floats(steps(layer(padded, mask))) == floats(layer(x)));
  const Floats before = averages(layer);
  layer.set_trainable(false);
  CHECK(floats(steps(layer(padded, mask, training))) == floats(layer(x)));
  CHECK(averages(layer) == before);
}

TEST_CASE("BatchNormalization, masked: nothing that counts leaves the averages, and nothing is NaN") {
  const layers::BatchNormalization layer;
  const Tensor none_counts = fill({2, 3}, false);
  const Tensor y = layer(x, none_counts, training);
  CHECK(reduce_all(is_finite(y)).item<bool>());
  CHECK(averages(layer) == Floats{0, 0, 0, 0, 1, 1, 1, 1});
  const auto f = function([&](const Tensor& t, const Tensor& m) { return layer(t, m, training); });
  f(x, none_counts);
  CHECK(averages(layer) == Floats{0, 0, 0, 0, 1, 1, 1, 1});
  layer(zeros({0, 3, 4}), fill({0, 3}, true), training);
  CHECK(averages(layer) == Floats{0, 0, 0, 0, 1, 1, 1, 1});
}

TEST_CASE("BatchNormalization, masked: traced as eager, one trace for all sizes") {
  const layers::BatchNormalization eager({.momentum = .5}), traced({.momentum = .5});
  const auto f = function([&](const Tensor& t, const Tensor& m) { return traced(t, m, training); },
                          {.input_signature = {TensorSpec({none, none, 4}, float32), TensorSpec({none, none}, bool_)}});
  check_close(floats(steps(f(padded, mask))), floats(steps(eager(padded, mask, training))));
  check_close(floats(f(x, fill({2, 3}, true))), floats(eager(x, training)));
  check_close(averages(traced), averages(eager));
  CHECK(f.trace_count() == 1);
}

TEST_CASE("BatchNormalization, masked: gradients") {
  const layers::BatchNormalization layer({.dtype = float64});
  const Tensor t = wave({2, 5, 4}, 0, float64);
  layer(t, mask, training);
  check_layer_gradients([&](const Tensor& v) { return layer(v, mask, training); }, t, layer.trainable_variables());
  // What does not count gets a gradient only from its own result, and the rest the one that it has without it.
  const auto gradient = [](const Tensor& v, const auto& f) {
    GradientTape tape;
    tape.watch(v);
    return tape.gradient(reduce_sum(square(f(v)) * wave({2, 3, 4}, 2)), v);
  };
  const layers::BatchNormalization plain, masked;
  const Tensor far = concat({x, fill({2, 2, 4}, 50.f)}, 1);
  const Tensor g = gradient(far, [&](const Tensor& v) { return steps(masked(v, mask, training)); });
  CHECK(floats(g(Slice(), Slice(3, 5))) == Floats(16, 0.f));
  CHECK(distance(steps(g), gradient(x, [&](const Tensor& v) { return plain(v, training); })) < 1e-5);
}

TEST_CASE("BatchNormalization, masked: Sequential passes the mask to it and on") {
  const auto scope = training_scope(true);
  const layers::BatchNormalization plain, masked;
  const layers::Sequential net{layers::Masking(0), masked, layers::GlobalAveragePooling1D()};
  const Tensor with_zeros = concat({x, zeros({2, 2, 4})}, 1);
  const Tensor y = net(with_zeros);
  check_close(floats(y), floats(reduce_mean(plain(x), {1})));
  check_close(averages(masked), averages(plain));
}

TEST_CASE("BatchNormalization, masked: another mask raises, in training and without") {
  const layers::BatchNormalization layer;
  for (const auto& call : {training, layers::CallOptions{}}) {
    CHECK_THROWS_WITH(layer(x, ones({2, 3}), call), ContainsSubstring("BatchNormalization: the mask must be bool") &&
                                                        ContainsSubstring("float32[2,3]"));
    CHECK_THROWS_AS(layer(x, fill({2, 4}, true), call), errors::InvalidArgumentError);
    CHECK_THROWS_AS(layer(x, fill({2, 3, 4}, true), call), errors::InvalidArgumentError);
    CHECK_THROWS_AS(layer(x, constant(true), call), errors::InvalidArgumentError);
  }
  CHECK(layer.variables().empty());
}
