// Combines sums of products into one product over all their inner dimensions (used by products.inl):
//   A1 B1 + A2 B2 + A3 B3 = [A1 A2 A3] [B1; B2; B3]
// An unrolled loop computes each weight's gradient like this. Not here: products that share an operand
// (product_rows.hpp).
//
// Cost of a separate term: its m x n result is written, then read, added to the sum and written again. Cost of a
// combined term: k (m + n) elements are copied, or none of an operand whose parts are already adjacent.
#pragma once
#include <algorithm>
#include <map>

#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/places.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/graph/passes/sums.hpp"
#include "tandem/ops/linalg/matmul.hpp"

namespace TANDEM_NS {
namespace detail {

// Deeper products are not faster, and copied operands should be used while they are in the cache, then released.
inline constexpr i64 deepest_sum = 1024;
inline constexpr std::size_t fewest_terms = 3;

class SumCombiner {
 public:
  explicit SumCombiner(const Graph& g) : rewrite_(g), makers_(g.makers()), uses_(g.uses()), places_(*rewrite_.graph) {
    for (SumTree& t : find_sums(g, makers_, uses_)) find_terms(t);
  }

  Ref<Graph> run() {
    choose_orders();
    for (std::size_t i = 0; i < rewrite_.graph->nodes.size(); ++i) {
      if (const auto c = chunks_.find(i); c != chunks_.end()) join(c->second);
      if (const auto s = sums_.find(i); s != sums_.end()) finish(s->second);
    }
    return rewrite_.finish();
  }

 private:
  struct Sum {
    std::size_t root;               // the last addition
    std::vector<std::size_t> adds;  // the other additions
    std::vector<int> rest;          // terms that are not combined
    int total = -1;                 // the sum of what is combined so far
  };
  // Terms that become one product, at the position of the last of them.
  struct Chunk {
    Sum* sum;
    std::vector<std::size_t> terms;
  };
  struct Sizes {
    rules::MatmulAttrs flags;
    i64 m, n, k;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  const Node& node(std::size_t i) const { return rewrite_.graph->nodes[i]; }
  std::size_t maker(int value) const { return at(makers_[at(value)]); }

  bool is_term(int value) const {
    const Node& n = node(maker(value));
    if (uses_[at(value)] != 1 || n.op != &matmul_op) return false;
    const Shape &a = rewrite_.spec(n.in[0]).shape, &b = rewrite_.spec(n.in[1]).shape;
    return a.rank() == 2 && b.rank() == 2 && a.is_fully_defined() && b.is_fully_defined();
  }
  Sizes sizes(std::size_t term) const {
    const Node& n = node(term);
    const auto& flags = n.attrs.get<rules::MatmulAttrs>();
    const Shape& c = rewrite_.spec(n.first_out).shape;
    return {flags, c.dim(0), c.dim(1), rewrite_.spec(n.in[0]).shape.dim(flags.transpose_a ? 0 : 1)};
  }

  void find_terms(SumTree& t) {
    Sum sum{t.root, std::move(t.adds), {}};
    std::vector<std::size_t> terms;
    for (int v : t.terms) {
      if (is_term(v)) terms.push_back(maker(v));
      else sum.rest.push_back(v);
    }
    if (terms.size() >= fewest_terms) divide(std::move(sum), terms);
  }
  // Divides terms of equal flags and depth, in program order, into chunks of about equal size.
  void divide(Sum sum, std::vector<std::size_t>& terms) {
    std::sort(terms.begin(), terms.end());
    std::map<std::tuple<bool, bool, i64>, std::vector<std::size_t>> alike;
    for (const std::size_t t : terms) {
      const Sizes s = sizes(t);
      alike[{s.flags.transpose_a, s.flags.transpose_b, s.k}].push_back(t);
    }
    std::vector<Chunk> chunks;
    for (const auto& [key, group] : alike) {
      const i64 n = static_cast<i64>(group.size()), depth = n * std::get<2>(key);
      const i64 parts = std::max<i64>(1, (depth + deepest_sum - 1) / deepest_sum), each = (n + parts - 1) / parts;
      for (std::size_t i = 0; i < group.size(); i += static_cast<std::size_t>(each)) {
        const auto from = group.begin() + static_cast<std::ptrdiff_t>(i);
        const auto to = group.begin() + std::min(n, static_cast<i64>(i) + each);
        if (pays({from, to})) chunks.push_back({nullptr, {from, to}});
        else
          for (auto t = from; t != to; ++t) sum.rest.push_back(node(*t).first_out);
      }
    }
    if (chunks.empty()) return;
    Sum& kept = sums_[sum.root] = std::move(sum);
    for (Chunk& c : chunks) {
      c.sum = &kept;
      const std::size_t last = c.terms.back();
      chunks_.emplace(last, std::move(c));
    }
  }
  bool pays(const std::vector<std::size_t>& terms) const {
    if (terms.size() < fewest_terms) return false;
    const Sizes s = sizes(terms[0]);
    const bool a_lies = lies(sorted(terms, 0), 0), b_lies = lies(sorted(terms, 1), 1);
    return s.k > 0 && s.k * ((a_lies ? 0 : s.m) + (b_lies ? 0 : s.n)) <= 2 * s.m * s.n;
  }

  // The inner (contracted) axis of an operand.
  static int inner_axis(const rules::MatmulAttrs& flags, unsigned side) {
    return (side ? flags.transpose_b : !flags.transpose_a) ? 1 : 0;
  }
  std::vector<int> operands(const std::vector<std::size_t>& terms, unsigned side) const {
    std::vector<int> r;
    for (const std::size_t t : terms) r.push_back(node(t).in[side]);
    return r;
  }
  bool lies(const std::vector<std::size_t>& terms, unsigned side) const {
    return inner_axis(sizes(terms[0]).flags, side) == 0 && places_.are_neighbours(operands(terms, side));
  }
  std::vector<std::size_t> sorted(std::vector<std::size_t> terms, unsigned side) const {
    std::stable_sort(terms.begin(), terms.end(), [&](std::size_t a, std::size_t b) {
      return places_.begin(node(a).in[side]) < places_.begin(node(b).in[side]);
    });
    return terms;
  }

  // Orders the terms: first the chunks where one order saves a copy; then the others, in the order of chunks with
  // which they share operands, so that these are concatenated once.
  void choose_orders() {
    std::map<std::vector<int>, std::vector<int>> known;  // operands -> their order
    const auto key = [&](const Chunk& c, unsigned side) {
      std::vector<int> values = operands(c.terms, side);
      std::sort(values.begin(), values.end());
      return values;
    };
    std::vector<Chunk*> open;
    for (auto& [last, c] : chunks_) {
      const unsigned side = lies(sorted(c.terms, 0), 0) ? 0 : 1;
      std::vector<std::size_t> order = sorted(c.terms, side);
      if (!lies(order, side)) {
        open.push_back(&c);
        continue;
      }
      c.terms = std::move(order);
      for (const unsigned s : {0u, 1u}) known[key(c, s)] = operands(c.terms, s);
    }
    for (Chunk* c : open)
      for (const unsigned side : {0u, 1u})
        if (const auto k = known.find(key(*c, side)); k != known.end()) follow(*c, side, k->second);
  }
  void follow(Chunk& c, unsigned side, const std::vector<int>& order) const {
    std::map<int, std::size_t> rank;
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    std::stable_sort(c.terms.begin(), c.terms.end(),
                     [&](std::size_t a, std::size_t b) { return rank[node(a).in[side]] < rank[node(b).in[side]]; });
  }

  void join(const Chunk& c) {
    const std::size_t last = *std::max_element(c.terms.begin(), c.terms.end());
    const rules::MatmulAttrs flags = sizes(last).flags;
    const int a = joined(operands(c.terms, 0), inner_axis(flags, 0), last);
    const int b = joined(operands(c.terms, 1), inner_axis(flags, 1), last);
    Node& n = rewrite_.node(last);
    n.in[0] = a, n.in[1] = b;
    for (const std::size_t t : c.terms)
      if (t != last) rewrite_.remove(t);
    int& total = c.sum->total;
    total = total < 0 ? n.first_out : sum_of(total, n.first_out, last + 1);
  }
  int sum_of(int a, int b, std::size_t before) {
    const Spec s = rewrite_.spec(a);
    const int in[] = {a, b};
    return rewrite_.add_before(before, add_op, no_attrs, in, s);
  }
  int joined(std::vector<int> values, int axis, std::size_t before) {
    for (int& v : values) v = rewrite_.now(v);
    const auto [known, fresh] = joined_.try_emplace({axis, values}, -1);
    if (!fresh) return known->second;
    Spec s = rewrite_.spec(values[0]);
    s.shape.set(axis, s.shape.begin()[axis] * static_cast<i64>(values.size()));
    if (axis == 0 && places_.are_neighbours(values))
      return known->second =
                 places_.view(values, s, [&](const OpDef& op, const Attrs& attrs, int in, const Spec& spec) {
                   return rewrite_.add_before(before, op, attrs, {&in, 1}, Spec(spec));
                 });
    return known->second = rewrite_.add_before(before, concat_op, rules::JoinAttrs{axis}, values, s);
  }
  void finish(const Sum& s) {
    for (const std::size_t a : s.adds) rewrite_.remove(a);
    Node& n = rewrite_.node(s.root);
    int total = s.total;
    if (s.rest.empty()) {
      rewrite_.replace(n.first_out, total);
      return rewrite_.remove(s.root);
    }
    for (std::size_t i = 0; i + 1 < s.rest.size(); ++i) total = sum_of(total, rewrite_.now(s.rest[i]), s.root);
    n.in[0] = total, n.in[1] = rewrite_.now(s.rest.back());
  }

  Rewrite rewrite_;
  std::vector<int> makers_, uses_;
  Places places_;
  std::map<std::size_t, Sum> sums_;                         // by root
  std::map<std::size_t, Chunk> chunks_;                     // by the last term
  std::map<std::pair<int, std::vector<int>>, int> joined_;  // by axis and values
};

}  // namespace detail
}  // namespace TANDEM_NS
