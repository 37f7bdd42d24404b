// Generates text with a model: one character at a time, carrying the state.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "examples/support/characters.hpp"
#include "model.hpp"

struct SampleOptions {
  std::string start = "The ";
  std::int64_t characters = 500;
  double temperature = 0.7;  // 0: always the most probable character
  std::int64_t seed = 1;
};

/// Generates text: calls `write` with the start text and then with each sampled character.
///   throws  std::runtime_error if no character of the start text is in the vocabulary
void sample(const CharRnn& model, const Vocabulary& vocabulary, const SampleOptions& options,
            const std::function<void(char)>& write);
