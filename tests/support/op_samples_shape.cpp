// Samples of the ops that move data: shapes, slices, indices, order, casts, creation.
#include "tandem/ops/all.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

Tensor sizes(std::vector<i64> v) { return constant(v); }
// Complex numbers, whatever the dtype of reals().
Tensor complex_reals(Numbers& n, const Shape& shape) {
  const Tensor x = n.reals(shape);
  return is_complex(x.dtype()) ? x : tandem::complex(x, n.reals(shape));
}

const Sample shape_table[] = {
    {"reshape",
     [](Numbers& n) {
       reshape(n.reals({2, 6}), {3, -1});
     }},
    {"reshape", [](Numbers& n) { reshape(n.reals({1}), Shape{}); }},
    {"reshape_dynamic",
     [](Numbers& n) {
       apply1(reshape_dynamic_op, rules::KnownDimsAttrs{}, no_options, n.reals({2, 6}), sizes({3, -1}));
     }},
    {"expand_dims",
     [](Numbers& n) {
       expand_dims(n.reals({2, 3}), 1);
     }},
    {"squeeze",
     [](Numbers& n) {
       squeeze(n.reals({2, 1, 3, 1}));
     }},
    {"collapse_dims",
     [](Numbers& n) {
       collapse_dims(n.reals({2, 3, 4}), {{0}, {1, 2}});
     }},
    {"identity",
     [](Numbers& n) {
       identity(n.reals({2, 3}));
     }},
    {"stop_gradient",
     [](Numbers& n) {
       stop_gradient(n.reals({2, 3}));
     }},
    {"shape",
     [](Numbers& n) {
       shape(n.reals({2, 3}));
     }},
    {"rank",
     [](Numbers& n) {
       rank(n.reals({2, 3}));
     }},
    {"size",
     [](Numbers& n) {
       size(n.reals({2, 3}), {.out_type = int64});
     }},
    {"same_dims",
     [](Numbers& n) {
       apply1(same_dims_op, rules::SameDimsAttrs{{1}, {0}}, no_options, n.reals({2, 3}), n.reals({3, 4}));
     }},
    {"ensure_shape",
     [](Numbers& n) {
       ensure_shape(n.reals({2, 3}), {none, 3});
     }},
    {"index",
     [](Numbers& n) {
       (void)n.reals({4, 3})[-2];
     }},
    {"leading_slice",
     [](Numbers& n) {
       n.reals({5, 2})(Slice(1, 4));
     }},
    {"slice",
     [](Numbers& n) {
       slice(n.reals({4, 5}), {1, 2}, {2, -1});
     }},
    {"strided_slice",
     [](Numbers& n) {
       n.reals({6, 5})(Slice(none, none, -2), 3);
     }},
    {"strided_slice_grad",
     [](Numbers& n) {
       back([](const Tensor& x) { return x(Slice(1, none, 2), Slice(0, 3)); }, n.reals({6, 5}));
     }},
    {"concat",
     [](Numbers& n) {
       concat({n.reals({2, 1}), n.reals({2, 3}), n.reals({2, 2})}, -1);
     }},
    {"split_like",
     [](Numbers& n) {
       const Tensor other = n.reals({2, 1});
       back([&](const Tensor& x) { return concat({x, other}, 1); }, n.reals({2, 3}));
     }},
    {"stack",
     [](Numbers& n) {
       stack({n.reals({2, 3}), n.reals({2, 3})}, 1);
     }},
    {"split",
     [](Numbers& n) {
       split(n.reals({2, 6}), {1, 2, -1}, {.axis = 1});
     }},
    {"split_leading",
     [](Numbers& n) {
       split(n.reals({6, 2}), 3);
     }},
    {"unstack",
     [](Numbers& n) {
       unstack(n.reals({3, 2}));
     }},
    {"unstack",
     [](Numbers& n) {
       unstack(n.reals({3, 2}), {.axis = 1});
     }},
    {"split",
     [](Numbers& n) {
       unstack(n.reals({3, 2}), {.axis = 1});
     }},
    {"broadcast_to",
     [](Numbers& n) {
       broadcast_to(n.reals({3, 1}), {2, 3, 4});
     }},
    {"broadcast_dynamic",
     [](Numbers& n) {
       apply1(broadcast_dynamic_op, rules::KnownDimsAttrs{}, no_options, n.reals({3, 1}), sizes({2, 3, 4}));
     }},
    {"tile",
     [](Numbers& n) {
       tile(n.reals({2, 3}), {2, 2});
     }},
    {"tile_grad",
     [](Numbers& n) {
       back([](const Tensor& x) { return tile(x, {2, 2}); }, n.reals({2, 3}));
     }},
    {"pad",
     [](Numbers& n) {
       pad(n.reals({2, 3}), {{1, 0}, {0, 2}});
     }},
    {"transpose",
     [](Numbers& n) {
       transpose(n.reals({2, 3, 4}), {.perm = {2, 0, 1}});
     }},
    {"roll",
     [](Numbers& n) {
       roll(n.reals({5}), 2, 0);
       roll(n.reals({2, 3, 2}), -4, 1);
     }},
    {"reverse",
     [](Numbers& n) {
       reverse(n.reals({2, 3}), {1});
     }},
    {"transfer",
     [](Numbers& n) {
       apply1(transfer_op, tandem::rules::TransferAttrs{Device{}}, no_options, n.reals({2, 3}));
     }},
    {"gather",
     [](Numbers& n) {
       gather(n.reals({5, 3}), n.whole({4}, 0, 5));
     }},
    {"gather",
     [](Numbers& n) {
       gather(n.reals({2, 5}), n.whole({2, 2}, 0, 5, int64), {.axis = 1});
     }},
    {"gather_grad",
     [](Numbers& n) {
       const Tensor at = n.whole({3}, 0, 5);
       back([&](const Tensor& x) { return gather(x, at, {.axis = 1}); }, n.reals({2, 5}));
     }},
    {"reverse_sequence",
     [](Numbers& n) {
       reverse_sequence(n.reals({3, 4, 2}), n.whole({3}, 0, 5));
     }},
    {"reverse_sequence",
     [](Numbers& n) {
       reverse_sequence(n.reals({4, 2, 3}), n.whole({3}, 0, 5, int64), 0, {.batch_axis = 2});
     }},
    {"diag",
     [](Numbers& n) {
       linalg::diag(n.reals({2, 3}));
     }},
    {"diag", [](Numbers& n) { linalg::diag(n.reals({3}), {.k = -1, .num_rows = 4, .num_cols = 5}); }},
    {"diag_part",
     [](Numbers& n) {
       linalg::diag_part(n.reals({2, 3, 4}), {.k = 1});
     }},
    {"set_diag",
     [](Numbers& n) {
       linalg::set_diag(n.reals({2, 4, 3}), n.reals({2, 3}), {.k = -1});
     }},
    {"complex",
     [](Numbers& n) {
       tandem::complex(n.reals({2, 3}), n.reals({3}));
     }},
    {"real",
     [](Numbers& n) {
       tandem::real(complex_reals(n, {2, 3}));
     }},
    {"conj",
     [](Numbers& n) {
       tandem::conj(complex_reals(n, {2, 3}));
     }},
    {"imag",
     [](Numbers& n) {
       tandem::imag(complex_reals(n, {2, 3}));
     }},
    {"slices_to_dense",
     [](Numbers& n) {
       const Tensor table = n.reals({5, 2});
       convert_to_tensor(IndexedSlices{n.reals({3, 2}), n.whole({3}, 0, 5), table});
     }},
    {"gather_nd",
     [](Numbers& n) {
       gather_nd(n.reals({4, 3, 2}), n.whole({5, 2}, 0, 3));
     }},
    {"gather_nd_grad",
     [](Numbers& n) {
       const Tensor at = n.whole({5, 2}, 0, 3);
       back([&](const Tensor& x) { return gather_nd(x, at); }, n.reals({4, 3, 2}));
     }},
    {"scatter_nd",
     [](Numbers& n) {
       scatter_nd(n.whole({5, 1}, 0, 4), n.reals({5, 2}), {4, 2});
     }},
    {"take_along_axis",
     [](Numbers& n) {
       take_along_axis(n.reals({3, 4}), n.whole({3, 2}, 0, 4), 1);
     }},
    {"take_along_axis_grad",
     [](Numbers& n) {
       const Tensor at = n.whole({3, 2}, 0, 4);
       back([&](const Tensor& x) { return take_along_axis(x, at, 1); }, n.reals({3, 4}));
     }},
    {"update_row",
     [](Numbers& n) {
       tandem::detail::update_row(n.reals({4, 3}), constant(2), n.reals({3}));
     }},
    {"add_rows",
     [](Numbers& n) {
       tandem::detail::add_rows(n.reals({4, 3}), n.whole({5}, 0, 4), n.reals({5, 3}));
     }},
    {"mark_written",
     [](Numbers&) {
       tandem::detail::mark_written(constant({false, true, false}), constant(2));
     }},
    {"check_written",
     [](Numbers&) {
       tandem::detail::check_written(constant({0, 1, 0}), constant({true, true, false}));
     }},
    {"check_all_written",
     [](Numbers& n) {
       tandem::detail::check_all_written(n.reals({2, 3}), constant({true, true}));
     }},
    {"one_hot",
     [](Numbers& n) {
       one_hot(n.whole({4}, -1, 5), 4, {.on_value = n.reals({}), .off_value = n.reals({}), .dtype = n.real()});
     }},
    {"where",
     [](Numbers& n) {
       where(n.flags({3, 4}));
     }},
    {"sort",
     [](Numbers& n) {
       sort(n.reals({3, 7}));
     }},
    {"sort",
     [](Numbers& n) {
       sort(n.reals({3, 7}), {.axis = 0, .direction = Direction::descending});
     }},
    {"top_k",
     [](Numbers& n) {
       nn::top_k(n.reals({3, 7}), 2);
     }},
    {"cast",
     [](Numbers& n) {
       cast(n.reals({2, 3}), n.real() == float64 ? float32 : float64);
     }},
    {"whole_cast",
     [](Numbers& n) {
       cast(n.reals({2, 3}, -9, 9), int32);
     }},
    {"fill",
     [](Numbers& n) {
       fill({2, 3}, n.reals({}));
     }},
    {"fill",
     [](Numbers& n) {
       fill(sizes({2, 3}), n.reals({}));
     }},
    {"full_like",
     [](Numbers& n) {
       full_like(n.reals({2, 3}), 2.5);
     }},
    {"range", [](Numbers& n) { range(n.reals({}, 0.2, 1), n.reals({}, 5, 6), n.reals({}, 0.3, 0.4)); }},
    {"sequence_mask", [](Numbers& n) { sequence_mask(n.whole({4}, 0, 5), 5, {.dtype = n.real()}); }},
};

}  // namespace

tandem::Span<const Sample> shape_samples() { return shape_table; }

}  // namespace samples::detail
