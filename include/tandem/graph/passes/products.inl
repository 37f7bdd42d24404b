// Combines small matrix products. Benchmark rows: lstm_step @cells_traced and char_rnn_step @cells_traced, where a
// loop over the steps of a sequence multiplies by the same weights in each step. Its products become few large ones:
//   A1 B1 + A2 B2 + A3 B3 = [A1 A2 A3] [B1; B2; B3]    the gradient of a weight that every step uses
//   A1 B, A2 B, A3 B      = rows of [A1; A2; A3] B     the inputs of all steps, and their gradients
//   A1 B^T, ... each depending on the one before       B is transposed once
// Not here: bias and activation (epilogues.inl).
#pragma once
#include <algorithm>
#include <map>
#include <optional>

#include "tandem/core/backend.hpp"
#include "tandem/graph/ir/views.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
namespace detail {

inline constexpr std::size_t fewest_products = 3;
// Of combined products: larger ones are not faster, and copied operands should be used while they are in the cache.
inline constexpr i64 deepest_sum = 1024, most_rows = 1024;
inline constexpr i64 few_rows = 256;      // of a product that is combined with others
inline constexpr i64 many_columns = 256;  // from here on the cost of concatenating the rows is negligible

TANDEM_LAZY class ProductCombiner {
 public:
  explicit ProductCombiner(const Graph& g) : from_(g), rewrite_(g), views_(views_of(g)), in_sum_(g.nodes.size()) {}

  Ref<Graph> run() {
    find_sums();
    for (const auto& [last, terms] : sums_)
      if (terms.size() >= fewest_products) combine_sum(last, terms);
    find_groups();
    for (const auto& [_, members] : groups_) combine_rows(members);
    return eliminate_dead_code(*rewrite_.finish());
  }

 private:
  using Nodes = LeanVector<NodeId>;  // products, in program order
  using Key = std::vector<i64>;

  const Node& node(NodeId i) const { return from_.nodes[i]; }
  const Shape& shape(ValueId value) const { return rewrite_.spec(value).shape; }
  static rules::MatmulAttrs flags(const Node& n) {
    return n.op == &matmul_op ? n.attrs.get<rules::MatmulAttrs>() : rules::MatmulAttrs{};
  }
  bool is_matrix(ValueId value) const { return shape(value).rank() == 2 && shape(value).is_fully_defined(); }
  bool is_product_of_matrices(const Node& n) const {
    return (n.op == &matmul_op || n.op == &dense_op) && is_matrix(n.in[0]) && is_matrix(n.in[1]) &&
           dtypes::floating.has(rewrite_.spec(n.first_out).dtype) &&
           has_kernel(concat_op, rewrite_.spec(n.first_out).device);
  }
  std::vector<ValueId> operands(Span<const NodeId> products, unsigned side) const {
    std::vector<ValueId> r;
    for (const NodeId i : products) r.push_back(node(i).in[side]);
    return r;
  }
  const View& view(ValueId value) const { return views_[value]; }
  // Whether each value follows the one before it in memory.
  bool are_adjacent(Span<const ValueId> values) const {
    for (std::size_t i = 1; i < values.size(); ++i) {
      const View &a = view(values[i - 1]), &b = view(values[i]);
      if (a.base != b.base || a.offset + from_.spec(values[i - 1]).bytes() != b.offset) return false;
    }
    return from_.spec(view(values[0]).base).dtype == from_.spec(values[0]).dtype;
  }

  // Adds the concatenation of matrices along an axis; without a copy where they are adjacent.
  ValueId concatenated(const std::vector<ValueId>& values, int axis, NodeId before) {
    const auto [known, is_new] = concatenated_.try_emplace({axis, values});
    if (!is_new) return known->second;
    Spec spec = rewrite_.spec(values[0]);
    i64 size = 0;
    for (const ValueId v : values) size += shape(v).dim(axis);
    spec.shape.set(axis, size);
    return known->second = axis == 0 && are_adjacent(values)
                               ? stretch(view(values[0]), spec, before)
                               : rewrite_.add_before(before, concat_op, rules::JoinAttrs{axis}, values, spec);
  }
  // Adds a value of this spec that is a part of the base's buffer.
  ValueId stretch(const View& v, const Spec& spec, NodeId before) {
    ValueId x = rewrite_.now(v.base);
    Spec s = rewrite_.spec(x);
    const i64 all = s.shape.size(), size = spec.shape.size();
    if (all != size) {
      s.shape = {all};
      x = rewrite_.add_before(before, reshape_op, rules::ReshapeAttrs{s.shape}, {&x, 1}, s);
      s.shape = {size};
      const rules::LeadingSliceAttrs part{static_cast<i64>(v.offset / size_of(s.dtype)), size};
      x = rewrite_.add_before(before, leading_slice_op, part, {&x, 1}, s);
    }
    return s == spec ? x : rewrite_.add_before(before, reshape_op, rules::ReshapeAttrs{spec.shape}, {&x, 1}, spec);
  }

  // Sums. A term is a product that is used only here.
  bool is_term(ValueId value) const {
    const Node& n = node(rewrite_.producer(value));
    return n.op == &matmul_op && is_product_of_matrices(n);
  }
  i64 depth(NodeId term) const { return shape(node(term).in[0]).dim(flags(node(term)).transpose_a ? 0 : 1); }
  bool are_alike(NodeId a, NodeId b) const { return node(a).attrs == node(b).attrs && depth(a) == depth(b); }
  // The terms of a value, taken from sums_ if it is a sum itself; none if it has another use.
  Nodes take_terms(ValueId value) {
    if (!rewrite_.has_one_use(value)) return {};
    const NodeId i = rewrite_.producer(value);
    if (is_term(value)) return {i};
    auto sum = sums_.extract(i);
    return sum ? std::move(sum.mapped()) : Nodes();
  }
  void find_sums() {
    for (const NodeId i : from_.nodes.ids()) {
      const Node& n = node(i);
      if (n.op != &add_op || !is_matrix(n.first_out) || shape(n.in[0]) != shape(n.in[1])) continue;
      Nodes terms = take_terms(n.in[0]), others = take_terms(n.in[1]);
      if (terms.empty() || others.empty() || !are_alike(terms[0], others[0])) {
        if (terms.size() > 1) sums_[rewrite_.producer(n.in[0])] = std::move(terms);
        if (others.size() > 1) sums_[rewrite_.producer(n.in[1])] = std::move(others);
        continue;
      }
      if (terms.size() < others.size()) terms.swap(others);
      terms.append(others.begin(), others.end());
      sums_[i] = std::move(terms);
    }
  }
  // The contracted axis of an operand.
  static int inner_axis(const rules::MatmulAttrs& f, unsigned side) {
    return (side ? f.transpose_b : !f.transpose_a) ? 1 : 0;
  }
  // A separate term writes its m x n result, reads it, and adds it to the sum; a combined one copies k (m + n)
  // elements, or none of an operand whose parts are adjacent. Backpropagation visits the steps in reverse.
  void combine_sum(NodeId last, Nodes terms) {
    std::sort(terms.begin(), terms.end());
    const rules::MatmulAttrs f = flags(node(terms[0]));
    const auto is_copied = [&](unsigned side) {
      return inner_axis(f, side) != 0 || !are_adjacent(operands(terms, side));
    };
    const bool reversed = is_copied(0) && is_copied(1);
    if (reversed) std::reverse(terms.begin(), terms.end());
    const Shape& result = shape(node(last).first_out);
    const i64 m = result.dim(0), n = result.dim(1), k = depth(terms[0]), count = static_cast<i64>(terms.size());
    const i64 parts = std::max<i64>(1, (count * k + deepest_sum - 1) / deepest_sum);
    const auto each = static_cast<std::size_t>((count + parts - 1) / parts);
    if (k == 0 || each < fewest_products || k * (m * is_copied(0) + n * is_copied(1)) > 2 * m * n) return;
    LeanVector<Span<const NodeId>> chunks;
    for (std::size_t i = 0; i < terms.size(); i += each)
      chunks.emplace_back(&terms[i], std::min(each, terms.size() - i));
    if (reversed) std::reverse(chunks.begin(), chunks.end());
    ValueId total;
    for (const auto& chunk : chunks) total = add_chunk(chunk, f, total);
    for (const NodeId t : terms) in_sum_[t] = 1;
    rewrite_.replace(node(last).first_out, total);
  }
  // Adds the sum of `total`, if there is one, and some terms.
  ValueId add_chunk(Span<const NodeId> terms, const rules::MatmulAttrs& f, ValueId total) {
    const NodeId last = *std::max_element(terms.begin(), terms.end());
    const Spec spec = rewrite_.spec(node(last).first_out);
    const ValueId in[] = {concatenated(operands(terms, 0), inner_axis(f, 0), last),
                          concatenated(operands(terms, 1), inner_axis(f, 1), last)};
    const ValueId product = rewrite_.add_before(last, matmul_op, f, in, {&spec, 1}, &node(last));
    const ValueId both[] = {total, product};
    return total.is_set() ? rewrite_.add_before(last, add_op, no_attrs, both, spec) : product;
  }

  // Products with the same right operand. Those of one row or one column use other kernels, with other rounding.
  std::optional<Key> key(NodeId i) const {
    const Node& n = node(i);
    if (in_sum_[i] || !is_product_of_matrices(n) || flags(n).transpose_a) return {};
    const i64 rows = shape(n.in[0]).dim(0), columns = shape(n.first_out).dim(1);
    if (rows < 2 || rows > few_rows || columns < 2) return {};
    Key k{n.op == &dense_op ? 1 + static_cast<i64>(n.attrs.get<rules::DenseAttrs>().activation) : 0,
          flags(n).transpose_b, rewrite_.effects_before(i)};
    for (unsigned operand = 1; operand < n.in.size(); ++operand) k.push_back(n.in[operand].number());
    return k;
  }
  // Groups products that may be combined all at once. If a product depends on another one by the same operand (the
  // state of a recurrent layer), those by this operand are not grouped. The level of a node is the largest number of
  // other products on a path to it; products of one level do not depend on each other, nor do combined ones.
  void find_groups() {
    std::map<Key, Nodes> by_key;
    for (const NodeId i : from_.nodes.ids())
      if (const auto k = key(i)) by_key[*k].push_back(i);
    ById<NodeId, int> bit(from_.nodes.size(), -1);  // of a product: the number of its right operand
    LeanVector<Nodes> alike;
    for (auto& [_, products] : by_key) {
      if (products.size() < fewest_products || alike.size() == 64) continue;  // as many as a mask of them has bits
      for (const NodeId i : products) bit[i] = static_cast<int>(alike.size());
      alike.push_back(std::move(products));
    }
    const u64 recurrent = recurrent_ones(bit);
    for (std::size_t a = 0; a < alike.size(); ++a) {
      if (!(recurrent >> a & 1u)) continue;
      for (const NodeId i : alike[a]) bit[i] = -1;
      share_transpose(alike[a]);
    }
    ById<NodeId, int> level(from_.nodes.size());
    for (const NodeId i : from_.nodes.ids()) {
      for (const ValueId v : node(i).in) {
        const NodeId p = rewrite_.producer(v);
        level[i] = std::max(level[i], level[p] + (bit[p] >= 0));
      }
      if (bit[i] >= 0) groups_[{level[i], bit[i]}].push_back(i);
    }
  }
  // The right operands by which products are multiplied that depend on each other.
  u64 recurrent_ones(const ById<NodeId, int>& bit) const {
    u64 found = 0;
    ById<NodeId, u64> needs(from_.nodes.size());  // the operands of the products that it depends on
    for (const NodeId i : from_.nodes.ids()) {
      for (const ValueId v : node(i).in) needs[i] |= needs[rewrite_.producer(v)];
      if (bit[i] < 0) continue;
      const u64 own = u64{1} << bit[i];
      found |= needs[i] & own;
      needs[i] |= own;
    }
    return found;
  }
  void combine_rows(Nodes members) {
    std::stable_sort(members.begin(), members.end(),
                     [&](NodeId a, NodeId b) { return view(node(a).in[0]).offset < view(node(b).in[0]).offset; });
    if (!are_adjacent(operands(members, 0))) {
      std::sort(members.begin(), members.end());
      if (shape(node(members[0]).first_out).dim(1) < many_columns) return share_transpose(members);
    }
    for (std::size_t i = 0, end = 0; i < members.size(); i = end) {
      i64 rows = 0;
      for (; end < members.size(); ++end) {
        const i64 more = shape(node(members[end]).in[0]).dim(0);
        if (rows && rows + more > most_rows) break;
        rows += more;
      }
      if (end - i >= fewest_products) add_product({&members[i], end - i}, rows);
    }
  }
  // Adds the product of all rows of the members' left operands.
  void add_product(Span<const NodeId> members, i64 rows) {
    const NodeId last = *std::max_element(members.begin(), members.end());
    const Node& n = node(last);
    LeanVector<ValueId> in(n.in.begin(), n.in.end());
    in[0] = concatenated(operands(members, 0), 0, last);
    Spec spec = rewrite_.spec(n.first_out);
    spec.shape.set(0, rows);
    const ValueId product = rewrite_.add_before(last, *n.op, n.attrs, in, {&spec, 1}, &n);
    i64 begin = 0;
    for (const NodeId i : members) {
      const Spec part = rewrite_.spec(node(i).first_out);
      const rules::LeadingSliceAttrs slice{begin, part.shape.dim(0)};
      rewrite_.replace(node(i).first_out,
                       rewrite_.add_before(last, leading_slice_op, slice, {&product, 1}, {&part, 1}, &node(i)));
      begin += part.shape.dim(0);
    }
  }

  // Each product with a transposed matrix packs it anew, which a product of few rows does not amortize.
  void share_transpose(const Nodes& products) {
    rules::MatmulAttrs f = flags(node(products[0]));
    if (!f.transpose_b || products.size() < fewest_products) return;
    const ValueId b = node(products[0]).in[1];
    Spec spec = rewrite_.spec(b);
    if (!has_kernel(transpose_op, spec.device)) return;
    spec.shape = {spec.shape.dim(1), spec.shape.dim(0)};
    const ValueId transposed =
        rewrite_.add_before(products[0], transpose_op, rules::TransposeAttrs{Axes(), false}, {&b, 1}, spec);
    f.transpose_b = false;
    for (const NodeId i : products) {
      Node& n = rewrite_.node(i);
      n.attrs = f, n.in[1] = transposed;
    }
  }

  const Graph& from_;
  Rewrite rewrite_;
  ById<ValueId, View> views_;
  ById<NodeId, char> in_sum_;                                             // whether it is a term of a combined sum
  std::map<NodeId, Nodes> sums_;                                          // by the last addition: the terms
  std::map<std::pair<int, int>, Nodes> groups_;                           // by level and right operand
  std::map<std::pair<int, std::vector<ValueId>>, ValueId> concatenated_;  // by axis and values
};

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> combine_products(const Graph& from) { return detail::ProductCombiner(from).run(); }

}  // namespace TANDEM_NS
