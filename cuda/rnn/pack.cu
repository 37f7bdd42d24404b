// Copies of weights between our layout and cuDNN's: each gate's matrix is transposed, by tiles in shared memory.
#include "cuda/rnn/pack.hpp"

namespace TANDEM_NS::cuda {
namespace {

constexpr i64 side = 32;  // of a tile; a block has a row of threads for each 4 of its rows
constexpr i64 step = block_size / side;

TANDEM_HD i64 tiles_of(i64 n) { return (n + side - 1) / side; }

// A tile: rows of `rows`, from the first one on, of a gate's matrix, which lies in `ours` and at an offset of the
// space.
template <class T>
struct Tile {
  T* ours;
  i64 rows, row, unit, at;
};
// Tile i of all matrices.
template <class T>
TANDEM_HD Tile<T> tile_of(const RnnPacking& p, T* kernel, T* recurrent, i64 i) {
  const i64 across = tiles_of(p.units), of_input = p.gates * tiles_of(p.in) * across;
  const bool input = i < of_input;
  const i64 rows = input ? p.in : p.units, rest = input ? i : i - of_input, each = tiles_of(rows) * across;
  const i64 gate = rest / each, k = rest % each;
  return {(input ? kernel : recurrent) + gate * p.units, rows, k / across * side, k % across * side,
          p.matrix[input ? gate : p.gates + gate]};
}
i64 tiles_of(const RnnPacking& p) { return p.gates * (tiles_of(p.in) + tiles_of(p.units)) * tiles_of(p.units); }

__global__ void __launch_bounds__(block_size)
    pack_kernel(RnnPacking p, const float* kernel, const float* recurrent, float* space, i64 tiles) {
  __shared__ float held[side][side + 1];
  const i64 x = threadIdx.x % side, first = threadIdx.x / side, wide = p.gates * p.units;
  for (i64 i = blockIdx.x; i < tiles; i += gridDim.x) {
    const auto t = tile_of(p, kernel, recurrent, i);
    for (i64 y = first; y < side; y += step)
      if (t.row + y < t.rows && t.unit + x < p.units) held[y][x] = t.ours[(t.row + y) * wide + t.unit + x];
    __syncthreads();
    for (i64 y = first; y < side; y += step)
      if (t.unit + y < p.units && t.row + x < t.rows) space[t.at + (t.unit + y) * t.rows + t.row + x] = held[x][y];
    __syncthreads();
  }
}
__global__ void __launch_bounds__(block_size)
    unpack_kernel(RnnPacking p, const float* space, float* kernel, float* recurrent, i64 tiles) {
  __shared__ float held[side][side + 1];
  const i64 x = threadIdx.x % side, first = threadIdx.x / side, wide = p.gates * p.units;
  for (i64 i = blockIdx.x; i < tiles; i += gridDim.x) {
    const auto t = tile_of(p, kernel, recurrent, i);
    for (i64 y = first; y < side; y += step)
      if (t.unit + y < p.units && t.row + x < t.rows) held[y][x] = space[t.at + (t.unit + y) * t.rows + t.row + x];
    __syncthreads();
    for (i64 y = first; y < side; y += step)
      if (t.row + y < t.rows && t.unit + x < p.units) t.ours[(t.row + y) * wide + t.unit + x] = held[x][y];
    __syncthreads();
  }
}

__global__ void __launch_bounds__(block_size)
    pack_bias_kernel(RnnPacking p, const float* bias, i64 biases, float* space, i64 total) {
  const i64 stride = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += stride)
    space[p.bias[i / p.units] + i % p.units] = i < biases ? bias[i] : 0.f;
}
__global__ void __launch_bounds__(block_size)
    unpack_bias_kernel(RnnPacking p, const float* space, float* bias, i64 biases) {
  const i64 stride = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < biases; i += stride)
    bias[i] = space[p.bias[i / p.units] + i % p.units];
}

}  // namespace

void pack_rnn(const KernelCall& c, const RnnPacking& p, const RnnWeights<const float>& from, float* space) {
  const i64 tiles = tiles_of(p), total = 2 * p.gates * p.units;
  launch(c, &pack_kernel, blocks_for(tiles, 1), p, from.kernel, from.recurrent, space, tiles);
  launch(c, &pack_bias_kernel, blocks_for(total), p, from.bias, from.biases, space, total);
}
void unpack_rnn(const KernelCall& c, const RnnPacking& p, const float* space, const RnnWeights<float>& to) {
  const i64 tiles = tiles_of(p);
  launch(c, &unpack_kernel, blocks_for(tiles, 1), p, space, to.kernel, to.recurrent, tiles);
  launch(c, &unpack_bias_kernel, blocks_for(to.biases), p, space, to.bias, to.biases);
}

}  // namespace TANDEM_NS::cuda
