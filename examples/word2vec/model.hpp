// The model: for each word, one vector as an input word (the embedding that is kept) and one as a predicted word. Of
// several processes, each has some of the rows of these tables.
// And its losses, for which the same data arrive as blocks of text or as single examples.
#pragma once
#include <tandem/distribute.hpp>
#include <tandem/tandem.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chunk.hpp"

struct ModelOptions {
  std::string model = "skip-gram";  // a word predicts each of its context words; "cbow": their mean predicts the word
  std::string loss = "shared";      // negatives shared by all words of a block; "own": separate for each example; "nce"
  std::int64_t size = 100;          // vector size
  std::int64_t negatives = 5;       // negatives per example
  std::int64_t shared = 64;         // negatives drawn per block of text, instead of `negatives` per example
  std::int64_t batch = 1000;        // examples per step if negatives are not shared
  std::int64_t samples = 100;       // for nce, per batch
  std::int64_t window = 5;
};

class Word2Vec : public tandem::Module {
 public:
  Word2Vec(std::int64_t vocabulary, const ModelOptions& options);
  const tandem::distribute::ShardedEmbedding& embeddings() const { return embeddings_; }
  const tandem::distribute::ShardedEmbedding& outputs() const { return outputs_; }
  const tandem::distribute::ShardedEmbedding& biases() const { return *biases_; }  // of nce

 private:
  tandem::distribute::ShardedEmbedding embeddings_, outputs_;
  std::optional<tandem::distribute::ShardedEmbedding> biases_;
};

/// The inputs of one training step.
struct Batch {
  std::vector<tandem::Tensor> inputs;
  std::int64_t examples = 0;  // word pairs (skip-gram) or words with a context (cbow)
};

/// A training objective: makes batches from text and computes their loss.
class Objective {
 public:
  virtual ~Objective() = default;
  virtual std::vector<Batch> batches(Chunk chunk) const = 0;
  /// A batch without examples, for a process that has none in a step of the others.
  virtual Batch empty() const = 0;
  /// The sum of the losses of the examples of a batch (nce: their mean).
  virtual tandem::Tensor loss(const Word2Vec& model, const std::vector<tandem::Tensor>& inputs) const = 0;
  /// The divisor that turns the loss into the loss per example.
  virtual double examples_in_loss(const Batch& batch) const { return static_cast<double>(batch.examples); }
};

/// Blocks of 64 consecutive words. All dot products of their vectors with those of the context words and of the
/// negatives of the block are one matrix product, from which a mask selects the pairs. Equal in expectation to
/// `own`.
std::unique_ptr<Objective> make_block_objective(const ModelOptions& options, const NoiseWords& noise);
/// Single examples, each with its own negatives, or all with the samples of nn::nce_loss.
///   generator   the source of random numbers for nce
std::unique_ptr<Objective> make_example_objective(const ModelOptions& options, const NoiseWords& noise,
                                                  std::int64_t vocabulary, const tandem::random::Generator& generator);
