// LibTorch's side of the benchmarks: conversion of the shared inputs to tensors, and of tensors to numbers. Not
// here: the cases.
#pragma once
#include <torch/torch.h>

#include "../runner.hpp"

namespace bench {

template <>
struct Values<at::Tensor> {
  static std::vector<float> of(const at::Tensor& t) {
    const at::Tensor flat = t.detach().to(torch::kFloat32).contiguous().view({-1});
    return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
  }
};

/// A float32 tensor that owns a copy of the shared inputs.
inline at::Tensor torch_normal(at::IntArrayRef shape, std::uint32_t seed, float scale = 1) {
  std::vector<float> values = normal(c10::multiply_integers(shape), seed, scale);
  return torch::from_blob(values.data(), shape, torch::kFloat32).clone();
}

inline at::Tensor torch_indices(at::IntArrayRef shape, std::int64_t bound, std::uint32_t seed) {
  std::vector<std::int64_t> values = indices(c10::multiply_integers(shape), bound, seed);
  return torch::from_blob(values.data(), shape, torch::kInt64).clone();
}

/// The concatenated values of several tensors.
inline std::vector<float> values_of(const std::vector<at::Tensor>& tensors) {
  std::vector<float> all;
  for (const auto& t : tensors) {
    const auto values = Values<at::Tensor>::of(t);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

/// repeat() without gradient recording.
template <class F>
Work repeat_no_grad(F f) {
  return repeat([f]() mutable {
    const torch::NoGradGuard guard;
    return f();
  });
}
}  // namespace bench
