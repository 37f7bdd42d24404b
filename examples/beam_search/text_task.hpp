// The first task: continues texts with a character model, greedily and by beam search.
#pragma once
#include <cstdint>
#include <string>

#include "examples/char_rnn/learn.hpp"

struct TextOptions {
  TrainOptions train;                   // .run: of char_rnn, or one that is trained at first use
  std::string prompt;                   // a text to continue; empty: texts of the corpus
  std::int64_t prompts = 200;           // number of such prompts
  std::int64_t width = 8, length = 40;  // hypotheses, characters
};

/// Returns the program's exit status: 130 if training was interrupted.
int continue_texts(const TextOptions& options);
