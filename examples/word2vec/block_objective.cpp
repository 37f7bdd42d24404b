// Negative sampling over blocks of text. A block has `length` words and `window` more words on either side.
#include <memory>

#include "model.hpp"

using namespace tandem;

namespace {

constexpr std::int64_t length = 64;   // words per block
constexpr std::int64_t together = 8;  // blocks per batch

class Blocks : public Objective {
 public:
  Blocks(const ModelOptions& o, const NoiseWords& noise)
      : window_(o.window),
        shared_(o.shared),
        share_(static_cast<float>(o.negatives) / static_cast<float>(o.shared)),
        noise_(noise),
        offsets_(make_offsets(o.window)) {}

  // The inputs: ids of the words [b, length], of the context words [b, length + 2 window] and of the negatives
  // [b, shared]; how far the window of each word extends to the left and to the right [b, length, 1], 0 for padding
  // words of the last block.
  std::vector<Batch> batches(Chunk chunk) const override {
    std::vector<Batch> r;
    for (std::int64_t at = 0; at < chunk.size(); at += length * together) r.push_back(batch(chunk, at));
    return r;
  }
  Batch empty() const override {
    Chunk none;
    return batch(none, 0);
  }

 protected:
  enum Input { words, around, negatives, left, right };

  /// A mask [b, length, length + 2 window]: 1 for a word and a context word within its window, 0 for other pairs.
  Tensor pairs(const std::vector<Tensor>& in) const {
    const Tensor inside = logical_and(offsets_ >= -in[left], offsets_ <= in[right]);
    return cast(logical_and(inside, offsets_ != 0), float32);
  }
  /// The weight of each shared negative for an example, so that together they count as much as `--negatives` own
  /// ones.
  float share() const { return share_; }

 private:
  // The offset of column j from row i.
  static Tensor make_offsets(std::int64_t window) {
    const Tensor rows = range(0, static_cast<double>(length)),
                 columns = range(0, static_cast<double>(length + 2 * window));
    return expand_dims(columns, 0) - expand_dims(rows, 1) - static_cast<double>(window);
  }
  Batch batch(Chunk& chunk, std::int64_t begin) const {
    const std::int64_t wide = length + 2 * window_;
    std::vector<std::int32_t> ids, near, drawn;
    std::vector<float> to_left, to_right;
    std::int64_t examples = 0;
    const auto id_at = [&](std::int64_t i) {
      return i >= 0 && i < chunk.size() ? chunk.ids[static_cast<std::size_t>(i)] : 0;
    };
    for (std::int64_t b = 0; b < together; ++b) {
      const std::int64_t first = begin + b * length;
      for (std::int64_t i = first; i < first + length; ++i) {
        const bool is_word = i < chunk.size();
        ids.push_back(id_at(i));
        to_left.push_back(is_word ? static_cast<float>(chunk.left(i)) : 0.f);
        to_right.push_back(is_word ? static_cast<float>(chunk.right(i)) : 0.f);
        if (is_word) examples += count(chunk, i);
      }
      for (std::int64_t i = first - window_; i < first - window_ + wide; ++i) near.push_back(id_at(i));
      for (std::int64_t k = 0; k < shared_; ++k) drawn.push_back(noise_(chunk.random));
    }
    const Shape reach{together, length, 1};
    return {{constant(ids, {.shape = {together, length}}), constant(near, {.shape = {together, wide}}),
             constant(drawn, {.shape = {together, shared_}}), constant(to_left, {.shape = reach}),
             constant(to_right, {.shape = reach})},
            examples};
  }
  virtual std::int64_t count(const Chunk& chunk, std::int64_t i) const = 0;  // number of examples of a word

  std::int64_t window_, shared_;
  float share_;
  const NoiseWords& noise_;
  Tensor offsets_;  // [length, length + 2 window]
};

class SkipGramBlocks : public Blocks {
 public:
  using Blocks::Blocks;
  Tensor loss(const Word2Vec& model, const std::vector<Tensor>& in) const override {
    const Tensor x = model.embeddings()(in[words]);
    const Tensor near = matmul(x, model.outputs()(in[around]), {.transpose_b = true});
    const Tensor noise = matmul(x, model.outputs()(in[negatives]), {.transpose_b = true});
    const Tensor positive = reduce_sum(pairs(in) * softplus(-near));
    return positive + reduce_sum((in[left] + in[right]) * share() * softplus(noise));
  }

 private:
  std::int64_t count(const Chunk& chunk, std::int64_t i) const override { return chunk.left(i) + chunk.right(i); }
};

class CbowBlocks : public Blocks {
 public:
  using Blocks::Blocks;
  Tensor loss(const Word2Vec& model, const std::vector<Tensor>& in) const override {
    const Tensor size = in[left] + in[right], is_example = cast(size > 0, float32);
    const Tensor mean = pairs(in) / maximum(size, 1);  // averages the words in each window
    const Tensor x = matmul(mean, model.embeddings()(in[around]));
    const Tensor own = reduce_sum(x * model.outputs()(in[words]), -1, {.keepdims = true});
    const Tensor noise = matmul(x, model.outputs()(in[negatives]), {.transpose_b = true});
    return reduce_sum(is_example * softplus(-own)) + reduce_sum(is_example * share() * softplus(noise));
  }

 private:
  std::int64_t count(const Chunk& chunk, std::int64_t i) const override {
    return chunk.left(i) + chunk.right(i) > 0 ? 1 : 0;
  }
};

}  // namespace

std::unique_ptr<Objective> make_block_objective(const ModelOptions& o, const NoiseWords& noise) {
  if (o.model == "cbow") return std::make_unique<CbowBlocks>(o, noise);
  return std::make_unique<SkipGramBlocks>(o, noise);
}
