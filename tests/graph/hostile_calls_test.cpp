// Generated from the op table: graph files that lie. One op each, whose inputs have other dtypes, ranks, sizes or
// contents than any public function would pass, or other attributes: refused by the shape rule, an error, or results
// that follow from the operands alone, whatever lies behind them in memory. With the address sanitizer, blocks end
// where their tensors do (core/allocator.hpp). Every fifth edit; all with TANDEM_HOSTILE_STRIDE=1. Random combinations
// of the same: tests/fuzz/graph_fuzz.cpp.
#include "tests/support/hostile_calls.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/core/invoke.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/op_table.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/tested_ops.hpp"

using namespace tandem;
using hostile::Edit;
using samples::Call;

namespace {

struct MemoryLimit {
  MemoryLimit() { memory::set_limit(memory::info().live + (64 << 20)); }
  ~MemoryLimit() { memory::set_limit(0); }
};
// Prints write to files, closures hold the sample's own operands.
bool is_excluded(const OpDef& op) { return &op == &print_op || &op == &custom_gradient_op; }

// Runs a file twice: the operands are the same, but not what lies around them.
void check_file(const hostile::File& file) {
  for (const bool plan : {true, false}) {
    const hostile::Loaded graph(file, plan);
    if (TANDEM_WATCHES_BLOCKS) (void)graph.run();  // operands end where their blocks do
    const std::string a = graph.run(0x00), b = graph.run(0xa5);
    if (a == b || file.op->flags.nondeterministic) continue;
    CAPTURE(plan, a.substr(0, 200), b.substr(0, 200));
    FAIL_CHECK("the results depend on what lies around the operands");
  }
}
void check_files(const Call& call, bool with_open_sizes) {
  for (const bool host_constants : {false, true}) {
    if (host_constants && !tandem::detail::has_host_inputs(*call.op, call.in.size())) continue;
    for (const bool open : {false, true}) {
      if (open && !with_open_sizes) continue;
      CAPTURE(open, host_constants);
      if (const hostile::File file = hostile::file_of(call, {open, host_constants}); !file.bytes.empty())
        check_file(file);
    }
  }
}
// A few calls of an op are edited: further samples differ in what they compute. All pointwise ops have one shape rule.
std::vector<Call> edited_calls(const OpDef& op) {
  const std::vector<Call> all = samples::calls_of(op, float32);
  if (all.size() < 3) return all;
  return op.flags.pointwise ? std::vector<Call>{all[0]} : std::vector<Call>{all[0], all[all.size() / 2], all.back()};
}
std::string text_of(const Edit& e) {
  return "edit " + std::to_string(int{e.kind}) + " of " + std::to_string(e.at) + "[" + std::to_string(e.element) +
         "] to " + std::to_string(e.value);
}

}  // namespace

TEST_CASE("hostile calls: files with other dtypes, sizes or attributes are refused, raise or compute") {
  const MemoryLimit limit;
  std::uint64_t edits = 0;
  const std::uint64_t stride = testing::number_from("TANDEM_HOSTILE_STRIDE", 5);
  for (const OpDef* op : samples::tested_ops()) {
    if (is_excluded(*op)) continue;
    INFO(op->name);
    for (const Call& call : samples::calls_of(*op, float32)) check_files(call, true);
    for (const Call& call : edited_calls(*op))
      for (const Edit& e : hostile::edits_of(call)) {
        if (edits++ % stride != 0) continue;
        INFO(text_of(e));
        Call other = call;
        if (hostile::apply_edit(other, e)) check_files(other, e.kind >= Edit::size && e.kind < Edit::contents);
      }
  }
}

TEST_CASE("hostile calls: dims whose known sizes are not those of the data raise") {
  const Tensor x = ones({1}), two = ones({2, 3}), dims = constant(std::vector<i64>{1});
  const auto loaded = [](const OpDef& op, const Tensor& operand, const Tensor& sizes, const Shape& known) {
    const hostile::File file =
        hostile::file_of({&op, {operand, sizes}, rules::KnownDimsAttrs{known}}, {.host_constants = false});
    return file.bytes.empty() ? std::string("refused") : hostile::Loaded(file, true).run().substr(0, 7);
  };
  for (const OpDef* op : {&reshape_dynamic_op, &broadcast_dynamic_op}) {
    CAPTURE(op->name);
    CHECK(loaded(*op, x, dims, Shape{1}) == "results");
    CHECK(loaded(*op, x, dims, Shape{-1}) == "refused");
    for (const DType d : {bool_, int8, int16, int32, uint64, float64})
      CHECK(loaded(*op, x, zeros({1}, {.dtype = d}), Shape{none}) == "refused");
  }
  CHECK(loaded(reshape_dynamic_op, x, dims, Shape{1000}) == "refused");
  CHECK(loaded(broadcast_dynamic_op, two, dims, Shape{1000}) == "refused");
  CHECK(loaded(broadcast_dynamic_op, x, dims, Shape{1000}) == "error: ");  // the data says 1
  CHECK(loaded(reshape_dynamic_op, two, constant(std::vector<i64>{3, 2}), Shape{2, 3}) == "error: ");
  const hostile::File fill = hostile::file_of({&fill_op, {dims, constant(2.f)}, rules::KnownDimsAttrs{Shape{7}}}, {});
  CHECK_THAT(hostile::Loaded(fill, true).run(), ContainsSubstring("known sizes are given as (7,)"));
}
