// Single examples: input words (one for skip-gram, those of a window for cbow) and the word that they predict.
#include <memory>
#include <utility>
#include <vector>

#include "model.hpp"

using namespace tandem;

namespace {

class Examples : public Objective {
 public:
  Examples(const ModelOptions& o, const NoiseWords& noise)
      : options_(o), is_cbow_(o.model == "cbow"), slots_(is_cbow_ ? 2 * o.window : 1), noise_(noise) {}

  // The inputs: the input words [b, slots] and the weight of each in the mean [b, slots, 1], the word that they
  // predict [b, 1], its negatives [b, negatives], and a mask [b, 1]: 1 for an example, 0 for a padding row of the
  // last batch.
  std::vector<Batch> batches(Chunk chunk) const override {
    std::vector<Batch> r;
    Rows rows;
    for (const auto& [i, from, to] : examples(chunk)) {
      const float share = 1 / static_cast<float>(to - from - (from <= i && i < to));
      for (std::int64_t j = from; j < to; ++j) {
        if (j == i) continue;
        rows.looked_at.push_back(chunk.ids[static_cast<std::size_t>(j)]);
        rows.shares.push_back(share);
      }
      rows.looked_at.resize(static_cast<std::size_t>((rows.size + 1) * slots_));
      rows.shares.resize(rows.looked_at.size());
      rows.predicted.push_back(chunk.ids[static_cast<std::size_t>(i)]);
      rows.counts.push_back(1);
      for (std::int64_t k = 0; k < options_.negatives; ++k) rows.drawn.push_back(noise_(chunk.random));
      if (++rows.size == options_.batch) r.push_back(batch(rows));
    }
    if (rows.size) r.push_back(batch(rows));
    return r;
  }
  Batch empty() const override {
    Rows none;
    return batch(none);
  }

 protected:
  enum Input { looked_at, shares, predicted, negatives, counts };

  /// The predicting vector, [b, size].
  Tensor predictor(const Word2Vec& model, const std::vector<Tensor>& in) const {
    const Tensor x = model.embeddings()(in[looked_at]);
    return is_cbow_ ? reduce_sum(x * in[shares], 1) : squeeze(x, {1});
  }

  const ModelOptions options_;

 private:
  struct Example {
    std::int64_t predicted, from, to;  // by the words of this range of the chunk but itself
  };
  // In random order: the examples of a batch are about as different as those of the chunk.
  std::vector<Example> examples(Chunk& chunk) const {
    std::vector<Example> r;
    for (std::int64_t i = 0; i < chunk.size(); ++i) {
      const std::int64_t begin = i - chunk.left(i), end = i + chunk.right(i) + 1;
      if (is_cbow_ && end - begin > 1) r.push_back({i, begin, end});
      for (std::int64_t j = begin; !is_cbow_ && j < end; ++j)
        if (j != i) r.push_back({i, j, j + 1});
    }
    for (std::size_t k = r.size(); k > 1; --k) std::swap(r[k - 1], r[chunk.random() % k]);
    return r;
  }
  struct Rows {
    std::vector<std::int32_t> looked_at, predicted, drawn;
    std::vector<float> shares, counts;
    std::int64_t size = 0;
  };
  Batch batch(Rows& rows) const {
    rows.looked_at.resize(static_cast<std::size_t>(options_.batch * slots_));
    rows.shares.resize(rows.looked_at.size());
    rows.predicted.resize(static_cast<std::size_t>(options_.batch));
    rows.drawn.resize(static_cast<std::size_t>(options_.batch * options_.negatives));
    rows.counts.resize(rows.predicted.size());
    Batch filled{{constant(rows.looked_at, {.shape = {options_.batch, slots_}}),
                  constant(rows.shares, {.shape = {options_.batch, slots_, 1}}),
                  constant(rows.predicted, {.shape = {options_.batch, 1}}),
                  constant(rows.drawn, {.shape = {options_.batch, options_.negatives}}),
                  constant(rows.counts, {.shape = {options_.batch, 1}})},
                 rows.size};
    rows = {};
    return filled;
  }

  const bool is_cbow_;
  const std::int64_t slots_;
  const NoiseWords& noise_;
};

class OwnNegatives : public Examples {
 public:
  using Examples::Examples;
  Tensor loss(const Word2Vec& model, const std::vector<Tensor>& in) const override {
    const Tensor x = expand_dims(predictor(model, in), 1);
    const auto logits = [&](const Tensor& ids) {
      return squeeze(matmul(x, model.outputs()(ids), {.transpose_b = true}), {1});
    };
    return reduce_sum(in[counts] * softplus(-logits(in[predicted]))) +
           reduce_sum(in[counts] * softplus(logits(in[negatives])));
  }
};

class Nce : public Examples {
 public:
  Nce(const ModelOptions& o, const NoiseWords& noise, std::int64_t vocabulary, const random::Generator& generator)
      : Examples(o, noise), vocabulary_(vocabulary), generator_(generator) {}
  Tensor loss(const Word2Vec& model, const std::vector<Tensor>& in) const override {
    const random::Candidates drawn = random::log_uniform_candidate_sampler(in[predicted], 1, options_.samples, true,
                                                                           vocabulary_, {.generator = &generator_});
    // To nce_loss, the rows that are looked up are all classes: those of the examples, then the candidates'.
    const std::int64_t classes = options_.batch + options_.samples;
    const Tensor ids = concat({cast(reshape(in[predicted], {-1}), int64), drawn.sampled}, 0);
    const Tensor costs =
        nn::nce_loss(model.outputs()(ids), squeeze(model.biases()(ids), {1}), expand_dims(range(options_.batch), 1),
                     predictor(model, in), options_.samples, classes,
                     {.sampled_values = random::Candidates{cast(range(options_.batch, classes), int64),
                                                           drawn.true_expected, drawn.sampled_expected}});
    return reduce_sum(costs * squeeze(in[counts], {1})) / maximum(reduce_sum(in[counts]), 1);
  }
  double examples_in_loss(const Batch& batch) const override { return batch.examples > 0 ? 1 : 0; }

 private:
  std::int64_t vocabulary_;
  const random::Generator& generator_;
};

}  // namespace

std::unique_ptr<Objective> make_example_objective(const ModelOptions& o, const NoiseWords& noise,
                                                  std::int64_t vocabulary, const random::Generator& generator) {
  if (o.loss == "nce") return std::make_unique<Nce>(o, noise, vocabulary, generator);
  return std::make_unique<OwnNegatives>(o, noise);
}
