// Segments of a planned program: launches that follow each other on one device, captured as one launch. Definitions of
// planned.hpp. Not here: when they are captured (capture.hpp), how a device captures (core/backend.hpp).
#pragma once
#include <algorithm>

#include "tandem/core/backend.hpp"
#include "tandem/graph/exec/planned.hpp"
#include "tandem/util/inlined_vector.hpp"

namespace TANDEM_NS::detail {

// Whether the step only launches a kernel, on a device that can capture it and on operands there: what a kernel reads
// on the host is part of a launch. A collective is not: each one has its own time limit, and error.
TANDEM_LAZY_INLINE bool PlannedProgram::is_launch(const Step& s) const {
  const Backend* const b = s.op ? backends[s.stream.device.kind] : nullptr;
  if (!b || !b->begin_capture || s.op->flags.collective) return false;
  const CallAt& call = calls_[s.call];
  const ValueId* const operands = operand_values_.data() + call.operands;
  return std::all_of(operands, operands + call.inputs + call.outputs,
                     [&](ValueId v) { return graph_->spec(v).device == s.stream.device; });
}
TANDEM_LAZY_INLINE void PlannedProgram::find_segments() {
  constexpr std::size_t fewest = 3;  // the launch of a capture takes as long as those of two or three kernels
  constexpr std::size_t small = 64 * 1024, alignment = 256;  // bytes
  result_at_.resize(fresh_.size(), nowhere);
  for (std::size_t first = 0, end; first < steps_.size(); first = end) {
    end = first + 1;
    if (!is_launch(steps_[first])) continue;
    while (end < steps_.size() && is_launch(steps_[end]) && steps_[end].stream == steps_[first].stream) ++end;
    if (end - first < fewest) continue;
    const CallAt &front = calls_[steps_[first].call], &back = calls_[steps_[end - 1].call];
    const auto number = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
    Segment segment{number(first), number(end), front.operands,
                    back.operands + back.inputs + back.outputs - front.operands, 0};
    for (std::uint32_t i = steps_[first].fresh; i < steps_[end - 1].fresh + steps_[end - 1].freshes; ++i) {
      const ValueId v = fresh_[i];
      const std::size_t bytes = graph_->spec(v).bytes();
      if (plan_.overwrites[v].is_set() || bytes > small) continue;
      result_at_[i] = segment.result_bytes;
      segment.result_bytes += (bytes + alignment) / alignment * alignment;
    }
    segments_.push_back(segment);
  }
}
TANDEM_LAZY_INLINE void PlannedProgram::run_segment(std::size_t segment, Execution& e) const {
  const Segment& part = segments_[segment];
  const Span<const Step> steps(steps_.data() + part.first, part.end - part.first);
  if (call_scope) check_limits(*call_scope, *graph_, *steps[0].node);  // one launch for all steps
  SegmentState& state = *e.segments[segment];
  InlinedVector<std::uint32_t, 8> copied;  // of the results, those that are not computed in their tensors
  for (const Step& s : steps)              // what may fail comes before the launches
    for (std::uint32_t i = s.fresh; i < s.fresh + s.freshes; ++i)
      named(s, [&] {
        if (result_at_[i] == nowhere) return bind_output(i, e);
        const ValueId v = fresh_[i];
        Tensor t = take_donated(plan_.donor[v], e);
        const bool is_copied = !t.is_set();
        if (is_copied) copied.push_back(i), t = Tensor::allocate(graph_->spec(v));
        e.point(v, is_copied ? state.results.data() + result_at_[i] : t.raw());
        e.hold(v, std::move(t));
      });
  state.captures.run({e.operands.data() + part.first_operand, part.operands}, [&] {
    for (const Step& s : steps) named(s, [&] { invoke(*s.op, e.calls[s.call], s.stream); });
  });
  for (const std::uint32_t i : copied) {
    const Tensor& t = e.tensors[fresh_[i]];
    copy_bytes(t.raw(), t.device(), state.results.data() + result_at_[i], t.device(), t.spec().bytes());
  }
}

}  // namespace TANDEM_NS::detail
