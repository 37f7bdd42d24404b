// The model: a vector for each word as the one that is looked at (the embedding that is kept), and one as the one that
// is predicted. And its losses: the same data arrive as blocks of text or as single examples.
#pragma once
#include <tandem/tandem.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chunk.hpp"

struct ModelOptions {
  std::string model = "skip-gram";  // a word predicts each word around it; "cbow": their mean predicts the word
  std::string loss = "shared";      // negatives for all words of a block; "own": for each example; "nce"
  std::int64_t size = 100;          // of a vector
  std::int64_t negatives = 5;       // words that an example is told from
  std::int64_t shared = 64;         // drawn for a block of text, in place of `negatives` for each example
  std::int64_t batch = 1000;        // examples a step, where negatives are not shared
  std::int64_t samples = 100;       // of nce, for a batch
  std::int64_t window = 5;
};

class Word2Vec : public tandem::Module {
 public:
  Word2Vec(std::int64_t vocabulary, const ModelOptions& options);
  const tandem::Variable& embeddings() const { return embeddings_; }
  const tandem::Variable& outputs() const { return outputs_; }
  const tandem::Variable& biases() const { return biases_; }  // of nce
  /// Those that the loss trains.
  std::vector<tandem::Variable> trained() const;

 private:
  tandem::Variable embeddings_, outputs_, biases_;
};

/// What one training step takes.
struct Batch {
  std::vector<tandem::Tensor> inputs;
  std::int64_t examples = 0;  // pairs of words (skip-gram), words with a context (cbow)
};

/// A way to train the model: makes batches of text, and their loss.
class Objective {
 public:
  virtual ~Objective() = default;
  virtual std::vector<Batch> batches(Chunk chunk) const = 0;
  /// The sum of the losses of a batch's examples (nce: their mean).
  virtual tandem::Tensor loss(const Word2Vec& model, const std::vector<tandem::Tensor>& inputs) const = 0;
  /// By what to divide the loss to get that of one example.
  virtual double examples_in_loss(const Batch& batch) const { return static_cast<double>(batch.examples); }
};

/// Blocks of 64 words in a row: all products of their vectors with those of the words around and of the block's
/// negatives are one matrix product, of which a mask picks the pairs. Equal in expectation to `own`.
std::unique_ptr<Objective> make_block_objective(const ModelOptions& options, const NoiseWords& noise);
/// Single examples, each with negatives of its own, or all with the samples of nn::nce_loss.
///   generator   where nce draws from
std::unique_ptr<Objective> make_example_objective(const ModelOptions& options, const NoiseWords& noise,
                                                  std::int64_t vocabulary, const tandem::random::Generator& generator);
