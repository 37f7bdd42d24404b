// Tandem's side of the benchmarks: conversion of the shared inputs to tensors, and of tensors to numbers. Not here:
// the cases.
#pragma once
#include <tandem/tandem.hpp>

#include <tuple>

#include "../runner.hpp"

namespace bench {

template <>
struct Values<tandem::Tensor> {
  static std::vector<float> of(const tandem::Tensor& t) { return tandem::cast(t, tandem::float32).to_vector<float>(); }
};

inline tandem::Tensor tandem_from(const std::vector<float>& values, const tandem::Shape& shape) {
  return tandem::constant(values.data(), shape);
}

/// A float32 tensor with the shared inputs.
inline tandem::Tensor tandem_normal(const tandem::Shape& shape, std::uint32_t seed, float scale = 1) {
  return tandem_from(normal(shape.size(), seed, scale), shape);
}

inline tandem::Tensor tandem_indices(const tandem::Shape& shape, std::int64_t bound, std::uint32_t seed) {
  return tandem::constant(indices(shape.size(), bound, seed).data(), shape);
}

/// Adds the cost of tracing a function: `scenario` runs it once eagerly, `scenario@trace` makes a new traced
/// function of it and calls that once.
///   make  returns a tuple of the function, ready to run, and its arguments
template <class Make>
bool add_trace_cost(const std::string& scenario, Make make) {
  const auto add_case = [=](const std::string& name, auto prepare) {
    return add(name, [=] {
      const auto call = [prepare](const auto& f, const auto&... arguments) { prepare(f)(arguments...); };
      return steps([call, made = make()] { std::apply(call, made); }, nullptr);
    });
  };
  add_case(scenario, [](const auto& f) { return f; });
  return add_case(scenario + "@trace", [](const auto& f) { return tandem::function(f); });
}

/// Adds `scenario`: training steps of a model with a step(x, y) that returns the loss, with its x and y;
/// `scenario@traced`: the same as a traced function; and the cost of tracing as trace_cost/`folder`.
template <class Model>
bool add_training(const std::string& scenario, int checked_steps, const std::string& folder) {
  const auto make = [] {
    const auto m = std::make_shared<Model>();
    return std::tuple([m](const tandem::Tensor& x, const tandem::Tensor& y) { return m->step(x, y); }, m->x, m->y);
  };
  const auto add_case = [=](const std::string& name, auto prepare) {
    add(name, [=] {
      const auto [step, x, y] = make();
      return training([f = prepare(step), x = x, y = y] { return f(x, y); }, checked_steps);
    });
  };
  add_case(scenario, [](const auto& f) { return f; });
  add_case(scenario + "@traced", [](const auto& f) { return tandem::function(f); });
  return add_trace_cost("trace_cost/" + folder, [make] {
    auto made = make();
    const auto& [step, x, y] = made;
    step(x, y);  // creates the optimizer's Variables
    return made;
  });
}

/// The concatenated values of several tensors.
inline std::vector<float> values_of(const std::vector<tandem::Tensor>& tensors) {
  std::vector<float> all;
  for (const auto& t : tensors) {
    const auto values = t.to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}
}  // namespace bench
