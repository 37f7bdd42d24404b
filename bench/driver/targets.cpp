// The table of targets. A ratio is peer time / our time, so larger is better.
#include "targets.hpp"

#include <algorithm>

namespace bench::driver {
namespace {

constexpr Target targets[] = {
    {"apply_overhead/add_32", "libtorch", 20, 20},
    {"apply_overhead/add_32_recorded", "libtorch", 30, 30},
    {"chain100/forward_backward", "libtorch", 40, 40},
    {"small_ops/*", "libtorch", 12, 12},
    {"small_ops/*@broadcast", "libtorch@broadcast", 12, 12},
    {"small_ops/*@broadcast", "tandem", 0.5, 0.5},  // at most twice the time of equal shapes
    {"pointwise/add*", "limit", 0.95, 0.95},
    {"pointwise/mul*", "limit", 0.95, 0.95},
    {"pointwise/exp_1M", "best", 1.2, 1.2},
    {"pointwise/tanh_1M", "best", 1.2, 1.2},
    {"pointwise/sigmoid_1M", "best", 1.2, 1.2},
    {"pointwise/relu_1M", "best", 1.2, 1.2},
    {"pointwise/gelu9_1M", "libtorch", 4, 4},
    {"matmul/*", "best", 1, 1},
    {"matmul/by_weight*", "libtorch", 1.2, 1.2},
    {"matmul/256x256x256", "limit", 0.9, 0.9},
    {"matmul/512x512x512", "limit", 0.9, 0.9},
    {"matmul/1024x1024x1024", "limit", 0.9, 0.9},
    {"matmul/2048x2048x2048", "limit", 0.9, 0.9},
    {"softmax/forward_128x1000", "libtorch", 1.8, 1.8},
    {"softmax/forward_backward_128x1000", "libtorch", 1.6, 1.6},
    {"softmax/nll*", "libtorch", 2.2, 2.2},
    {"conv2d/forward*", "libtorch", 1, 1},
    {"conv2d/forward_backward_32x28x28x1*", "libtorch", 2, 2},
    {"conv2d/forward_backward_128x28x28x1*", "libtorch", 2, 2},
    {"conv2d/inference*@traced", "libtorch", 1, 1},
    {"pool/*", "libtorch", 1.3, 1.3},
    {"pool/max_forward_backward*", "libtorch", 1.5, 1.5},
    {"layer_norm/forward_128x1000", "libtorch", 1.4, 1.4},
    {"layer_norm/forward_backward_128x1000", "libtorch", 1.6, 1.6},
    {"layer_norm/forward_backward_64x128x512", "libtorch", 1.3, 1.3},
    {"layer_norm/batch_norm*", "libtorch", 1.2, 1.2},
    {"attention/*", "libtorch", 1.2, 1.2},
    {"reduce/sum*", "limit", 0.95, 0.95},
    {"embedding/gather_1024_of_50kx128", "best", 1.3, 1.3},
    {"embedding/gather_and_sparse_gradient", "seconds", 20e-6, 20e-6},
    {"rows/sort*", "libtorch", 1.5, 1.5},
    {"rows/argsort*", "libtorch", 1.5, 1.5},
    {"rows/top*", "libtorch", 3, 3},
    {"rows/argmax*", "libtorch", 10, 10},
    {"rows/cumsum*", "libtorch", 3, 3},
    {"rows/variance*", "libtorch", 50, 50},
    {"layout/where*", "libtorch", 10, 10},
    {"layout/concat*", "limit", 1, 1},
    {"layout/stack*", "limit", 1, 1},
    {"layout/transpose*", "libtorch", 2, 2},
    {"two_ways/rows_by_slices*", "seconds", 100e-6, 100e-6},
    {"random/normal_300k", "libtorch", 4, 4},
    {"random/dropout_1M", "libtorch", 10, 10},
    {"adam/269k", "libtorch", 5, 5},
    {"adam/3.27M", "libtorch", 4, 4},
    {"data/*", "tensorflow", 1.5, 1.5},
    {"data/*", "pytorch", 1.5, 1.5},
    {"data/*", "grain", 1.5, 1.5},
    {"data_pictures/*", "tensorflow", 1.1, 1.1},
    {"data_pictures/*@scaled", "tensorflow", 2.5, 2.5},
    {"data_pictures/*@8_workers", "tandem", 0.85, 0.97},  // against none, and two, with so many processors
    {"data_start/*", "seconds", 5e-3, 5e-3},
    {"data_resume/*", "seconds", 10e-3, 10e-3},
    {"summary/1000_scalars", "seconds", 400e-6, 400e-6},
    {"summary/1000_scalars", "pytorch", 50, 50},
    {"summary/*", "tensorflow", 10, 10},
    {"fit_step/char_rnn@fit", "tandem", 0.995, 0.995},  // half a percent more than the loop by hand
    {"fit_step/char_rnn@fit_checked", "tandem", 0.995, 0.995},
    {"mlp_step/*", "libtorch", 1.15, 1.3},
    {"tiny_step/*", "libtorch", 18, 18},
    {"lstm_step/b64*", "libtorch", 1.15, 1.15},
    {"lstm_step/b1_*", "libtorch", 10, 10},
    {"char_rnn_step/*", "libtorch", 1.2, 1.15},
    {"word2vec/step*@traced", "libtorch", 1.4, 1.4},
    {"word2vec/step*@traced", "compiled", 1, 1},
    {"beam_search/*@traced", "libtorch", 1.4, 1.4},
    {"chain100/forward@traced", "seconds", 1.2e-6, 1.2e-6},
    {"chain100/*@traced", "compiled", 1, 1},
    {"chain100/*@traced", "jax@jit", 40, 40},
    {"pointwise/gelu9_1M@traced", "eigen@fused", 0.95, 0.95},
    {"pointwise/gelu9_16M@traced", "eigen@fused", 0.95, 0.95},
    {"pointwise/gelu9*@traced", "compiled", 1, 1},
    {"pointwise/gelu9_1M@traced", "jax@jit", 1.7, 1.7},
    {"mlp_step/*@traced", "libtorch", 1.25, 1.45},
    {"mlp_step/*@traced", "compiled", 1, 1},
    {"mlp_step/*@traced", "jax@jit", 1.3, 1.3},
    {"tiny_step/*@traced", "libtorch", 50, 50},
    {"mnist_cnn/*@traced", "libtorch", 1.15, 1.15},
    {"mnist_cnn/*@traced", "compiled", 1.15, 1.15},
    {"transformer_block/*@traced", "libtorch", 1.2, 1.2},
    {"transformer_block/*@traced", "compiled", 1.2, 1.2},
    {"lstm_step/b64*@traced", "libtorch", 1.3, 1.5},
    {"lstm_step/b64*@traced", "compiled", 1, 1},
    {"lstm_step/b64*@cells_traced", "tandem", 0.95, 0.95},  // as fast as the layer, up to noise
    {"lstm_step/b64*@cells_traced", "compiled", 1, 1},
    {"char_rnn_step/*@traced", "libtorch", 1.25, 1.4},
    {"char_rnn_step/*@traced", "compiled", 1, 1},
    {"char_rnn_step/*@cells_traced", "compiled", 1, 1},
    // Tracing costs at most 20 eager runs of the traced function.
    {"trace_cost/mlp_step@trace", "tandem", 1 / 20.0, 1 / 20.0},
    {"trace_cost/char_rnn_step@trace", "tandem", 1 / 20.0, 1 / 20.0},
    // Large graphs: a quadratic algorithm would take a minute.
    {"trace_cost/16000_variables@trace", "seconds", 2, 2},
    {"trace_cost/16000_columns@trace", "seconds", 1, 1},
    {"trace_cost/16000_rows@trace", "seconds", 1, 1},
    {"trace_cost/16000_row_gradients@trace", "seconds", 2, 2},
    {"memory/*@traced", "libtorch", 1, 1},
    {"startup/hello", "seconds", 10e-3, 10e-3},
    {"startup/hello", "megabytes", 20, 20},
    {"compile_cost/umbrella", "seconds", 1.5, 1.5},
    {"compile_cost/umbrella", "megabytes", 250, 250},
    {"compile_cost/matmul", "seconds", 1.5, 1.5},
    {"compile_cost/matmul", "megabytes", 250, 250},
    {"compile_cost/small_model", "seconds", 1.5, 1.5},
    {"compile_cost/small_model", "megabytes", 250, 250},
    {"compile_cost/umbrella_header_only", "seconds", 3, 3},
    {"compile_cost/umbrella_header_only", "megabytes", 600, 600},
    {"compile_cost/matmul_header_only", "seconds", 8, 8},
    {"compile_cost/matmul_header_only", "megabytes", 600, 600},
    {"compile_cost/small_model_header_only", "seconds", 12, 12},
    {"compile_cost/small_model_header_only", "megabytes", 600, 600},
};

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool matches(std::string_view pattern, std::string_view name, std::string_view variant) {
  const std::size_t at = std::min(pattern.find('@'), pattern.size());
  if (pattern.substr(std::min(at + 1, pattern.size())) != variant) return false;
  pattern = pattern.substr(0, at);
  return pattern.back() == '*' ? starts_with(name, pattern.substr(0, at - 1)) : pattern == name;
}
}  // namespace

bool Target::names(const std::string& competitor) const {
  if (against != "compiled") return against == competitor;
  const auto is = [&](std::string_view prefix) { return starts_with(competitor, prefix); };
  return is("pytorch@compile") || is("jax@") || is("tensorflow@");
}

std::vector<Target> targets_of(const std::string& scenario, std::string_view variant) {
  std::vector<Target> found;
  for (const Target& target : targets) {
    if (matches(target.scenario, scenario, variant)) found.push_back(target);
  }
  return found;
}

double tolerance_of(const std::string& scenario) {
  // Gradients through 50 steps and sums of thousands of products depend on the order of summation.
  if (starts_with(scenario, "half/")) return 0x1p-6;  // a bfloat16 may be rounded to either neighbour
  const bool training = scenario.find("_step/") != std::string::npos;
  return training ? 1e-3 : 1e-4;
}
}  // namespace bench::driver
