// The work of the matmul scenario: C[m,n] = A[m,k] B[k,n] in float32, 1024^3 with A or B stored transposed, and batches
// of products.
#pragma once
#include <cstdint>
#include <string>

namespace bench::matmul {

struct Size {
  std::int64_t m, k, n;
  double operations() const { return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n); }
  std::string name() const { return "matmul/" + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n); }
};

inline constexpr Size sizes[] = {{64, 64, 64},       {128, 128, 128},    {256, 256, 256}, {512, 512, 512},
                                 {1024, 1024, 1024}, {2048, 2048, 2048}, {128, 784, 256}, {128, 512, 2048},
                                 {64, 256, 1024},    {1, 1024, 1024}};

inline constexpr Size transposed = {1024, 1024, 1024};
inline constexpr const char* transposed_a = "matmul/1024_transposed_a";
inline constexpr const char* transposed_b = "matmul/1024_transposed_b";
// Inference by a weight that is stored as [outputs, inputs]: few rows times its transpose. Tandem's is a Variable.
inline constexpr Size weights[] = {{8, 1024, 1024}, {64, 1024, 256}};
inline std::string weight_name(const Size& s) { return "matmul/by_weight_" + s.name().substr(7); }

struct Batch {
  std::int64_t count;
  Size each;
  std::string name() const { return "matmul/batch_" + std::to_string(count) + "_" + each.name().substr(7); }
  double operations() const { return static_cast<double>(count) * each.operations(); }
};
inline constexpr Batch batches[] = {
    {12, {200, 64, 200}}, {12, {200, 200, 64}}, {100, {31, 17, 45}}, {64, {128, 64, 128}}};
}  // namespace bench::matmul
