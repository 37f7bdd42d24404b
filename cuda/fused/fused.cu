// The CUDA kernel of fused programs: an interpreter. It runs unless compilation is on (kernels.hpp), which is off by
// default, and then until a program is compiled. Each thread computes a few adjacent elements, whose values are in
// shared memory, in slots of its own, so that threads need not wait for each other; the result of the last instruction
// stays in registers. The ops are the rules of their own kernels, so results have the same bits. Inputs are read before
// the first result is written: a result may have the buffer of an input of its size.
#include "cuda/chunk.hpp"
#include "cuda/fused/kernels.hpp"
#include "cuda/fused/program.hpp"
#include "tandem/ops/pointwise/activation.inl"
#include "tandem/ops/pointwise/arith.inl"
#include "tandem/ops/pointwise/compare.inl"
#include "tandem/ops/pointwise/exp.inl"
#include "tandem/ops/pointwise/smooth_activation.inl"
#include "tandem/ops/pointwise/special.inl"
#include "tandem/ops/pointwise/trig.inl"
// After the rules.
#include "cuda/fused/compute.inc"

namespace TANDEM_NS::cuda {
namespace {

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

template <class S, int N>
__device__ __forceinline__ void load(const FusedPart<N>& part, const S* p, FusedAccess access,
                                     const IndexMap<most_fused_inputs, max_rank>& map, int input, float (&to)[N]) {
  if (access == FusedAccess::scalar) return part.load_scalar(p, to);
  if (access == FusedAccess::flat) return part.load(p, to);
  for (int j = 0; j < N; ++j) to[j] = part.first + j < part.n ? as_number(p[map.offset(input, part.first + j)]) : 0;
}

// a = what the instruction makes of its operands, of which a is the first.
template <FusedCode Code, int N, class Operand>
__device__ __forceinline__ void apply_code(Chunk<float, N>& a, const Operand& operand) {
  if constexpr (operand_count(Code) == 1) {
#pragma unroll
    for (int j = 0; j < N; ++j) a.at[j] = compute<Code>(a.at[j]);
  } else if constexpr (operand_count(Code) == 2) {
    const Chunk<float, N> b = operand(1);
#pragma unroll
    for (int j = 0; j < N; ++j) a.at[j] = compute<Code>(a.at[j], b.at[j]);
  } else {
    const Chunk<float, N> b = operand(1), c = operand(2);
#pragma unroll
    for (int j = 0; j < N; ++j) a.at[j] = compute<Code>(a.at[j], b.at[j], c.at[j]);
  }
}
template <int N, class Operand>
__device__ __forceinline__ void execute(FusedCode code, Chunk<float, N>& a, const Operand& operand) {
  switch (code) {
#define TANDEM_CODE(name) \
  case FusedCode::name: return apply_code<FusedCode::name>(a, operand);
    TANDEM_CUDA_FUSED(TANDEM_CODE)
    TANDEM_CUDA_FUSED_CASTS(TANDEM_CODE)
#undef TANDEM_CODE
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
    const FusedPart<N> part{i * N, o.n, o.whole && i * N + N <= o.n};
    for (int k = 0; k < machine.inputs; ++k) {
      Chunk<float, N> x;
      with_type(machine.in_type[k],
                [&]<class S>(S) { load(part, static_cast<const S*>(o.in[k]), o.access[k], map, k, x.at); });
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

template <int N, int Slots>
void run_as(const KernelCall& c, const FusedMachine& machine, const FusedAxes& axes, const i64* at) {
  const FusedOperands o = operands_of(c, machine, axes, at, N);
  launch(c, &fused_kernel<N, Slots>, blocks_for((o.n + N - 1) / N), machine, o, axes.template map<most_fused_inputs>());
}
// As many elements a thread as their slots leave room for in the 48 KiB of shared memory that every kernel has.
void run_part(const KernelCall& c, const FusedMachine& machine, const FusedAxes& axes, const i64* at) {
  static_assert(most_fused_slots <= 48);
  if (launch_compiled(c, machine, axes, at)) return;
  if (machine.slots <= 4) run_as<8, 4>(c, machine, axes, at);
  else if (machine.slots <= 6) run_as<8, 6>(c, machine, axes, at);
  else if (machine.slots <= 12) run_as<4, 12>(c, machine, axes, at);
  else run_as<1, 48>(c, machine, axes, at);
}

}  // namespace

void run_fused(const KernelCall& c, const FusedMachine& machine) {
  const Shape* shapes[most_fused_inputs + 1] = {};
  for (std::size_t k = 0; k < c.in.size(); ++k) shapes[k] = &c.in[k].shape();
  shapes[most_fused_inputs] = &c.out[0].shape();
  in_pieces(broadcast_axes(c.out[0].shape(), shapes),
            [&](const FusedAxes& piece, const i64* at) { run_part(c, machine, piece, at); });
}
void fused(const KernelCall& c) {
  if (c.out[0].size() > 0) run_fused(c, FusedMachine(c, *c.attrs.get<rules::FusedAttrs>().program));
}

}  // namespace TANDEM_NS::cuda
