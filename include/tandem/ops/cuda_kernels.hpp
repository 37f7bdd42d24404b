// Declarations of the kernels in cuda/, grouped by the file that refers to them. They are defined only in libraries
// built with CUDA, which export those of components. Not here: copies, which the layout kernels call
// (cpu/layout/gpu_copy.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
namespace TANDEM_NS {

struct Backend;
namespace cuda {

extern const Backend backend;
// ops/attention/attention.inl
void attention(const KernelCall& c);
void attention_delta(const KernelCall& c);
void attention_grad(const KernelCall& c);
// ops/cast.inl
void cast(const KernelCall& c);
// ops/conv/conv.inl
void conv(const KernelCall& c);
void conv_transpose(const KernelCall& c);
void conv_filter_grad(const KernelCall& c);
// ops/conv/fused_conv.inl
void fused_conv(const KernelCall& c);
// ops/conv/pool.inl
void max_pool(const KernelCall& c);
void max_pool_grad(const KernelCall& c);
void max_pool_pick(const KernelCall& c);
void max_pool_argmax(const KernelCall& c);
void avg_pool(const KernelCall& c);
void avg_pool_grad(const KernelCall& c);
// ops/create/fill.inl
void fill(const KernelCall& c);
void full_like(const KernelCall& c);
// ops/create/range.inl
void sequence_mask(const KernelCall& c);
// ops/debug/check_numerics.inl
void check_numerics(const KernelCall& c);
// ops/fused/fused.inl
void fused(const KernelCall& c);
// ops/index/count.inl
void bincount(const KernelCall& c);
void histogram(const KernelCall& c);
void confusion(const KernelCall& c);
// ops/index/gather.inl
void gather(const KernelCall& c);
void gather_grad(const KernelCall& c);
void slices_to_dense(const KernelCall& c);
// ops/index/gather_nd.inl
void gather_nd(const KernelCall& c);
void gather_nd_grad(const KernelCall& c);
void scatter_nd(const KernelCall& c);
void take_along_axis(const KernelCall& c);
void take_along_axis_grad(const KernelCall& c);
// ops/index/mask.inl
void one_hot(const KernelCall& c);
void where_true(const KernelCall& c);
// ops/index/partition.inl
void partition(const KernelCall& c);
void stitch(const KernelCall& c);
// ops/index/reverse_sequence.inl
void reverse_sequence(const KernelCall& c);
// ops/index/rows.inl
void update_row(const KernelCall& c);
void add_rows(const KernelCall& c);
void mark_row(const KernelCall& c);
void check_row(const KernelCall& c);
void check_rows(const KernelCall& c);
// ops/index/scatter.inl
void tensor_scatter_nd_update(const KernelCall& c);
void tensor_scatter_nd_add(const KernelCall& c);
void tensor_scatter_nd_max(const KernelCall& c);
void tensor_scatter_nd_min(const KernelCall& c);
// ops/index/search.inl
void searchsorted(const KernelCall& c);
void unravel(const KernelCall& c);
void invert_permutation(const KernelCall& c);
// ops/index/segment.inl
void segment_sum(const KernelCall& c);
void segment_prod(const KernelCall& c);
void segment_max(const KernelCall& c);
void segment_min(const KernelCall& c);
void unsorted_segment_sum(const KernelCall& c);
void unsorted_segment_prod(const KernelCall& c);
void unsorted_segment_max(const KernelCall& c);
void unsorted_segment_min(const KernelCall& c);
void segment_take(const KernelCall& c);
// ops/index/sort.inl
void sort(const KernelCall& c);
void top_k(const KernelCall& c);
// ops/index/unique.inl
void number_distinct(const KernelCall& c);
void is_member(const KernelCall& c);
// ops/linalg/band_part.inl
void band_part(const KernelCall& c);
// ops/linalg/dense.inl
void dense(const KernelCall& c);
// ops/linalg/matmul.inl
void matmul(const KernelCall& c);
// ops/norm/batch_norm.inl
void batch_norm(const KernelCall& c);
void batch_norm_grad(const KernelCall& c);
// ops/norm/layer_norm.inl
void layer_norm(const KernelCall& c);
void layer_norm_grad(const KernelCall& c);
void rms_norm(const KernelCall& c);
void rms_norm_grad(const KernelCall& c);
// ops/pointwise/add_n.inl
void add_n(const KernelCall& c);
// ops/pointwise/define.hpp
template <class R>
void pointwise(const KernelCall& c);
// ops/pointwise/two_sum.inl
void two_sum(const KernelCall& c);
void two_sum_rows(const KernelCall& c);
// ops/pointwise/quantize.inl
void quantize(const KernelCall& c);
void dequantize(const KernelCall& c);
// ops/random/candidates.inl
void log_uniform_candidate_sampler(const KernelCall& c);
void uniform_candidate_sampler(const KernelCall& c);
// ops/random/distributions.inl
void random_gamma(const KernelCall& c);
void random_poisson(const KernelCall& c);
void random_binomial(const KernelCall& c);
// ops/random/draw.inl
void random_bits(const KernelCall& c);
void random_uniform(const KernelCall& c);
void random_normal(const KernelCall& c);
void truncated_normal(const KernelCall& c);
// ops/random/dropout.inl
void dropout(const KernelCall& c);
// ops/random/sample.inl
void categorical(const KernelCall& c);
void shuffle(const KernelCall& c);
// ops/reduce/arg.inl
void argmax(const KernelCall& c);
void argmin(const KernelCall& c);
// ops/reduce/like.inl
void sum_to_like(const KernelCall& c);
void broadcast_like(const KernelCall& c);
void size_of(const KernelCall& c);
// ops/reduce/row.hpp
void reduce_sum(const KernelCall& c);
void reduce_mean(const KernelCall& c);
void reduce_prod(const KernelCall& c);
void reduce_max(const KernelCall& c);
void reduce_min(const KernelCall& c);
void reduce_any(const KernelCall& c);
void reduce_all(const KernelCall& c);
void reduce_logsumexp(const KernelCall& c);
void reduce_variance(const KernelCall& c);
void reduce_std(const KernelCall& c);
void reduce_euclidean_norm(const KernelCall& c);
void count_nonzero(const KernelCall& c);
// ops/reduce/scan.inl
void cumsum(const KernelCall& c);
void cumprod(const KernelCall& c);
void linear_scan(const KernelCall& c);
void cumulative_max(const KernelCall& c);
void shift(const KernelCall& c);
// ops/rnn/common.inl: the width of what cuDNN leaves for the gradient of x [t, b, features], [t, b, width]; none where a
// size is unknown, 0 where our own kernels compute the op
i64 rnn_reserve(const Shape& x, i64 units, int device, bool is_gru);
// ops/rnn/gru.inl
void gru(const KernelCall& c);
void gru_grad(const KernelCall& c);
// ops/rnn/lstm.inl
void lstm(const KernelCall& c);
void lstm_grad(const KernelCall& c);
// ops/shape/repeat.inl
void repeat_indices(const KernelCall& c);
// ops/shape/reshape.inl, ops/cast.inl
void copy_whole(const KernelCall& c);
// ops/shape/tile.inl
void tile_sum(const KernelCall& c);
// ops/softmax/cross_entropy.inl
void softmax_cross_entropy(const KernelCall& c);
void softmax_cross_entropy_grad(const KernelCall& c);
void sparse_softmax_cross_entropy(const KernelCall& c);
void sparse_softmax_cross_entropy_grad(const KernelCall& c);
void one_hot_like(const KernelCall& c);
// ops/softmax/softmax.inl
void softmax(const KernelCall& c);
void log_softmax(const KernelCall& c);
void softmax_grad(const KernelCall& c);
void log_softmax_grad(const KernelCall& c);
// optim/optimizer.inl
template <class R>
void optimizer_update(const KernelCall& c);
template <class R>
void optimizer_updates(const KernelCall& c);
template <class R>
void optimizer_sparse_update(const KernelCall& c);
// signal/fft.inl
TANDEM_API void fft(const KernelCall& c);
TANDEM_API void rfft(const KernelCall& c);
TANDEM_API void irfft(const KernelCall& c);
TANDEM_API void dct(const KernelCall& c);
// signal/frames.inl
TANDEM_API void frame(const KernelCall& c);
TANDEM_API void frames_like(const KernelCall& c);
TANDEM_API void overlap_and_add(const KernelCall& c);

}  // namespace cuda
}  // namespace TANDEM_NS
#endif
