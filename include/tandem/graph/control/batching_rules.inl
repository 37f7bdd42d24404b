// Definitions of graph/control/batching.hpp: the rule of each op. A rule applies the same op with other attributes, or
// views; it finds its op by the name, so that a header-only program does not get the kernels of all of them. Not here:
// ops that read and write at indices (batching_indices.inl).
#pragma once
#include <algorithm>
#include <string>
#include <string_view>

#include "tandem/attrs/conv.hpp"
#include "tandem/attrs/reduce.hpp"
#include "tandem/attrs/signal.hpp"
#include "tandem/attrs/softmax.hpp"
#include "tandem/graph/control/batching.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::control {
namespace batching {

// Axes of a row as axes of all rows. Not given, they are all axes of a row of this rank.
TANDEM_LAZY inline Axes behind_rows(const Axes& axes, int rank) {
  Axes r = Axes::none();
  if (axes.given())
    for (int i = 0; i < axes.size(); ++i) r.push_back(control::behind_rows(axes[i]));
  else
    for (int i = 0; i < rank; ++i) r.push_back(i + 1);
  return r;
}

// Elementwise ops with broadcasting.
TANDEM_LAZY inline Tensors elementwise(const BatchCall& c) {
  int rank = 0;
  for (int k = 0; k < c.node.outputs; ++k) rank = std::max(rank, c.out_row(k).shape.rank());
  std::vector<Tensor> in;
  for (unsigned i = 0; i < c.in.size(); ++i) in.push_back(c.aligned(i, rank));
  return c.apply(c.node.attrs, in);
}
// Ops that treat leading axes of all inputs alike.
TANDEM_LAZY inline Tensors leading(const BatchCall& c) { return c.apply(c.node.attrs, c.all_repeated()); }
// The same of input 0; the others are parameters for all rows.
TANDEM_LAZY inline Tensors first_leading(const BatchCall& c) {
  if (!c.only_first()) return {};
  std::vector<Tensor> in;
  for (const BatchedValue& v : c.in) in.push_back(v.tensor);
  return c.apply(c.node.attrs, in);
}
// Ops on images [n, ...]: the rows' images are images, too. Windows must not be batched.
TANDEM_LAZY inline Tensors images(const BatchCall& c) {
  if (!c.only_first()) return {};
  std::vector<Tensor> in{c.joined(0)};
  for (unsigned i = 1; i < c.in.size(); ++i) in.push_back(c.in[i].tensor);
  return one(c.apart(c.apply(c.node.attrs, in)[0], 0));
}
// The gradients of pooling: of images, and of a result of the same n.
TANDEM_LAZY inline Tensors images_alike(const BatchCall& c) {
  return one(c.apart(c.apply(c.node.attrs, {c.joined(0), c.joined(1)})[0], 0));
}
// Of one image or several.
TANDEM_LAZY inline Tensors resize(const BatchCall& c) { return c.rank(0) == 3 ? leading(c) : images(c); }
TANDEM_LAZY inline Tensors resize_grad(const BatchCall& c) { return c.rank(0) == 3 ? leading(c) : images_alike(c); }
TANDEM_LAZY inline Tensors max_pool_argmax(const BatchCall& c) {
  return c.attrs<rules::PoolAttrs>().include_batch ? Tensors() : images(c);
}
TANDEM_LAZY inline Tensors conv_transpose(const BatchCall& c) {
  rules::ConvAttrs a = c.attrs<rules::ConvAttrs>();
  if (c.is_batched(1) || !c.rows.is_known()) return {};
  if (a.output.rank() > 0) a.output.set(0, c.rows.number * c.attrs<rules::ConvAttrs>().output.dim(0));
  std::vector<Tensor> in{c.joined(0), c.in[1].tensor};
  if (c.in.size() > 2) in.push_back(c.joined(2));
  return one(c.apart(c.apply(a, in)[0], 0));
}

// The same elements in another shape.
TANDEM_LAZY inline Tensors view(const BatchCall& c) { return one(c.apart(c.in[0].tensor, 0)); }
TANDEM_LAZY inline Tensors same(const BatchCall& c) { return one(c.in[0].tensor); }
// Checks of shapes.
TANDEM_LAZY inline Tensors ensure_shape(const BatchCall& c) {
  return c.apply(rules::EnsureShapeAttrs{with_first(c.attrs<rules::EnsureShapeAttrs>().shape, none)}, {c.in[0].tensor});
}
TANDEM_LAZY inline Tensors same_dims(const BatchCall& c) {
  const auto& a = c.attrs<rules::SameDimsAttrs>();
  const auto moved = [&](const Shape& axes, unsigned input) {
    Shape r;
    for (const i64 axis : axes) r.push_back(c.is_batched(input) ? control::behind_rows(axis) : axis);
    return r;
  };
  return c.apply(rules::SameDimsAttrs{moved(a.axes, 0), moved(a.others, 1)}, {c.in[0].tensor, c.in[1].tensor});
}

TANDEM_LAZY inline Tensors reduce(const BatchCall& c) {
  rules::ReduceAttrs a = c.attrs<rules::ReduceAttrs>();
  a.axis = behind_rows(a.axis, c.rank(0));
  return c.apply(a, {c.in[0].tensor});
}
// Sums of the axes of rows that are 1 in `to`.
TANDEM_LAZY inline Tensors summed(const BatchCall& c, const Shape& to) {
  const Shape& from = c.row(0).shape;
  if (!from.is_fully_defined() || !to.is_fully_defined()) return {};
  Axes axes = Axes::none();
  for (int i = 0; i < to.rank(); ++i)
    if (to.dim(i) == 1 && from.dim(i) != 1) axes.push_back(i + 1);
  return one(c.apart(reduce_sum(c.in[0].tensor, {.axis = axes}), 0));
}
// Sums to the shape of another tensor, or repeats to it: their axes are those of the larger one.
TANDEM_LAZY inline Tensors like(const BatchCall& c, unsigned large) {
  rules::LikeAttrs a = c.attrs<rules::LikeAttrs>();
  const bool lost = !a.axis.given() || a.axis.size() > 0;
  a.axis = behind_rows(a.axis, c.rank(large));
  if (lost) return c.apply(a, c.all_repeated());  // without these axes the ranks are equal
  if (large == 1) return c.apply(a, {c.aligned(0, c.rank(1)), c.repeated(1)});
  Shape to = c.row(1).shape;  // smaller
  while (to.rank() < c.rank(0)) to.insert(0, 1);
  if (!c.rows.is_known()) return summed(c, to);
  const Tensor shape = Tensor::symbol({with_first(to, c.rows.number), c.row(1).dtype, c.row(1).device});
  return one(c.apart(c.apply(a, {c.in[0].tensor, shape})[0], 0));
}
TANDEM_LAZY inline Tensors sum_to_like(const BatchCall& c) { return like(c, 0); }
TANDEM_LAZY inline Tensors broadcast_like(const BatchCall& c) { return like(c, 1); }

// Ops along an axis, of inputs of one shape or along trailing axes: `axis` is a member of their attributes.
template <class A>
Tensors along(const BatchCall& c) {
  A a = c.attrs<A>();
  a.axis = control::behind_rows(a.axis);
  return c.apply(a, c.all_repeated());
}
TANDEM_LAZY inline Tensors one_hot(const BatchCall& c) {
  rules::OneHotAttrs a = c.attrs<rules::OneHotAttrs>();
  if (!c.only_first()) return {};
  a.axis = control::behind_rows(a.axis);
  return c.apply(a, {c.in[0].tensor, c.in[1].tensor, c.in[2].tensor});
}
TANDEM_LAZY inline Tensors reverse(const BatchCall& c) {
  return c.apply(rules::ReverseAttrs{behind_rows(c.attrs<rules::ReverseAttrs>().axes, c.rank(0))}, {c.in[0].tensor});
}
TANDEM_LAZY inline Tensors transpose(const BatchCall& c) {
  rules::TransposeAttrs a = c.attrs<rules::TransposeAttrs>();
  const int rank = c.rank(0);
  Axes perm(0);
  for (int i = 0; i < rank; ++i) {
    const int from = a.perm.given() ? a.perm[i] : rank - 1 - i;
    perm.push_back((from < 0 ? from + rank : from) + 1);
  }
  a.perm = perm;
  return c.apply(a, {c.in[0].tensor});
}

TANDEM_LAZY inline Tensors broadcast(const BatchCall& c) {
  const Shape& to = c.out_row(0).shape;
  return one(broadcast_to(c.aligned(0, to.rank()), c.with_rows(to)));
}
TANDEM_LAZY inline Tensors fill(const BatchCall& c) {
  if (c.is_batched(0)) return {};
  const Shape& to = c.out_row(0).shape;
  const Shape ones = [&] {
    Shape s;
    while (s.rank() < to.rank()) s.push_back(1);
    return s;
  }();
  return one(broadcast_to(reshape(c.in[1].tensor, c.with_rows(ones)), c.with_rows(to)));
}
TANDEM_LAZY inline Tensors tile(const BatchCall& c) {
  const Shape multiples = with_first(c.attrs<rules::TileAttrs>().multiples, 1);
  return c.apply(rules::TileAttrs{multiples}, c.all_repeated());
}
TANDEM_LAZY inline Tensors pad(const BatchCall& c) {
  const auto& a = c.attrs<rules::PadAttrs>();
  if (!c.only_first()) return {};
  return c.apply(rules::PadAttrs{with_first(a.before, 0), with_first(a.after, 0)}, {c.in[0].tensor, c.in[1].tensor});
}

// The part of each row from `begin` on along axis 0. A negative one counts from the end.
TANDEM_LAZY inline Tensor part(const BatchCall& c, i64 begin, i64 size, int output) {
  rules::StridedSliceAttrs a;
  for (int i = 0; i <= c.rank(0); ++i) a.begin.push_back(none), a.end.push_back(none), a.step.push_back(1);
  a.begin.set(1, begin), a.end.set(1, begin < 0 && begin + size == 0 ? none : begin + size);
  const Tensor* const in[] = {&c.in[0].tensor};
  return c.apart(apply_one(strided_slice_op, in, a, {.where = c.node.where}), output);
}
TANDEM_LAZY inline Tensors index(const BatchCall& c) { return one(part(c, c.attrs<rules::IndexAttrs>().index, 1, 0)); }
TANDEM_LAZY inline Tensors leading_slice(const BatchCall& c) {
  return one(part(c, c.attrs<rules::LeadingSliceAttrs>().begin, c.out_row(0).shape.dim(0), 0));
}
TANDEM_LAZY inline Tensors split_leading(const BatchCall& c) {
  Tensors r;
  i64 begin = 0;
  for (int k = 0; k < c.node.outputs; ++k) {
    const i64 size = c.out_row(k).shape.dim(0);
    r.push_back(part(c, begin, size, k));
    begin += size;
  }
  return r;
}
TANDEM_LAZY inline Tensors unstack(const BatchCall& c) {
  Tensors r;
  for (int k = 0; k < c.node.outputs; ++k) r.push_back(part(c, k, 1, k));
  return r;
}
TANDEM_LAZY inline Tensors slice(const BatchCall& c) {
  const auto& a = c.attrs<rules::SliceAttrs>();
  return c.apply(rules::SliceAttrs{with_first(a.begin, 0), with_first(a.size, -1)}, {c.in[0].tensor});
}
TANDEM_LAZY inline Tensors strided_slice(const BatchCall& c) {
  const auto& a = c.attrs<rules::StridedSliceAttrs>();
  const rules::StridedSliceAttrs all{with_first(a.begin, none), with_first(a.end, none), with_first(a.step, 1),
                                     a.exact << 1};
  return c.apply(all, c.all_repeated());
}

TANDEM_LAZY inline Tensors attention(const BatchCall& c) {
  std::vector<Tensor> in = {c.repeated(0), c.repeated(1), c.repeated(2)};
  if (c.in.size() > 3) in.push_back(c.aligned(3, c.rank(0)));
  return c.in.size() > 4 ? Tensors() : c.apply(c.node.attrs, in);
}

using Apply = Tensors (*)(const BatchCall&);
struct Rule {
  std::string_view op;
  Apply apply;
};
TANDEM_LAZY inline Apply found(std::string_view op, Span<const Rule> rules_of) {
  for (const Rule& r : rules_of)
    if (r.op == op) return r.apply;
  return nullptr;
}
// Ops with an axis.
TANDEM_LAZY inline Apply axis_rule(std::string_view op) {
  constexpr Rule rules_of[] = {
      {"argmax", &along<rules::ArgAttrs>},
      {"argmin", &along<rules::ArgAttrs>},
      {"concat", &along<rules::JoinAttrs>},
      {"cumprod", &along<rules::ScanAttrs>},
      {"cumsum", &along<rules::ScanAttrs>},
      {"cumulative_max", &along<rules::ScanAttrs>},
      {"fft", &along<rules::FftAttrs>},
      {"frame", &along<rules::FrameAttrs>},
      {"linear_scan", &along<rules::ScanAttrs>},
      {"log_softmax", &along<rules::SoftmaxAttrs>},
      {"log_softmax_grad", &along<rules::SoftmaxAttrs>},
      {"roll", &along<rules::RollAttrs>},
      {"shift", &along<rules::ScanAttrs>},
      {"softmax", &along<rules::SoftmaxAttrs>},
      {"softmax_cross_entropy_grad", &along<rules::SoftmaxAttrs>},
      {"softmax_cross_entropy_with_logits", &along<rules::SoftmaxAttrs>},
      {"softmax_grad", &along<rules::SoftmaxAttrs>},
      {"split", &along<rules::SplitAttrs>},
      {"split_like", &along<rules::JoinAttrs>},
      {"stack", &along<rules::JoinAttrs>},
      {"take_along_axis", &along<rules::AlongAttrs>},
      {"take_along_axis_grad", &along<rules::AlongAttrs>},
  };
  return found(op, rules_of);
}
// Ops on images.
TANDEM_LAZY inline Apply window_rule(std::string_view op) {
  constexpr Rule rules_of[] = {
      {"avg_pool", &images},
      {"avg_pool_grad", &images_alike},
      {"conv1d", &images},
      {"conv1d_transpose", &conv_transpose},
      {"conv2d", &images},
      {"conv2d_transpose", &conv_transpose},
      {"conv3d", &images},
      {"conv3d_transpose", &conv_transpose},
      {"image_resize", &resize},
      {"image_resize_grad", &resize_grad},
      {"image_resize_nearest", &resize},
      {"max_pool", &images},
      {"max_pool_argmax", &max_pool_argmax},
      {"max_pool_grad", &images_alike},
      {"max_pool_pick", &images_alike},
  };
  return found(op, rules_of);
}
// Others, mostly of shapes and indices.
TANDEM_LAZY inline Apply other_rule(std::string_view op) {
  constexpr Rule rules_of[] = {
      {"broadcast_dynamic", &broadcast},
      {"broadcast_like", &broadcast_like},
      {"broadcast_to", &broadcast},
      {"collapse_dims", &view},
      {"dense", &first_leading},
      {"dequantize", &first_leading},
      {"ensure_shape", &ensure_shape},
      {"expand_dims", &view},
      {"fill", &fill},
      {"gather", &gather},
      {"gather_grad", &gather_grad},
      {"gather_nd", &gather_nd},
      {"gather_nd_grad", &gather_nd},
      {"index", &index},
      {"layer_norm", &first_leading},
      {"leading_slice", &leading_slice},
      {"matmul", &elementwise},
      {"one_hot", &one_hot},
      {"pad", &pad},
      {"quantize", &first_leading},
      {"reshape", &view},
      {"reshape_dynamic", &view},
      {"reshape_like", &view},
      {"reverse", &reverse},
      {"rms_norm", &first_leading},
      {"same_dims", &same_dims},
      {"scaled_dot_product_attention", &attention},
      {"scatter_nd", &scatter_nd},
      {"segment_take", &segment_take},
      {"sequence_mask", &first_leading},
      {"slice", &slice},
      {"solve", &elementwise},
      {"split_leading", &split_leading},
      {"squeeze", &view},
      {"strided_slice", &strided_slice},
      {"strided_slice_grad", &strided_slice},
      {"sum_to_like", &sum_to_like},
      {"tensor_scatter_nd_add", &scatter_into},
      {"tensor_scatter_nd_max", &scatter_into},
      {"tensor_scatter_nd_min", &scatter_into},
      {"tile", &tile},
      {"tile_grad", &tile},
      {"transpose", &transpose},
      {"triangular_solve", &elementwise},
      {"unsorted_segment_max", &unsorted_segments},
      {"unsorted_segment_min", &unsorted_segments},
      {"unsorted_segment_prod", &unsorted_segments},
      {"unsorted_segment_sum", &unsorted_segments},
      {"unstack", &unstack},
  };
  return found(op, rules_of);
}

inline constexpr std::string_view leading_ops =
    " add_n bitcast cast check_numerics identity imag real stop_gradient transfer whole_cast band_part diag "
    "diag_part set_diag sort top_k searchsorted one_hot_like cholesky cofactor det eig eigh eigvals eigvalsh "
    "expm inv lu pinv qr slogdet svd svdvals dct irfft rfft as_string decode_base64 encode_base64 "
    "regex_full_match regex_replace string_length string_lower string_strip string_upper table_find "
    "to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong string_to_number unicode_transcode "
    "sparse_softmax_cross_entropy_grad sparse_softmax_cross_entropy_with_logits ";
inline constexpr std::string_view reductions =
    " count_nonzero reduce_all reduce_any reduce_euclidean_norm reduce_logsumexp reduce_max reduce_mean "
    "reduce_min reduce_prod reduce_std reduce_sum reduce_variance ";
TANDEM_LAZY inline bool is_among(std::string_view list, const OpDef& op) {
  return list.find(" " + std::string(op.name) + " ") != std::string_view::npos;
}

}  // namespace batching

TANDEM_LAZY_INLINE Tensors apply_rule(const BatchCall& call) {
  using namespace batching;
  const std::string_view name = call.node.op->name;
  if (call.node.op->flags.pointwise) return elementwise(call);
  if (is_among(leading_ops, *call.node.op)) return leading(call);
  if (is_among(reductions, *call.node.op)) return reduce(call);
  for (const Apply rule : {axis_rule(name), window_rule(name), other_rule(name)})
    if (rule) return rule(call);
  return {};
}

}  // namespace TANDEM_NS::control
