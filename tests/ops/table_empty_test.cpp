// Generated from the op table: operands of size 0 in every dtype. A kernel writes nothing but its results and its
// scratch, whose size it has computed for such operands, too. A scratch of 0 bytes has no address, so that a write into
// it ends the program; others lie between guard bytes. Not here: what is computed (table_test.cpp).
#include "tandem/core/allocator.hpp"
#include "tests/ops/table_calls.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/hostile_calls.hpp"

using namespace tandem;
using hostile::Edit;
using samples::Call;

namespace {

void check_empty(const Call& call) {
  CHECK(hostile::overwritten_by(call) == "");
  try {
    for (const Tensor& t : samples::apply_to(call, call.in)) CHECK(t.is_set());
  } catch (const errors::OpError& e) {
    CHECK(!e.op().empty());
  }
}
// As it is; with each axis, all axes as long as one of them, and all axes of size 0.
void check_sizes(const Call& call) {
  CHECK(hostile::overwritten_by(call) == "");
  std::vector<Edit> edits{{Edit::all_sizes, 0, 0, 0}};
  for (std::size_t i = 0; i < call.in.size(); ++i)
    for (std::size_t a = 0; a < static_cast<std::size_t>(call.in[i].rank()); ++a)
      edits.push_back({Edit::size, i, a, 0}), edits.push_back({Edit::sizes_alike, i, a, 0});
  for (const Edit& e : edits) {
    CAPTURE(int{e.kind}, e.at, e.element);
    Call empty = call;
    if (!call.in.empty() && hostile::apply_edit(empty, e)) check_empty(empty);
  }
}

}  // namespace

TEST_CASE("op table: operands of size 0, in every dtype, leave memory alone") {
  table_calls::for_each_call(float32, [](const Call& call) {
    if (call.op == &custom_gradient_op || call.op == &print_op) return;
    check_sizes(call);
    const auto typed = static_cast<std::size_t>(call.op->dtype_input < 0 ? 0 : call.op->dtype_input);
    for (i64 d = 0; d < dtype_count; ++d) {
      CAPTURE(name(static_cast<DType>(d)));
      Call other = call;
      const bool listed =
          call.op->dtypes.has(static_cast<DType>(d)) || dtypes::half_floating.has(static_cast<DType>(d));
      if (listed && hostile::apply_edit(other, {Edit::dtypes_alike, typed, 0, d})) check_sizes(other);
    }
  });
}
