// The second task: translates dates in many formats to ISO 8601 with a sequence-to-sequence model and beam search.
#pragma once
#include <cstdint>
#include <string>

#include "examples/support/training.hpp"

struct DateOptions : training::Options {
  std::string picture = "attention.svg";
  std::string date = "Thursday, 3 April 1997";  // the date that the picture shows
  double enough = 0.999;                        // training ends when this fraction of a test is exact
  std::int64_t tests = 2000, width = 4;
};

/// Returns the program's exit status: 130 if training was interrupted.
int translate_dates(const DateOptions& options);
