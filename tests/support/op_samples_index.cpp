// Samples of the ops that number, count and scatter: segments, scatters, partitions, lookups, counts.
#include "tandem/ops/all.hpp"
#include "tests/support/op_samples.hpp"

namespace samples::detail {

using namespace tandem;

namespace {

Tensor sorted_ids() { return constant({0, 0, 2, 2, 2}); }
Tensor mixed_ids() { return constant(std::vector<i64>{2, 0, -1, 2, 0}); }

const Sample index_table[] = {
    {"segment_sum",
     [](Numbers& n) {
       segment_sum(n.reals({5, 2}), sorted_ids());
     }},
    {"segment_prod",
     [](Numbers& n) {
       segment_prod(n.reals({5, 2}), sorted_ids());
     }},
    {"segment_max",
     [](Numbers& n) {
       segment_max(n.reals({5, 2}), sorted_ids());
     }},
    {"segment_min",
     [](Numbers& n) {
       segment_min(n.reals({5, 2}), sorted_ids());
     }},
    {"unsorted_segment_sum",
     [](Numbers& n) {
       unsorted_segment_sum(n.reals({5, 2}), mixed_ids(), 3);
     }},
    {"unsorted_segment_prod",
     [](Numbers& n) {
       unsorted_segment_prod(n.reals({5, 2}), mixed_ids(), 3);
     }},
    {"unsorted_segment_max",
     [](Numbers& n) {
       unsorted_segment_max(n.reals({5, 2}), constant({2, 0, 1, 2, 0}), 3);
     }},
    {"unsorted_segment_min",
     [](Numbers& n) {
       unsorted_segment_min(n.reals({5, 2}), constant({2, 0, 1, 2, 0}), 3);
     }},
    {"segment_take",
     [](Numbers& n) {
       tandem::detail::segment_take(n.reals({3, 2}), mixed_ids());
     }},
    {"tensor_scatter_nd_update",
     [](Numbers& n) {
       tensor_scatter_nd_update(n.reals({4, 3}), constant({{3}, {1}}), n.reals({2, 3}));
     }},
    {"tensor_scatter_nd_add",
     [](Numbers& n) {
       tensor_scatter_nd_add(n.reals({4, 3}), n.whole({5, 2}, 0, 3), n.reals({5}));
     }},
    {"tensor_scatter_nd_max",
     [](Numbers& n) {
       tensor_scatter_nd_max(n.reals({4, 3}), n.whole({5, 1}, 0, 4), n.reals({5, 3}));
     }},
    {"tensor_scatter_nd_min",
     [](Numbers& n) {
       tensor_scatter_nd_min(n.reals({4, 3}), n.whole({5, 1}, 0, 4), n.reals({5, 3}));
     }},
    {"dynamic_partition",
     [](Numbers& n) {
       dynamic_partition(n.reals({5, 2}), constant({1, 0, 3, 0, 1}), 4);
     }},
    {"dynamic_stitch",
     [](Numbers& n) {
       dynamic_stitch({constant({0, 4, 1})}, {n.reals({3, 2})});
     }},
    {"number_distinct",
     [](Numbers&) {
       unique(constant({3.f, 1.f, 3.f, 2.f, 1.f}));
     }},
    {"is_member",
     [](Numbers&) {
       setdiff1d(constant({3.f, 1.f, 3.f, 2.f}), constant({3.f, 5.f}));
     }},
    {"bincount", [](Numbers& n) { bincount(n.whole({7}, 0, 5)); }},
    {"bincount",
     [](Numbers& n) {
       bincount(n.whole({2, 5}, 0, 5), {.maxlength = 4, .axis = -1});
     }},
    {"histogram_fixed_width",
     [](Numbers& n) {
       histogram_fixed_width(n.reals({3, 4}), {-2, 2}, {.nbins = 4});
     }},
    {"confusion_matrix",
     [](Numbers& n) { confusion_matrix(n.whole({6}, 0, 3), n.whole({6}, 0, 3), {.num_classes = 3}); }},
    {"searchsorted",
     [](Numbers& n) {
       searchsorted(sort(n.reals({2, 6})), n.reals({2, 3}), {.side = Side::right});
     }},
    {"unravel_index",
     [](Numbers& n) {
       unravel_index(n.whole({2, 3}, 0, 24), {3, 4, 2});
     }},
    {"invert_permutation",
     [](Numbers&) {
       invert_permutation(constant({2, 0, 1}));
     }},
    {"repeat_indices",
     [](Numbers& n) {
       repeat(n.reals({3, 2}), {1, 0, 2}, {.axis = 0});
     }},
    {"add_n",
     [](Numbers& n) {
       add_n({n.reals({2, 3}), n.reals({2, 3}), n.reals({2, 3})});
     }},
    {"two_sum",  // of whole numbers, whose sums are exact: the errors of others depend on the dtype
     [](Numbers& n) {
       const auto whole = [&](const Shape& s) { return cast(n.whole(s, -9, 9), n.real()); };
       tandem::detail::two_sum(whole({2, 3}), whole({2, 3}));
     }},
    {"two_sum_rows",
     [](Numbers& n) {
       const auto whole = [&](const Shape& s) { return cast(n.whole(s, -9, 9), n.real()); };
       tandem::detail::two_sum_rows(whole({4, 3}), whole({4, 3}), n.whole({5}, 0, 4), whole({5, 3}));
     }},
    {"broadcast_dynamic_shape",
     [](Numbers&) {
       broadcast_dynamic_shape(constant({3, 1}), constant({2, 1, 4}));
     }},
    {"bitcast",
     [](Numbers&) {
       bitcast(constant({1.f, -2.f}), int32);
     }},
    {"cumulative_max",
     [](Numbers& n) {
       tandem::detail::cumulative_max(n.reals({2, 5}), 1, false);
     }},
};

}  // namespace

tandem::Span<const Sample> index_samples() { return index_table; }

}  // namespace samples::detail
