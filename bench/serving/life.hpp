// What a model server costs while versions and requests come and go. Not here: what a request costs (main.cpp).
#pragma once
#include <string>

namespace bench {

/// Measures in a folder that it may fill, and prints a line for each: batches of a CNN, swaps of versions under load,
/// loads, the start, a million requests, idleness.
void measure_life(const std::string& folder, int rounds, double seconds);
/// Of these only how long a row takes, by the rows of a call and by protocols, and how fast JSON is read.
void measure_overhead(const std::string& folder, int rounds, double seconds);
/// Of these only what a model that many ask for does to the latency of the others.
void measure_floods(const std::string& folder, int rounds);
/// The server that measure_life starts: the models of the folder. Does not return.
void serve_models(const std::string& folder, bool batching);

}  // namespace bench
