// Training: chunk by chunk for several epochs, with a learning rate that decays linearly unless the loss is nce; the
// loss on held-out text; checkpoints. Each process of a strategy trains on a chunk of its own at a time.
#pragma once
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "chunk.hpp"
#include "model.hpp"
#include "numbers_of_all.hpp"
#include "vocabulary.hpp"

struct TrainOptions {
  std::int64_t epochs = 20;
  double minutes = 2;
  // Initial value; decays to 1/10000 of it. 0: for skip-gram 0.0125, half of the usual value for training on single
  // examples (a step here processes those of hundreds of words at once); for cbow, which has one example a word instead
  // of one for each pair, 0.1. With nce constant, and 0.5, for the mean loss.
  double learning_rate = 0;
  double momentum = -1;    // negative: 0, with nce 0.5
  double sample = 1e-3;    // more frequent words are dropped at random; 0: none are
  bool lines = false;      // windows end with their line
  double held_out = 0.02;  // the fraction of the text, at its end, that is not trained on
  std::int64_t seed = 1;
};

/// The batches of a chunk of the text.
struct Prepared {
  std::vector<Batch> batches;
  std::int64_t words = 0, trained_words = 0;  // read, and left after subsampling
};

class Trainer {
 public:
  /// The corpus, the vocabulary and the strategy, in whose scope it is made and called by all processes, must outlive
  /// the trainer.
  Trainer(const Corpus& corpus, const Vocabulary& vocabulary, const ModelOptions& model, const TrainOptions& options,
          const workers::Strategy& strategy);
  Trainer(const Trainer&) = delete;  // the traced step refers to this object
  Trainer& operator=(const Trainer&) = delete;

  /// Of all processes.
  struct Progress {
    std::int64_t words = 0, trained_words = 0;  // read, and left after subsampling
    double loss = 0;                            // mean over examples
    double first = 0, last = 0;                 // the same of the first and the last 100 steps
  };
  /// Trains on the next chunks, one for each process. throws std::runtime_error if training diverged
  Progress train_chunk();
  /// Whether the epochs or the minutes are used up.
  bool is_done() const { return share() >= 1; }
  /// The completed fraction of the run, 0 to 1.
  double share() const;
  /// The mean loss per example of the held-out text; 0 if there is none.
  double held_out_loss() const;

  const Word2Vec& model() const { return model_; }
  std::int64_t epoch() const { return done_ / chunks_; }
  std::int64_t steps() const { return optimizer_.iterations().item<std::int64_t>(); }
  double seconds() const { return seconds_.item<double>(); }
  double learning_rate() const { return optimizer_.learning_rate().item<float>(); }
  /// The whole state; for one that save_state() has prepared, and before load_state().
  const tandem::train::Checkpoint& checkpoint() const { return checkpoint_; }
  void save_state() const;
  void load_state();

 private:
  using Chunks = tandem::data::Dataset<Prepared>;
  Chunks prepared(const tandem::data::Dataset<std::string>& blocks, std::int64_t seed) const;
  Prepared next_chunk();
  tandem::Tensor learn(const std::vector<tandem::Tensor>& inputs, const tandem::Tensor& rate) const;

  const Vocabulary& vocabulary_;
  const workers::Strategy& strategy_;
  TrainOptions options_;
  const bool decays_;  // the learning rate
  const ChunkOptions chunk_options_;
  Subsampling subsampling_;
  NoiseWords noise_;
  tandem::random::Generator generator_;
  Word2Vec model_;
  std::unique_ptr<Objective> objective_;
  tandem::optimizers::SGD optimizer_;
  const std::int64_t chunk_blocks_;
  const std::int64_t train_blocks_;  // the rest is held out
  const Chunks training_, held_out_;
  const std::int64_t chunks_;                             // in an epoch
  std::int64_t done_ = 0;                                 // chunks of all epochs and processes
  std::optional<tandem::data::Iterator<Prepared>> next_;  // of this process, behind those
  tandem::Variable position_, seconds_;
  tandem::train::Checkpoint checkpoint_;
  std::function<tandem::Tensor(const std::vector<tandem::Tensor>&, const tandem::Tensor&)> traced_step_;
};
