// The work of the half scenario: bfloat16 in products, normalizations, pointwise ops and casts, and a training step of
// the MLP of mlp_step/ that computes in bfloat16, with its weights and its optimizer in float32.
#pragma once
#include <cstdint>

#include "../mlp_step/work.hpp"

namespace bench::half {

inline constexpr std::int64_t sizes[] = {512, 1024};
inline constexpr std::int64_t rows = 128, columns = 1000, million = 1 << 20;
inline constexpr double epsilon = 1e-3;
inline std::string matmul(std::int64_t n) { return "half/matmul_" + std::to_string(n); }
inline constexpr const char* matvec = "half/matvec_1024x4096";
inline constexpr std::int64_t matvec_rows = 1024, matvec_columns = 4096;
inline constexpr const char* softmax = "half/softmax_128x1000";
inline constexpr const char* layer_norm = "half/layer_norm_128x1000";
inline constexpr const char* add = "half/add_1M";
inline constexpr const char* gelu = "half/gelu_1M";
inline constexpr const char* sum = "half/sum_1Mx1";
inline constexpr const char* widening = "half/cast_to_float32_1M";
inline constexpr const char* rounding = "half/cast_from_float32_1M";
inline constexpr const char* mlp_step = "half/mlp_step_784_256_256_10_b128_adam";

}  // namespace bench::half
