// ReversibleEmbedding: both ways against an Embedding and products, tied and not; options, gradients, traces, errors.
#include <limits>

#include "tandem/layers/embedding.hpp"
#include "tandem/layers/sequential.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/layer_checks.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::distance, testing::floats, testing::wave;

namespace reversible_embedding_test {
namespace {
const Tensor ids = constant({{1, 4, 0}, {2, 2, 5}}), vectors = wave({2, 3, 4});
const Initializer drawn = initializers::RandomNormal(0, 1, 7);
}  // namespace

TEST_CASE("ReversibleEmbedding: rows of a table, and products with it") {
  const layers::ReversibleEmbedding tied(6, 4, {.embeddings_initializer = drawn}),
      untied(6, 4, {.tie_weights = false, .embeddings_initializer = initializers::RandomNormal(0, 1)});
  REQUIRE(tied.variables().size() == 1);
  const Tensor table = tied.variables()[0];
  CHECK(floats(tied(ids)) == floats(gather(table, ids)));
  const Tensor logits = tied(vectors, {.reverse = true});
  CHECK(logits.shape() == Shape{2, 3, 6});
  CHECK(distance(logits, tensordot(vectors, transpose(table), 1)) < 1e-6);
  CHECK(distance(tied(vectors(0, 1), {.reverse = true}), logits(0, 1)) < 1e-6);
  CHECK(tied(zeros({0, 3, 4}), {.reverse = true}).shape() == Shape{0, 3, 6});

  REQUIRE(untied.variables().size() == 2);
  CHECK(untied.named_variables()[1].path == "reverse_embeddings");
  CHECK(untied.variables()[1].shape() == Shape{4, 6});
  CHECK(distance(untied(vectors, {.reverse = true}), tensordot(vectors, untied.variables()[1].read_value(), 1)) < 1e-6);
}

TEST_CASE("ReversibleEmbedding: a soft cap, the dtype of the way back, masks") {
  const layers::ReversibleEmbedding plain(6, 4, {.embeddings_initializer = drawn}),
      capped(6, 4, {.embeddings_initializer = drawn, .logit_soft_cap = 2}),
      wide(6, 4, {.embeddings_initializer = drawn, .reverse_dtype = float64}),
      half(6, 4, {.embeddings_initializer = drawn, .mask_zero = true, .reverse_dtype = float32, .dtype = float16});
  const Tensor logits = plain(vectors, {.reverse = true});
  CHECK(distance(capped(vectors, {.reverse = true}), tanh(logits / 2.f) * 2.f) < 1e-6);
  const Tensor of_wide = wide(vectors, {.reverse = true});
  CHECK(of_wide.dtype() == float64);
  CHECK(distance(cast(of_wide, float32), logits) < 1e-6);
  CHECK(half(ids).dtype() == float16);
  CHECK(half(half(ids), {.reverse = true}).dtype() == float32);
  CHECK(half.compute_mask(ids).to_vector<bool>() == std::vector<bool>{true, true, false, true, true, true});
  CHECK_FALSE(plain.compute_mask(ids).is_set());
  const layers::Sequential net{half, [](const Tensor& x) { return cast(x, float32); }};
  CHECK(net(ids).shape() == Shape{2, 3, 4});
}

TEST_CASE("ReversibleEmbedding: gradients of both ways add up in one table; traces") {
  for (const bool ties : {true, false}) {
    const layers::ReversibleEmbedding l(
        6, 4, {.tie_weights = ties, .embeddings_initializer = drawn, .logit_soft_cap = 3, .dtype = float64});
    const auto f = [&](const Tensor& x) { return l(l(ids) * x, {.reverse = true}); };
    testing::check_layer_gradients(f, cast(vectors, float64), l.variables());
    testing::check_traced([&](const Tensor& x) { return l(x, {.reverse = true}); }, cast(vectors, float64));
    testing::check_traced([&](const Tensor& x) { return l(x); }, ids);
  }
  const layers::ReversibleEmbedding l(6, 4);
  GradientTape tape;
  CHECK(tape.gradient(reduce_sum(square(l(ids))), l.variables())[0].is_sparse());
  const optimizers::Adam adam(0.1);
  const auto step = function([&](const Tensor& x) {
    GradientTape t;
    const Tensor loss = losses::sparse_categorical_crossentropy(x, l(l(x), {.reverse = true}), {.from_logits = true});
    const Tensor mean = reduce_mean(loss);
    adam.apply_gradients(t.gradient(mean, l.variables()), l.variables());
    return mean;
  });
  const float first = step(ids).item<float>();
  for (int i = 0; i < 30; ++i) step(ids);
  CHECK(step(ids).item<float>() < first / 2);
}

TEST_CASE("ReversibleEmbedding: errors name the layer") {
  const auto name = ContainsSubstring("ReversibleEmbedding");
  const layers::ReversibleEmbedding l(6, 4);
  CHECK_THROWS_WITH(l(constant({6})), name && ContainsSubstring("index 6 at position [0]"));
  CHECK_THROWS_WITH(l(zeros({2, 5}), {.reverse = true}), name && ContainsSubstring("[..., 4]"));
  CHECK_THROWS_WITH(l(constant(1.f), {.reverse = true}), name && ContainsSubstring("[..., 4]"));
  CHECK_THROWS_WITH(l(zeros({2, 4}, float64), {.reverse = true}), name && ContainsSubstring("float64"));
  using Options = layers::ReversibleEmbeddingOptions;
  const auto made = [](i64 ids_, i64 size, const Options& o = {}) {
    return layers::ReversibleEmbedding(ids_, size, o);
  };
  CHECK_THROWS_WITH(made(0, 4), name && ContainsSubstring("input_dim"));
  CHECK_THROWS_WITH(made(6, -1), name && ContainsSubstring("output_dim"));
  for (const double cap : {0., -1., std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_WITH(made(6, 4, {.logit_soft_cap = cap}), name && ContainsSubstring("logit_soft_cap"));
  CHECK_THROWS_WITH(made(6, 4, {.reverse_dtype = int32}), name && ContainsSubstring("reverse_dtype"));
  CHECK_THROWS_WITH(layers::ReversibleEmbedding(6, 4, {.reverse_dtype = float64})(constant({1, 2, 3, 4}), {.reverse = true}),
                    name);
}

}  // namespace reversible_embedding_test
