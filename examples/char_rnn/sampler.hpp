// Writing text with a model: one character at a time, the state fed back.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "model.hpp"
#include "text.hpp"

struct SampleOptions {
  std::string start = "The ";
  std::int64_t characters = 500;
  double temperature = 0.7;  // 0: always the likeliest character
  std::int64_t seed = 1;
};

/// Calls `write` with the start text and with each character drawn after it.
///   throws  std::runtime_error if no character of the start text is in the vocabulary
void sample(const CharRnn& model, const Vocabulary& vocabulary, const SampleOptions& options,
            const std::function<void(char)>& write);
