// The table of all ops, assembled from the lists next to the op definitions: for loaders and for tests generated
// from the table. Not in the umbrella header: a header-only program that includes it emits every op.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/base/span.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/random/candidates.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/ops/random/sample.hpp"
#include "tandem/optim/optimizer.hpp"

namespace TANDEM_NS {

namespace detail {

template <std::size_t N>
constexpr std::array<const OpDef*, N> rows_of(const OpDef* const (&rows)[N]) {
  return std::to_array(rows);
}
template <std::size_t... N>
constexpr auto join(const std::array<const OpDef*, N>&... lists) {
  std::array<const OpDef*, (N + ...)> all{};
  std::size_t at = 0;
  ((std::copy(lists.begin(), lists.end(), all.begin() + static_cast<std::ptrdiff_t>(at)), at += N), ...);
  return all;
}

inline constexpr auto pointwise_table =
    join(rows_of(arith_ops), rows_of(exp_ops), rows_of(trig_ops), rows_of(compare_ops), rows_of(special_ops),
         rows_of(erf_inverse_ops), rows_of(gamma_ops), rows_of(incomplete_ops), rows_of(bessel_ops),
         rows_of(quantize_ops), rows_of(quantized_ops), rows_of(bitwise_ops), rows_of(activation_ops),
         rows_of(smooth_activation_ops), rows_of(add_n_ops), rows_of(two_sum_ops));
inline constexpr auto shape_table =
    join(rows_of(reshape_ops), rows_of(shape_of_ops), rows_of(slice_ops), rows_of(concat_ops), rows_of(tile_ops),
         rows_of(transpose_ops), rows_of(transfer_ops), rows_of(gather_ops), rows_of(gather_nd_ops), rows_of(row_ops),
         rows_of(mask_ops), rows_of(sort_ops), rows_of(reverse_sequence_ops), rows_of(complex_ops),
         rows_of(segment_ops), rows_of(scatter_ops), rows_of(partition_ops), rows_of(unique_ops), rows_of(count_ops),
         rows_of(search_ops), rows_of(repeat_ops));
inline constexpr auto op_table = join(
    pointwise_table, shape_table, rows_of(cast_ops), rows_of(fill_ops), rows_of(range_ops), rows_of(reduce_ops),
    rows_of(statistics_ops), rows_of(arg_ops), rows_of(scan_ops), rows_of(like_ops), rows_of(matmul_ops),
    rows_of(dense_ops), rows_of(diagonal_ops), rows_of(band_part_ops), rows_of(softmax_ops), rows_of(conv_ops),
    rows_of(fused_conv_ops), rows_of(pool_ops), rows_of(cross_entropy_ops), rows_of(lstm_ops), rows_of(gru_ops),
    rows_of(draw_ops), rows_of(sample_ops), rows_of(distribution_ops), rows_of(candidate_ops), rows_of(dropout_ops),
    rows_of(assert_ops), rows_of(check_numerics_ops), rows_of(print_ops), rows_of(custom_gradient_ops),
    rows_of(update_ops), rows_of(layer_norm_ops), rows_of(batch_norm_ops), rows_of(attention_ops));

}  // namespace detail

/// Returns every op of the library, family by family.
inline Span<const OpDef* const> all_ops() { return detail::op_table; }

/// Returns the op definition of that name, or null.
inline const OpDef* find_op(std::string_view name) {
  for (const OpDef* op : all_ops())
    if (op->name == name) return op;
  return nullptr;
}

}  // namespace TANDEM_NS
