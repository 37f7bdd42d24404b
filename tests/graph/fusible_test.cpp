// The lists of ops that fused programs run (ops/fused/fusible.hpp) against the op table: each op that the CPU can fuse
// is in one of them, and each name in them is such an op.
#include "tandem/ops/fused/fusible.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tandem/op_table.hpp"
#include "tandem/ops/fused/fused.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/op_samples.hpp"

namespace fusible_test {

using namespace tandem;
using Names = std::vector<std::string>;

#define TANDEM_NAME(name) #name,
const Names on_gpu{TANDEM_FUSED_UNARY(TANDEM_NAME) TANDEM_FUSED_BINARY(TANDEM_NAME) TANDEM_FUSED_LOOP_UNARY(TANDEM_NAME)
                       TANDEM_FUSED_LOOP_BINARY(TANDEM_NAME) TANDEM_FUSED_LOOP_COMPARISON(TANDEM_NAME)
                           TANDEM_FUSED_LOOP_OTHER(TANDEM_NAME) TANDEM_FUSED_CASTS(TANDEM_NAME)};
const Names on_cpu_alone{TANDEM_FUSED_CPU_LOOP(TANDEM_NAME)};
#undef TANDEM_NAME

// Whether the pass `fuse` may take one of the op's sampled calls on the CPU.
bool is_fused(const OpDef& op) {
  if (op.outputs != 1 || !op.loop) return false;
  const auto calls = samples::calls_of(op, float32);
  return std::any_of(calls.begin(), calls.end(), [&](const samples::Call& call) {
    return !call.in.empty() && can_fuse(op, call.in.back().dtype(), call.attrs);
  });
}

TEST_CASE("fused programs: each op that can be fused is in one list") {
  Names fused, listed = on_gpu;
  for (const OpDef* op : all_ops())
    if (is_fused(*op)) fused.emplace_back(op->name);
  listed.insert(listed.end(), on_cpu_alone.begin(), on_cpu_alone.end());
  std::sort(fused.begin(), fused.end());
  std::sort(listed.begin(), listed.end());
  CHECK(fused.size() > 60);
  CHECK(fused == listed);  // Catch2 prints both
}

}  // namespace fusible_test
