// Training: shuffled windows of a text, the loss on what is held out of it, and the weights that were best there.
#pragma once
#include <tandem/distribute.hpp>
#include <tandem/train.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "examples/support/characters.hpp"
#include "examples/support/training.hpp"
#include "model.hpp"

struct TrainOptions : training::Options {
  std::int64_t window = 50;                // characters
  double learning_rate = 0.002, clip = 5;  // clip: of the gradients' global norm
  std::int64_t patience = 5;               // epochs without a better result on held-out text before training ends
};

/// A text as a model sees it. Its last twentieth is held out.
struct Text {
  explicit Text(const std::string& path);
  std::string source;  // its name and its content, as data_setting has them
  std::size_t size;    // in bytes
  Vocabulary vocabulary;
  std::vector<std::int32_t> train, held_out;
};

/// Where a run keeps the weights of its best epoch, with the description of their model.
inline std::string best_weights(const std::string& run) { return run + "/best.safetensors"; }

/// Trains a model, or goes on with its training, and returns the values of the epochs: "loss" in nats, "held_out" in
/// bits a character.
///   program   which may go on with the run
///   strategy  whose processes compute the gradients of each batch
///   throws    std::runtime_error if the text is too short, and if training diverges; as Trainer::fit
tandem::train::History learn(const char* program, ModelOptions model, const TrainOptions& options, const Text& text,
                             const tandem::distribute::MultiWorkerMirroredStrategy& strategy);
