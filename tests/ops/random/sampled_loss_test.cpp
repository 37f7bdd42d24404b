// nce_loss and sampled_softmax_loss: against loops, with hits, sparse gradients, training, errors.
#include "tandem/ops/random/sampled_loss.hpp"

#include <algorithm>
#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace sampled_loss_test {
using namespace tandem;
using random::Candidates;
using testing::error_of;

constexpr i64 classes = 7, width = 3, rows = 4, samples = 5;

// A problem in float64, with samples that hit true classes and a class sampled twice.
struct Problem {
  i64 num_true;
  Tensor weights = random::stateless_normal({classes, width}, {1, 1}, {.dtype = float64});
  Tensor biases = random::stateless_normal({classes}, {1, 2}, {.dtype = float64});
  Tensor inputs = random::stateless_normal({rows, width}, {1, 3}, {.dtype = float64});
  Tensor labels = random::stateless_uniform({rows, num_true}, {1, 4}, {.maxval = classes, .dtype = int64});
  Candidates candidates{constant({i64{2}, i64{0}, i64{2}, i64{6}, i64{4}}),
                        random::stateless_uniform({rows, num_true}, {1, 5}, {.minval = .1, .maxval = 1}),
                        random::stateless_uniform({samples}, {1, 6}, {.minval = .1, .maxval = 1})};

  explicit Problem(i64 n) : num_true(n) {}
  Tensor nce(bool remove_hits) const {
    return nn::nce_loss(weights, biases, labels, inputs, samples, classes,
                        {.num_true = num_true, .sampled_values = candidates, .remove_accidental_hits = remove_hits});
  }
  Tensor softmax(bool remove_hits) const {
    return nn::sampled_softmax_loss(
        weights, biases, labels, inputs, samples, classes,
        {.num_true = num_true, .sampled_values = candidates, .remove_accidental_hits = remove_hits});
  }
};

// The losses of a row by the book.
struct Row {
  std::vector<double> of_true, of_sampled;  // corrected logits, those of hits left out

  Row(const Problem& p, std::size_t r, bool remove_hits) {
    const auto w = p.weights.to_vector<double>(), b = p.biases.to_vector<double>(), x = p.inputs.to_vector<double>();
    const auto y = p.labels.to_vector<i64>(), s = p.candidates.sampled.to_vector<i64>();
    const auto true_count = p.candidates.true_expected.to_vector<float>(),
               sampled_count = p.candidates.sampled_expected.to_vector<float>();
    const auto logit = [&](i64 k) {
      double sum = b[std::size_t(k)];
      for (std::size_t j = 0; j < width; ++j) sum += w[std::size_t(k) * width + j] * x[r * width + j];
      return sum;
    };
    const auto n = static_cast<std::size_t>(p.num_true);
    const std::vector<i64> own(y.begin() + std::ptrdiff_t(r * n), y.begin() + std::ptrdiff_t((r + 1) * n));
    for (std::size_t i = 0; i < n; ++i) of_true.push_back(logit(own[i]) - std::log(double(true_count[r * n + i])));
    for (std::size_t i = 0; i < s.size(); ++i)
      if (!remove_hits || std::find(own.begin(), own.end(), s[i]) == own.end())
        of_sampled.push_back(logit(s[i]) - std::log(double(sampled_count[i])));
  }
  double nce() const {
    double loss = 0;
    for (const double x : of_true) loss += std::log1p(std::exp(x)) - x / double(of_true.size());
    for (const double x : of_sampled) loss += std::log1p(std::exp(x));
    return loss;
  }
  double softmax() const {
    double sum = 0, mean = 0;
    for (const double x : of_true) sum += std::exp(x), mean += x / double(of_true.size());
    for (const double x : of_sampled) sum += std::exp(x);
    return std::log(sum) - mean;
  }
};

TEST_CASE("nce_loss and sampled_softmax_loss agree with loops") {
  for (const i64 num_true : {1, 3})
    for (const bool remove_hits : {false, true}) {
      const Problem p(num_true);
      const auto nce = p.nce(remove_hits).to_vector<double>(), softmax = p.softmax(remove_hits).to_vector<double>();
      REQUIRE(nce.size() == rows);
      REQUIRE(softmax.size() == rows);
      std::size_t left_out = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        const Row row(p, r, remove_hits);
        left_out += samples - row.of_sampled.size();
        CHECK(nce[r] == Approx(row.nce()).epsilon(1e-6));  // expected counts are float32
        CHECK(softmax[r] == Approx(row.softmax()).epsilon(1e-6));
      }
      CHECK((left_out > 0) == remove_hits);
    }
}

TEST_CASE("nce_loss and sampled_softmax_loss: gradients") {
  for (const bool remove_hits : {false, true}) {
    Problem p(2);
    const auto losses = [&](const std::vector<Tensor>& x) {
      p.weights = x[0], p.biases = x[1], p.inputs = x[2];
      return p.nce(remove_hits) + p.softmax(remove_hits);
    };
    CHECK(test::compute_gradient_error(losses, {p.weights, p.biases, p.inputs}, {.delta = 1e-5}) < 1e-8);
  }
}

TEST_CASE("nce_loss: the gradients of its tables are row-sparse, and training lowers the cost") {
  const Variable weights(random::stateless_normal({1000, 8}, {2, 1}, {.stddev = .3})), biases(zeros({1000})),
      embeddings(random::stateless_normal({1000, 8}, {2, 2}, {.stddev = .3}));
  const Tensor words = constant({i64{1}, i64{2}, i64{3}, i64{4}}),
               labels = constant({{i64{10}}, {i64{20}}, {i64{30}}, {i64{40}}});
  const random::Generator generator(1);
  const optimizers::SGD sgd(0.5);
  const auto step = function([&] {
    GradientTape tape;
    const Tensor cost = reduce_mean(nn::nce_loss(weights, biases, labels, nn::embedding_lookup(embeddings, words), 16,
                                                 1000, {.generator = &generator}));
    const std::vector<Variable> variables{weights, biases, embeddings};
    const auto gradients = tape.gradient(cost, variables);
    for (const Gradient& g : gradients)
      if (!g.is_sparse()) throw std::logic_error("dense");
    sgd.apply_gradients(gradients, variables);
    return cost;
  });
  const float before = step().item<float>();
  float after = 0;
  for (int i = 0; i < 200; ++i) after = step().item<float>();
  CHECK(before > 5);
  CHECK(after < before / 4);
}

TEST_CASE("nce_loss and sampled_softmax_loss: an open batch") {
  const Problem p(1);
  const auto traced = function(
      [&](const Tensor& labels, const Tensor& inputs) {
        return nn::sampled_softmax_loss(p.weights, p.biases, labels, inputs, 3, classes, {.seed = 1});
      },
      {.input_signature = {TensorSpec({none, 1}, int64), TensorSpec({none, width}, float64)}});
  CHECK(traced(p.labels, p.inputs).shape() == Shape{rows});
  CHECK(traced(p.labels(Slice(0, 1)), p.inputs(Slice(0, 1))).shape() == Shape{1});
}

TEST_CASE("nce_loss and sampled_softmax_loss: errors name what does not fit") {
  Problem p(1);
  const auto with = [&](i64 num_sampled, i64 num_classes, nn::NceLossOptions o = {}) {
    return error_of(
        [&] { nn::nce_loss(p.weights, p.biases, p.labels, p.inputs, num_sampled, num_classes, std::move(o)); });
  };
  CHECK(with(3, classes) == "no error");
  CHECK_THAT(with(3, 8), ContainsSubstring("nn::nce_loss: needs weights [8, d]"));
  CHECK_THAT(with(3, classes, {.num_true = 2}), ContainsSubstring("labels [b, 2]"));
  CHECK_THAT(with(8, classes), ContainsSubstring("cannot draw 8 different classes of 7"));
  CHECK_THAT(with(0, classes), ContainsSubstring("must be 1 or more"));
  CHECK_THAT(with(4, classes, {.sampled_values = p.candidates}), ContainsSubstring("num_sampled is 4"));
  CHECK_THAT(with(5, classes, {.sampled_values = p.candidates, .seed = 1}), ContainsSubstring("omit .seed"));
  p.inputs = cast(p.inputs, float32);
  CHECK_THAT(with(3, classes), ContainsSubstring("of the weights' dtype"));
  CHECK_THAT(error_of([&] {
               nn::sampled_softmax_loss(p.weights, p.biases, constant({{7}, {1}}), zeros({2, 3}, float64), 3, classes);
             }),
             ContainsSubstring("7"));
}

}  // namespace sampled_loss_test
