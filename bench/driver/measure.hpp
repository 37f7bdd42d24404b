// Interleaved measurement of one case for all its competitors. Not here: how the figures are evaluated (table.hpp).
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "process.hpp"

namespace bench::driver {

/// One competitor in a comparison: a name, and a way to take one sample. `error`: why it has none.
struct Side {
  std::string name;
  std::function<Cost()> sample;
  std::string error;
  std::vector<Cost> samples;
};

struct Quartiles {
  double low = 0, median = 0, high = 0;
};

Quartiles quartiles(std::vector<double> values);

/// The compared component of a cost: its seconds or its megabytes.
using Figure = double Cost::*;

/// The quartiles of the side's figure over the rounds.
Quartiles figure(const Side& side, Figure which = &Cost::seconds);

/// The quartiles of the per-round ratio of the first side's figure to the second's.
Quartiles ratio(const Side& peer, const Side& ours, Figure which = &Cost::seconds);

/// Takes `rounds` samples of every side without an error: one of each per round, in alternating order.
void take_rounds(std::vector<Side>& sides, int rounds);

/// The values that one side computed, as sent by its worker.
struct Result {
  long count = 0;
  double sum_abs = 0, weighted = 0;
  std::vector<double> samples;
};

Result parse_result(const std::string& line);

/// Describes how two results differ; empty if they agree within the tolerance.
std::string difference(const Result& a, const Result& b, double tolerance);
}  // namespace bench::driver
