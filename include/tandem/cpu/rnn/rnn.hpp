// The CPU kernels of the LSTM and GRU layers: one product for the inputs of many steps, packed recurrent weights, and
// each thread carrying its share of the batch through these steps without synchronization. Gradients go back through
// the steps in chunks, which bounds their scratch.
// Operands of half precision are widened a chunk at a time, results are rounded chunk by chunk: outputs, and what is
// saved for the gradient. The state that is carried on, and sums over all steps, are float32. Weights are widened once.
// Values are time-major: x [t, b, i], y [t, b, u].
#pragma once
#include <algorithm>
#include <cstring>

#include "tandem/core/allocator.hpp"
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/gemm/gemm.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/rnn/rnn.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu {

TANDEM_API void lstm(const KernelCall& c);  // x h0 c0 wx wh b [lengths] -> y h c gates cells
TANDEM_API void lstm_grad(
    const KernelCall& c);                  // x h0 c0 wx wh b y gates cells dy dh dc [lengths] -> dx dh0 dc0 dwx dwh db
TANDEM_API void gru(const KernelCall& c);  // x h0 wx wh b [lengths] -> y h gates hu
TANDEM_API void gru_grad(const KernelCall& c);  // x h0 wx wh b y gates hu dy dh [lengths] -> dx dh0 dwx dwh db

}  // namespace TANDEM_NS::cpu
