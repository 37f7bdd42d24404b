// Fused programs as the device executes them: with each instruction, and random ones.
#pragma once
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "cuda/fused/program.hpp"
#include "tests/cuda/device.hpp"

namespace machines {

using namespace tandem;
using cuda::FusedCode;
using cuda::FusedInstruction;
using cuda::FusedMachine;
using cuda::FusedType;

inline constexpr FusedType types[] = {FusedType::number, FusedType::half, FusedType::bfloat, FusedType::flag};
inline constexpr int codes = static_cast<int>(FusedCode::unknown);
inline DType dtype_of(FusedType t) {
  return t == FusedType::number ? float32 : t == FusedType::half ? float16 : t == FusedType::bfloat ? bfloat16 : bool_;
}

/// Each of up to 32 instructions from `first` on, with three inputs and a result each of types that depend on `turn`.
inline FusedMachine of_each(int first, int turn) {
  FusedMachine m;
  m.inputs = m.slots = 3;
  for (int k = 0; k < 3; ++k) m.in_type[k] = types[(k + turn) % 4];
  for (int code = first; code < std::min(codes, first + 32); ++code, ++m.count) {
    m.out_type[m.count] = types[(m.count + turn) % 4];
    m.code[m.count] = {
        static_cast<FusedCode>(code), {0, 1, 2}, FusedInstruction::nowhere, static_cast<std::uint8_t>(m.count)};
  }
  return m;
}

inline FusedMachine random(std::mt19937& draw) {
  const auto below = [&](int n) { return static_cast<std::uint8_t>(draw() % static_cast<unsigned>(n)); };
  FusedMachine m;
  m.inputs = m.slots = 1 + below(5);
  for (int k = 0; k < m.inputs; ++k) m.in_type[k] = types[below(4)];
  const int count = 1 + below(24);
  int outputs = 0;
  for (; m.count < count; ++m.count) {
    FusedInstruction i{static_cast<FusedCode>(below(codes)), {}, FusedInstruction::nowhere, FusedInstruction::nowhere};
    for (std::uint8_t& in : i.in) in = m.count > 0 && below(3) == 0 ? FusedInstruction::carried : below(m.slots);
    if (below(4) == 0) i.slot = below(m.slots);
    else if (below(2) == 0) i.slot = static_cast<std::uint8_t>(m.slots++);
    if (m.count + 1 == count || below(5) == 0) {
      m.out_type[outputs] = types[below(4)];
      i.output = static_cast<std::uint8_t>(outputs++);
    }
    m.code[m.count] = i;
  }
  return m;
}

inline int outputs_of(const FusedMachine& m) {
  int n = 0;
  for (int k = 0; k < m.count; ++k) n += m.code[k].output != FusedInstruction::nowhere;
  return n;
}

/// The results, on the host.
inline std::vector<Tensor> run(const FusedMachine& m, const std::vector<Tensor>& in, const Shape& shape) {
  std::vector<Tensor> out;
  std::vector<Operand> operands, results;
  for (int o = 0; o < outputs_of(m); ++o)
    out.push_back(Tensor::allocate({shape, dtype_of(m.out_type[o]), gpu_test::gpu}));
  for (const Tensor& t : in) operands.push_back({t.raw(), &t.spec()});
  for (const Tensor& t : out) results.push_back({t.raw(), &t.spec()});
  KernelCall c{operands, results, no_attrs};
  c.op = "fused";
  c.stream = {gpu_test::gpu, const_cast<cuda::Queue*>(&cuda::queue(0))};
  cuda::run_fused(c, m);
  for (Tensor& t : out) t = t.cpu();
  return out;
}

/// The same bits, but that a NaN is like any other: compilers change the order of operands.
inline bool same(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = table_calls::as_doubles(a), y = table_calls::as_doubles(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double p, double q) {
    return std::memcmp(&p, &q, sizeof(p)) == 0 || (std::isnan(p) && std::isnan(q));
  });
}

}  // namespace machines
