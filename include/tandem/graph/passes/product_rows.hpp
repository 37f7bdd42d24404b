// Combines products with the same right operand into one product of all their rows (used by products.inl):
//   A1 B, A2 B, A3 B = rows of [A1; A2; A3] B
// An unrolled loop multiplies the inputs of its steps like this. Each row is computed as before, bit for bit. Not
// here: sums of products (product_sums.hpp).
//
// A product of few rows spends much of its time reading B. Adjacent rows are combined for free; otherwise each
// element is copied once, compared with its n multiplications.
#pragma once
#include <algorithm>
#include <map>
#include <set>

#include "tandem/core/backend.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/places.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/linalg/matmul.hpp"

namespace TANDEM_NS {
namespace detail {

inline constexpr i64 few_rows = 256;  // of a product that is combined with others
inline constexpr i64 enough_rows =
    1024;  // of the combined product: more are not faster, and leave the cache before use
inline constexpr i64 many_columns = 256;  // above this the cost of a copy is negligible
inline constexpr std::size_t fewest_products = 3;

class RowCombiner {
 public:
  explicit RowCombiner(const Graph& g)
      : to_(g.copy()),
        places_(*to_),
        nodes_(std::exchange(to_->nodes, {})),
        group_(g.specs.size(), none_),
        marks_(g.specs.size()) {
    find_groups();
  }
  Ref<Graph> run() {
    for (int c = 0; c < static_cast<int>(left_.size()); ++c)
      if (left_[at(c)] >= fewest_products && steps_ < most_steps()) join_group(c);
    pass_steps += steps_;
    to_->nodes = std::move(nodes_);
    return to_;
  }

 private:
  // A group costs one visit of all nodes, or more if its members are far apart. If a graph has so many groups that
  // this would be quadratic, the last of them are not combined.
  u64 most_steps() const { return 256 * (nodes_.size() + 64); }

  static constexpr int none_ = -1;
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int group(const Node& n) const { return n.outputs == 1 ? group_[at(n.first_out)] : none_; }
  i64 rows(const Node& n) const { return to_->spec(n.in[0]).shape.dim(0); }

  // Floating rows times a matrix of several columns: a product of one row or column uses another kernel.
  bool can_join(const Node& n) const {
    if (n.op != &matmul_op && n.op != &dense_op) return false;
    if (n.op == &matmul_op && n.attrs.get<rules::MatmulAttrs>().transpose_a) return false;
    for (int v : n.in)
      if (!to_->spec(v).shape.is_fully_defined()) return false;
    const Spec &x = to_->spec(n.in[0]), &y = to_->spec(n.first_out);
    return x.shape.rank() == 2 && y.shape.rank() == 2 && to_->spec(n.in[1]).shape.rank() == 2 && y.shape.dim(1) > 1 &&
           x.shape.dim(0) > 1 && x.shape.dim(0) <= few_rows && has_kernel(*n.op, x.device) &&
           has_kernel(concat_op, x.device) && dtypes::floating.has(x.dtype);
  }
  // Products of one group do the same to their rows, with no effect between them.
  void find_groups() {
    std::map<std::vector<i64>, int> known;
    i64 effects = 0;
    for (const Node& n : nodes_) {
      effects += has_effects(n);
      if (!can_join(n)) continue;
      const bool is_dense = n.op == &dense_op;
      std::vector<i64> key{is_dense, effects,
                           is_dense ? static_cast<i64>(n.attrs.get<rules::DenseAttrs>().activation)
                                    : n.attrs.get<rules::MatmulAttrs>().transpose_b};
      for (unsigned i = 1; i < n.in.size(); ++i) key.push_back(n.in[i]);
      const int c = known.try_emplace(std::move(key), static_cast<int>(left_.size())).first->second;
      if (c == static_cast<int>(left_.size())) left_.push_back(0);
      group_[at(n.first_out)] = c;
      ++left_[at(c)];
    }
  }

  void join_group(int c) {
    done_.clear();
    done_.reserve(nodes_.size() + nodes_.size() / 8);
    steps_ += nodes_.size();
    for (next_ = 0; next_ < nodes_.size();)
      if (group(nodes_[next_]) != c || !join_from(c)) done_.push_back(std::move(nodes_[next_++]));
    nodes_.swap(done_);
  }
  // Finds products that do not depend on each other, from the one at next_ on.
  bool join_from(int c) {
    constexpr int most_refused = 8;  // the steps of a recurrent loop, which depend on each other
    ++mark_;
    std::vector<std::size_t> members;
    i64 all_rows = 0;
    int refused = 0;
    const u64 limit = most_steps();
    std::size_t seen = 0;
    for (std::size_t i = next_; i < nodes_.size() && seen < left_[at(c)] && refused < most_refused && steps_ < limit;
         ++i) {
      const Node& n = nodes_[i];
      const bool is_member = group(n) == c, waits = depends(n);
      ++steps_;
      seen += is_member;
      if (is_member && waits) ++refused;
      if (is_member && !waits) {
        if (all_rows + rows(n) > enough_rows && !members.empty()) break;
        all_rows += rows(n);
        members.push_back(i);
      }
      if (waits || is_member)
        for (int k = 0; k < n.outputs; ++k) marks_[at(n.first_out + k)] = mark_;
    }
    if (pays(members)) {
      join(members, all_rows);
      left_[at(c)] -= members.size();
      return true;
    }
    group_[at(nodes_[next_].first_out)] = none_;
    --left_[at(c)];
    return false;
  }
  // Whether the node needs the result of a product that was found.
  bool depends(const Node& n) const {
    return std::any_of(n.in.begin(), n.in.end(), [&](int v) { return marks_[at(v)] == mark_; });
  }
  bool pays(std::vector<std::size_t>& members) {
    if (members.size() < fewest_products) return false;
    std::vector<std::size_t> order = members;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return places_.begin(nodes_[a].in[0]) < places_.begin(nodes_[b].in[0]);
    });
    if (!places_.are_neighbours(operands(order)))
      return to_->spec(nodes_[next_].first_out).shape.dim(1) >= many_columns;
    members = std::move(order);
    return true;
  }
  std::vector<int> operands(const std::vector<std::size_t>& members) const {
    std::vector<int> r;
    for (const std::size_t i : members) r.push_back(nodes_[i].in[0]);
    return r;
  }

  // Inserts one product at the position of the last member. Nodes that depend on the members are moved behind it and
  // visited again.
  void join(const std::vector<std::size_t>& members, i64 all_rows) {
    const std::set<std::size_t> joined(members.begin(), members.end());
    const std::size_t end = *joined.rbegin() + 1;
    std::vector<Node> products, waiting;
    for (const std::size_t i : members) products.push_back(nodes_[i]);
    for (std::size_t i = next_; i < end; ++i) {
      if (joined.contains(i)) continue;
      (depends(nodes_[i]) ? waiting : done_).push_back(std::move(nodes_[i]));
    }
    const int whole = append_product(products[0], operands_of(products), all_rows);
    i64 begin = 0;
    for (Node& n : products) {
      const i64 count = rows(n);
      places_.set(n.first_out, whole, begin * to_->spec(whole).shape.dim(1));
      group_[at(n.first_out)] = none_;
      n.op = &leading_slice_op, n.attrs = rules::LeadingSliceAttrs{begin, count}, n.in = InlinedVector<int, 3>(whole);
      begin += count;
      done_.push_back(std::move(n));
    }
    next_ = end - waiting.size();
    std::move(waiting.begin(), waiting.end(), nodes_.begin() + static_cast<std::ptrdiff_t>(next_));
  }
  static std::vector<int> operands_of(const std::vector<Node>& products) {
    std::vector<int> r;
    for (const Node& n : products) r.push_back(n.in[0]);
    return r;
  }
  int append_product(const Node& first, const std::vector<int>& parts, i64 all_rows) {
    Spec x = to_->spec(first.in[0]), y = to_->spec(first.first_out);
    x.shape.set(0, all_rows), y.shape.set(0, all_rows);
    std::vector<int> in(first.in.begin(), first.in.end());
    in[0] = places_.are_neighbours(parts)
                ? places_.view(parts, x,
                               [&](const OpDef& op, const Attrs& attrs, int v, const Spec& s) {
                                 return append(op, attrs, {&v, 1}, s, first);
                               })
                : append(concat_op, rules::JoinAttrs{0}, parts, x, first);
    return append(*first.op, first.attrs, in, y, first);
  }
  int append(const OpDef& op, const Attrs& attrs, std::span<const int> in, Spec spec, const Node& like) {
    to_->add(op, attrs, in, {&spec, 1}, {}, like.where);
    done_.push_back(std::move(to_->nodes.back()));
    to_->nodes.clear();
    group_.push_back(none_), marks_.push_back(0);
    return done_.back().first_out;
  }

  const Ref<Graph> to_;
  Places places_;
  std::vector<Node> nodes_, done_;  // nodes_: still to be visited, from next_ on; done_: final
  std::size_t next_ = 0;
  std::vector<int> group_, marks_;  // by value: the group of its product; what depends on the current members has mark_
  std::vector<std::size_t> left_;   // by group: members that are not yet combined
  int mark_ = 0;
  u64 steps_ = 0;
};

}  // namespace detail
}  // namespace TANDEM_NS
