// The first task: continues texts with a character model, greedily and by beam search.
#pragma once
#include <cstdint>
#include <string>

struct TextOptions {
  std::string corpus = "/usr/share/common-licenses";
  std::string checkpoint = "beam_search.safetensors";  // of char_rnn, or one that is trained at first use
  double minutes = 1;                                  // maximum training time
  std::int64_t steps = 0;                              // so many instead; 0: as fit in the minutes
  std::string prompt;                                  // a text to continue; empty: texts of the corpus
  std::int64_t prompts = 200;                          // number of such prompts
  std::int64_t width = 8, length = 40;                 // hypotheses, characters
  std::int64_t seed = 1;
};

/// Returns the program's exit status: 130 if training was interrupted.
int continue_texts(const TextOptions& options);
