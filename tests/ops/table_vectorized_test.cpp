// Generated from the op table: every op by its batching rule gives what it gives row by row, whichever inputs differ
// between rows; and the list of ops without a rule.
#include <set>
#include <string>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/control/vectorized_map.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tests/ops/table_calls.hpp"

using namespace tandem;
using namespace table_calls;
using samples::Call;

namespace {

using List = std::vector<Tensor>;
constexpr i64 count = 3;

// Rows that are all valid inputs where x is: floating numbers get smaller, others change places.
Tensor rows_of(const Tensor& x) {
  List rows;
  for (i64 k = 0; k < count; ++k) {
    if (is_floating(x.dtype())) rows.push_back(x * cast(constant(1 - 0.125 * static_cast<double>(k)), x.dtype()));
    else rows.push_back(x.rank() == 0 || x.shape().size() == 0 ? x : roll(x, k, x.rank() - 1));
  }
  return stack(rows);
}
bool may_differ(const Call& c, std::size_t i) {
  return !lives_on_host(*c.op, i, c.in.size()) && !c.in[i].is_symbolic() && c.in[i].rank() < max_rank;
}
// The op as a function of the inputs whose numbers are listed.
auto row_function(const Call& c, const std::vector<std::size_t>& which) {
  return [&c, which](const List& row) {
    List in = c.in;
    for (std::size_t k = 0; k < which.size(); ++k) in[which[k]] = row[k];
    const Tensors out = samples::apply_to(c, in);
    const std::size_t n = c.op->rare.decomposition ? c.op->rare.decomposition(in, c.attrs).size() : out.size();
    return List(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n));  // without what serves the gradient alone
  };
}
void check_equal(const Call& c, const Tensor& a, const Tensor& b, bool bits) {
  REQUIRE(a.spec() == b.spec());
  if (same_bits(a, b)) return;
  CHECK(!bits);
  REQUIRE(is_floating(a.dtype()));
  CHECK(relative_error(as_doubles(a), as_doubles(b), largest_input(c)) < 1e-6);
}
// Whether an op moves, compares or computes elements one by one, so that not a bit may differ.
bool is_exact(const OpDef& op) { return op.flags.pointwise || op.flags.alias || op.flags.non_differentiable; }
// Ops without a rule: users get an error that says so. The dims of reshape_dynamic and broadcast_dynamic are not known
// here.
constexpr const char* no_rule[] = {"add_rows",           "bincount",          "broadcast_dynamic",
                                   "check_all_written",  "check_written",     "confusion_matrix",
                                   "custom_gradient",    "dynamic_partition", "dynamic_stitch",
                                   "frames_like",        "gru_grad",          "histogram_fixed_width",
                                   "invert_permutation", "is_member",         "lstm_grad",
                                   "mark_written",       "number_distinct",   "overlap_and_add",
                                   "pad_or_trim",        "pad_or_trim_like",  "random_advance",
                                   "repeat_indices",     "reshape_dynamic",   "reverse_sequence",
                                   "segment_max",        "segment_min",       "segment_prod",
                                   "segment_sum",        "two_sum",           "two_sum_rows",
                                   "unravel_index",      "update_row",        "where"};
// Whether there is a rule for rows that differ in these inputs; if so, compares.
bool check_rows(const Call& c, const std::vector<std::size_t>& which) {
  List xs;
  for (const std::size_t i : which) xs.push_back(rows_of(c.in[i]));
  const auto f = row_function(c, which);
  List out;
  try {
    out = vectorized_map(f, xs);
  } catch (const errors::UnimplementedError& e) {
    CHECK(e.op() == "vectorized_map");
    if (!c.op->rare.decomposition) CHECK(e.message().find(c.op->name) != std::string::npos);
    CHECK(e.message().find("use map_fn") != std::string::npos);
    return false;
  }
  const List expected = map_fn(f, xs), traced = function([&](const List&x) { return vectorized_map(f, x); })(xs);
  for (std::size_t k = 0; k < out.size(); ++k) {
    INFO("output " << k);
    check_equal(c, out[k], expected[k], is_exact(*c.op));
    check_equal(c, traced[k], expected[k], false);
  }
  return true;
}

}  // namespace

TEST_CASE("op table: rows at once give what rows one by one give") {
  std::set<std::string> with, without;
  for_each_call(float32, [&](const Call& c) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < c.in.size(); ++i)
      if (may_differ(c, i)) all.push_back(i);
    if (all.empty()) return;
    std::vector<std::vector<std::size_t>> choices{all};
    for (const std::size_t i : all) choices.push_back({i});
    for (const auto& which : choices) {
      std::string names;
      for (const std::size_t i : which) names += " " + std::to_string(i);
      INFO("inputs" << names);
      (check_rows(c, which) ? with : without).insert(c.op->name);
    }
  });
  std::set<std::string> none_at_all;
  for (const OpDef* op : samples::tested_ops())
    if (without.contains(op->name) && !with.contains(op->name) && !op->flags.random && !op->flags.stateful)
      none_at_all.insert(op->name);
  // Updates of Variables, which assign.
  std::erase_if(none_at_all, [](const std::string& name) { return name.find("_update") != std::string::npos; });
  CHECK(none_at_all == std::set<std::string>(std::begin(no_rule), std::end(no_rule)));
}
