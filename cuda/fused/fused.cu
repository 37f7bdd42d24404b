// The CUDA kernel of fused programs: an interpreter. Each thread computes a few adjacent elements, whose values are in
// shared memory, in slots of its own, so that threads need not wait for each other; the result of the last instruction
// stays in registers. The ops are the rules of their own kernels, so results have the same bits. Inputs are read before
// the first result is written: a result may have the buffer of an input of its size.
#include "cuda/chunk.hpp"
#include "cuda/fused/program.hpp"
#include "cuda/number.hpp"
#include "tandem/ops/pointwise/activation.inl"
#include "tandem/ops/pointwise/arith.inl"
#include "tandem/ops/pointwise/compare.inl"
#include "tandem/ops/pointwise/exp.inl"
#include "tandem/ops/pointwise/smooth_activation.inl"
#include "tandem/ops/pointwise/special.inl"
#include "tandem/ops/pointwise/trig.inl"

namespace TANDEM_NS::cuda {
namespace {

struct FusedOperands {
  const void* in[most_fused_inputs];
  void* out[most_fused_ops];
  FusedAccess access[most_fused_inputs];
  bool whole;  // flat inputs and outputs can be read and written in chunks
  std::uint32_t n;
};

template <class S>
TANDEM_HD float as_number(S x) {
  return static_cast<float>(x);
}
template <class S>
TANDEM_HD S as_stored(float x) {
  if constexpr (std::is_same_v<S, bool>) return x != 0;
  else return static_cast<S>(x);
}

// f(an S), the type of the operand's elements.
template <class F>
__device__ __forceinline__ void with_type(FusedType t, const F& f) {
  switch (t) {
    case FusedType::number: return f(float());
    case FusedType::half: return f(Half());
    case FusedType::bfloat: return f(BFloat16());
    default: return f(bool());
  }
}

// What a thread computes at once: elements `first` to `first` + N - 1, up to the end.
template <int N>
struct Part {
  std::uint32_t first, n;
  bool chunk;  // read and written at once

  template <class S>
  __device__ __forceinline__ void load(const S* p, FusedAccess access, const IndexMap<most_fused_inputs, max_rank>& map,
                                       int input, float (&to)[N]) const {
    if (access == FusedAccess::scalar) {
      const float x = as_number(*p);
      for (int j = 0; j < N; ++j) to[j] = x;
    } else if (access == FusedAccess::flat) {
      if (chunk) {
        const auto c = *reinterpret_cast<const Chunk<S, N>*>(p + first);
        for (int j = 0; j < N; ++j) to[j] = as_number(c.at[j]);
        return;
      }
      for (int j = 0; j < N; ++j) to[j] = first + j < n ? as_number(p[first + j]) : 0;
    } else {
      for (int j = 0; j < N; ++j) to[j] = first + j < n ? as_number(p[map.offset(input, first + j)]) : 0;
    }
  }
  template <class S>
  __device__ __forceinline__ void store(S* p, const float (&x)[N]) const {
    if (chunk) {
      Chunk<S, N> c;
      for (int j = 0; j < N; ++j) c.at[j] = as_stored<S>(x[j]);
      *reinterpret_cast<Chunk<S, N>*>(p + first) = c;
      return;
    }
    for (int j = 0; j < N; ++j)
      if (first + j < n) p[first + j] = as_stored<S>(x[j]);
  }
};

// a = what the instruction makes of its operands, of which a is the first.
template <int N, class Operand>
__device__ __forceinline__ void execute(FusedCode code, Chunk<float, N>& a, const Operand& operand) {
  const auto one = [&](const auto& f) {
#pragma unroll
    for (int j = 0; j < N; ++j) a.at[j] = f(a.at[j]);
  };
  const auto two = [&](const auto& f) {
    const Chunk<float, N> b = operand(1);
#pragma unroll
    for (int j = 0; j < N; ++j) a.at[j] = f(a.at[j], b.at[j]);
  };
  const auto three = [&](const auto& f) {
    const Chunk<float, N> b = operand(1), c = operand(2);
#pragma unroll
    for (int j = 0; j < N; ++j) a.at[j] = f(a.at[j], b.at[j], c.at[j]);
  };
  switch (code) {
#define TANDEM_CODE(name) \
  case FusedCode::name: return one([](float x) { return rules::name##_rule::forward<float>(x); });
    TANDEM_CUDA_FUSED_UNARY(TANDEM_CODE)
#undef TANDEM_CODE
#define TANDEM_CODE(name) \
  case FusedCode::name: return two([](float x, float y) { return rules::name##_rule::forward<float>(x, y); });
    TANDEM_CUDA_FUSED_BINARY(TANDEM_CODE)
#undef TANDEM_CODE
#define TANDEM_CODE(name) \
  case FusedCode::name:   \
    return two([](float x, float y) { return rules::name##_rule::forward<float>(x, y) ? 1.f : 0.f; });
    TANDEM_FUSED_LOOP_COMPARISON(TANDEM_CODE)
#undef TANDEM_CODE
    case FusedCode::leaky_relu_grad:
      return three(
          [](float g, float x, float alpha) { return rules::leaky_relu_grad_rule::forward<float>(g, x, alpha); });
    case FusedCode::select: return three([](float m, float x, float y) { return m != 0 ? x : y; });
    case FusedCode::logical_and: return two([](float x, float y) { return x != 0 && y != 0 ? 1.f : 0.f; });
    case FusedCode::logical_or: return two([](float x, float y) { return x != 0 || y != 0 ? 1.f : 0.f; });
    case FusedCode::logical_xor: return two([](float x, float y) { return x != y ? 1.f : 0.f; });
    case FusedCode::logical_not: return one([](float x) { return x != 0 ? 0.f : 1.f; });
    case FusedCode::is_nan: return one([](float x) { return rules::is_nan(x) ? 1.f : 0.f; });
    case FusedCode::is_inf: return one([](float x) { return rules::is_inf(x) ? 1.f : 0.f; });
    case FusedCode::is_finite: return one([](float x) { return rules::is_finite(x) ? 1.f : 0.f; });
    case FusedCode::to_flag: return one([](float x) { return x != 0 ? 1.f : 0.f; });
    case FusedCode::round_half: return one([](float x) { return as_number(Half(x)); });
    case FusedCode::round_bfloat: return one([](float x) { return as_number(BFloat16(x)); });
    case FusedCode::copy:
    case FusedCode::unknown: return;
  }
}

template <int N, int Slots>
__global__ void __launch_bounds__(block_size)
    fused_kernel(FusedMachine machine, FusedOperands o, IndexMap<most_fused_inputs, max_rank> map) {
  __shared__ Chunk<float, N> values[Slots * block_size];
  Chunk<float, N>* const own = values + threadIdx.x;
  const std::uint32_t parts = (o.n + N - 1) / N, step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < parts; i += step) {
    const Part<N> part{i * N, o.n, o.whole && i * N + N <= o.n};
    for (int k = 0; k < machine.inputs; ++k) {
      Chunk<float, N> x;
      with_type(machine.in_type[k],
                [&]<class S>(S) { part.load(static_cast<const S*>(o.in[k]), o.access[k], map, k, x.at); });
      own[static_cast<unsigned>(k) * block_size] = x;
    }
    Chunk<float, N> carried{};
    for (int k = 0; k < machine.count; ++k) {
      const FusedInstruction instruction = machine.code[k];
      const auto operand = [&](int n) {
        return instruction.in[n] == FusedInstruction::carried ? carried : own[instruction.in[n] * block_size];
      };
      Chunk<float, N> result = operand(0);
      execute(instruction.code, result, operand);
      carried = result;
      if (instruction.slot != FusedInstruction::nowhere) own[instruction.slot * block_size] = carried;
      if (instruction.output != FusedInstruction::nowhere)
        with_type(machine.out_type[instruction.output],
                  [&]<class S>(S) { part.store(static_cast<S*>(o.out[instruction.output]), carried.at); });
    }
  }
}

using FusedAxes = AxisList<most_fused_inputs + 1, max_rank>;
constexpr int of_result = most_fused_inputs;  // operand of FusedAxes

std::size_t width_of(FusedType t) { return t == FusedType::number ? 4 : t == FusedType::flag ? 1 : 2; }

template <int N, int Slots>
void run_as(const KernelCall& c, const FusedMachine& machine, const FusedAxes& axes, const i64* at) {
  FusedOperands o{};
  o.n = static_cast<std::uint32_t>(axes.count());
  o.whole = true;
  const auto place = [&](void* p, FusedType t, i64 first, bool flat) {
    const std::size_t width = width_of(t);
    char* const from = static_cast<char*>(p) + first * static_cast<i64>(width);
    o.whole = o.whole && (!flat || reinterpret_cast<std::uintptr_t>(from) % std::min<std::size_t>(16, N * width) == 0);
    return from;
  };
  for (int k = 0; k < machine.inputs; ++k) {
    bool scalar = true, flat = true;
    for (int d = 0; d < axes.axes; ++d) {
      scalar = scalar && axes.stride[k][d] == 0;
      flat = flat && axes.stride[k][d] == axes.stride[of_result][d];
    }
    o.access[k] = flat ? FusedAccess::flat : scalar ? FusedAccess::scalar : FusedAccess::mapped;
    o.in[k] = place(c.in[static_cast<std::size_t>(k)].data, machine.in_type[k], at[k], flat);
  }
  for (std::size_t k = 0; k < c.out.size(); ++k)
    o.out[k] = place(c.out[k].data, machine.out_type[k], at[of_result], true);
  launch(c, &fused_kernel<N, Slots>, blocks_for((o.n + N - 1) / N), machine, o, axes.template map<most_fused_inputs>());
}
// As many elements a thread as their slots leave room for in the 48 KiB of shared memory that every kernel has.
void run_part(const KernelCall& c, const FusedMachine& machine, const FusedAxes& axes, const i64* at) {
  static_assert(most_fused_slots <= 48);
  if (machine.slots <= 4) run_as<8, 4>(c, machine, axes, at);
  else if (machine.slots <= 6) run_as<8, 6>(c, machine, axes, at);
  else if (machine.slots <= 12) run_as<4, 12>(c, machine, axes, at);
  else run_as<1, 48>(c, machine, axes, at);
}

}  // namespace

void fused(const KernelCall& c) {
  if (c.out[0].size() == 0) return;
  const FusedMachine machine(c, *c.attrs.get<rules::FusedAttrs>().program);
  const Shape* shapes[most_fused_inputs + 1] = {};
  for (std::size_t k = 0; k < c.in.size(); ++k) shapes[k] = &c.in[k].shape();
  shapes[of_result] = &c.out[0].shape();
  in_pieces(broadcast_axes(c.out[0].shape(), shapes),
            [&](const FusedAxes& piece, const i64* at) { run_part(c, machine, piece, at); });
}

}  // namespace TANDEM_NS::cuda
