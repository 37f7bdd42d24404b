// Definitions of ops/shape/blocks.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/shape/blocks.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {

namespace detail {

[[noreturn, gnu::cold]] TANDEM_INLINE void raise_blocks(const char* op, const Tensor& x, const std::string& what) {
  errors::raise<errors::InvalidArgumentError>(op, what + ": " + to_string(x.spec()));
}
TANDEM_INLINE DimValue times(const DimValue& d, i64 n) {
  return d.is_known() ? DimValue{d.number * n} : DimValue{0, d.tensor * n};
}
// Dimension `axis` of x divided by n. If it is not known and has a rest, the reshape that follows raises.
TANDEM_INLINE DimValue divided(const char* op, const Tensor& x, const DimValue& d, int axis, i64 n) {
  if (n < 1) raise_blocks(op, x, "the block size " + std::to_string(n) + " is not positive");
  if (d.is_known() && d.number % n)
    raise_blocks(
        op, x,
        std::to_string(n) + " does not divide axis " + std::to_string(axis) + " of size " + std::to_string(d.number));
  return d.is_known() ? DimValue{d.number / n} : DimValue{0, floordiv(d.tensor, n)};
}
TANDEM_INLINE bool channels_first(const char* op, std::string_view format) {
  if (format != "NHWC" && format != "NCHW")
    errors::raise<errors::InvalidArgumentError>(
        op, "data_format must be \"NHWC\" or \"NCHW\", not \"" + std::string(format) + "\"");
  return format == "NCHW";
}
TANDEM_INLINE Tensor rearranged(const Tensor& x, const Dims& parts, const Axes& perm, const Dims& dims,
                                const OpOptions& o) {
  return reshape(transpose(reshape(x, parts), {.perm = perm}), dims, o);
}

}  // namespace detail

TANDEM_INLINE Tensor nn::space_to_depth(const Tensor& x, i64 block, DepthOptions o) {
  const tandem::detail::CallSite call(o);
  const bool first = tandem::detail::channels_first("space_to_depth", o.data_format);
  if (x.rank() != 4) tandem::detail::raise_blocks("space_to_depth", x, "the input must have rank 4");
  const std::vector<DimValue> d = get_shape(x);
  const int y = first ? 2 : 1;
  const DimValue h = tandem::detail::divided("space_to_depth", x, d[first ? 2 : 1], y, block),
                 w = tandem::detail::divided("space_to_depth", x, d[first ? 3 : 2], y + 1, block),
                 channels = d[first ? 1 : 3], deep = tandem::detail::times(channels, block * block);
  const OpOptions named{o.name, o.where};
  if (first)
    return tandem::detail::rearranged(x, {d[0], channels, h, block, w, block}, {0, 3, 5, 1, 2, 4}, {d[0], deep, h, w},
                                      named);
  return tandem::detail::rearranged(x, {d[0], h, block, w, block, channels}, {0, 1, 3, 2, 4, 5}, {d[0], h, w, deep},
                                    named);
}
TANDEM_INLINE Tensor nn::depth_to_space(const Tensor& x, i64 block, DepthOptions o) {
  const tandem::detail::CallSite call(o);
  const bool first = tandem::detail::channels_first("depth_to_space", o.data_format);
  if (x.rank() != 4) tandem::detail::raise_blocks("depth_to_space", x, "the input must have rank 4");
  if (block < 1)
    tandem::detail::raise_blocks("depth_to_space", x, "the block size " + std::to_string(block) + " is not positive");
  const std::vector<DimValue> d = get_shape(x);
  const int at = first ? 1 : 3;
  const DimValue flat = tandem::detail::divided("depth_to_space", x, d[first ? 1 : 3], at, block * block),
                 h = d[first ? 2 : 1], w = d[first ? 3 : 2], high = tandem::detail::times(h, block),
                 wide = tandem::detail::times(w, block);
  const OpOptions named{o.name, o.where};
  if (first)
    return tandem::detail::rearranged(x, {d[0], block, block, flat, h, w}, {0, 3, 4, 1, 5, 2}, {d[0], flat, high, wide},
                                      named);
  return tandem::detail::rearranged(x, {d[0], h, w, block, block, flat}, {0, 1, 3, 2, 4, 5}, {d[0], high, wide, flat},
                                    named);
}

namespace detail {
TANDEM_INLINE i64 checked_blocks(const char* op, const Tensor& x, const std::vector<i64>& block,
                                 const std::vector<std::pair<i64, i64>>& sides) {
  const auto m = static_cast<int>(block.size());
  if (block.size() != sides.size() || x.rank() < m + 1)
    raise_blocks(
        op, x,
        std::to_string(m) + " blocks and " + std::to_string(sides.size()) + " pairs do not match the axes from 1 on");
  if (x.rank() + m > max_rank) raise_blocks(op, x, "more than " + std::to_string(max_rank) + " axes and blocks");
  i64 all = 1;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i] < 1 || __builtin_mul_overflow(all, block[i], &all))
      raise_blocks(op, x, "the block size " + std::to_string(block[i]) + " is not positive or too large");
    if (sides[i].first < 0 || sides[i].second < 0)
      raise_blocks(op, x, "the pair for axis " + std::to_string(i + 1) + " is negative");
  }
  return all;
}
}  // namespace detail

TANDEM_INLINE Tensor space_to_batch_nd(const Tensor& x, const std::vector<i64>& block_shape,
                                       const std::vector<std::pair<i64, i64>>& paddings, OpOptions o) {
  const detail::CallSite call(o);
  const char* const op = "space_to_batch_nd";
  const i64 all = detail::checked_blocks(op, x, block_shape, paddings);
  const auto m = static_cast<int>(block_shape.size());
  std::vector<std::pair<i64, i64>> sides(static_cast<std::size_t>(x.rank()));
  std::copy(paddings.begin(), paddings.end(), sides.begin() + 1);
  const Tensor y = pad(x, sides);
  const std::vector<DimValue> d = get_shape(y);
  Dims parts{d[0]}, dims{detail::times(d[0], all)};
  Axes perm = Axes::none();
  for (int i = 0; i < m; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const DimValue n = detail::divided(op, y, d[at + 1], i + 1, block_shape[at]);
    parts.push_back(n), parts.push_back(block_shape[at]), dims.push_back(n);
    perm.push_back(2 * i + 2);
  }
  for (int i = 0; i <= m; ++i) perm.push_back(i == 0 ? 0 : 2 * i - 1);
  for (int i = m + 1; i < y.rank(); ++i) {
    parts.push_back(d[static_cast<std::size_t>(i)]), dims.push_back(d[static_cast<std::size_t>(i)]);
    perm.push_back(i + m);
  }
  return detail::rearranged(y, parts, perm, dims, o);
}
TANDEM_INLINE Tensor batch_to_space_nd(const Tensor& x, const std::vector<i64>& block_shape,
                                       const std::vector<std::pair<i64, i64>>& crops, OpOptions o) {
  const detail::CallSite call(o);
  const char* const op = "batch_to_space_nd";
  const i64 all = detail::checked_blocks(op, x, block_shape, crops);
  const auto m = static_cast<int>(block_shape.size());
  const std::vector<DimValue> d = get_shape(x);
  const DimValue batch = detail::divided(op, x, d[0], 0, all);
  Dims parts, dims{batch};
  Axes perm(m);
  rules::StridedSliceAttrs cut;
  const auto keep = [&](i64 begin, i64 end) {
    cut.begin.push_back(begin), cut.end.push_back(end), cut.step.push_back(1);
  };
  for (const i64 b : block_shape) parts.push_back(b);
  parts.push_back(batch), keep(0, none);
  for (int i = 0; i < x.rank() - 1; ++i) {
    const DimValue& n = d[static_cast<std::size_t>(i) + 1];
    parts.push_back(n), perm.push_back(m + 1 + i);
    if (i >= m) {
      dims.push_back(n), keep(0, none);
      continue;
    }
    const auto at = static_cast<std::size_t>(i);
    const DimValue whole = detail::times(n, block_shape[at]);
    const auto [first, second] = crops[at];
    i64 cropped = 0;
    if (__builtin_add_overflow(first, second, &cropped) || (whole.is_known() && whole.number < cropped))
      detail::raise_blocks(op, x,
                           "crops of " + std::to_string(first) + " and " + std::to_string(second) + " exceed axis " +
                               std::to_string(i + 1));
    perm.push_back(i), keep(first, second ? -second : none);
    // If the crops exceed a size that is not known, the reshape, to more elements than there are, raises.
    dims.push_back(whole.is_known() || cropped == 0 ? whole : DimValue{0, maximum(whole.tensor, cropped)});
  }
  return apply1(strided_slice_op, cut, o, detail::rearranged(x, parts, perm, dims, no_options));
}

}  // namespace TANDEM_NS
