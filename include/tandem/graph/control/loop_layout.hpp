// LoopLayout: positions of a loop's inputs and outputs. For the definitions of control_ops.hpp.
#pragma once
#include <cstddef>
#include <string>

#include "tandem/graph/control/bodies.hpp"
#include "tandem/graph/control/control_code.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::detail {

TANDEM_LAZY inline bool is_ragged(const std::string& letters, std::size_t i) {
  return i < letters.size() && letters[i] == 'r';
}
TANDEM_LAZY inline std::size_t ragged_before(const std::string& letters, std::size_t end) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < end; ++i) n += is_ragged(letters, i);
  return n;
}
/// Whether carried value i is a sum.
TANDEM_LAZY inline bool is_sum(const rules::LoopAttrs& a, std::size_t i) {
  return i < a.sums.text.size() && a.sums.text[i] == 's';
}

// Positions of a loop's inputs and outputs.
struct LoopLayout {
  std::size_t carried, rows, condition_captures, body_captures, stacked, row_tables, result_tables;

  TANDEM_LAZY LoopLayout(const rules::LoopAttrs& a)
      : carried(count_of(a.carried)),
        rows(count_of(a.rows)),
        condition_captures(a.condition->outputs.empty() ? 0 : a.condition->arguments.size() - carried),
        body_captures(a.body->arguments.size() - carried - rows),
        stacked(a.body->outputs.size() - carried),
        row_tables(ragged_before(a.ragged_rows, rows)),
        result_tables(ragged_before(a.ragged_results, stacked)) {}
  std::size_t first_row() const { return 1 + carried; }
  std::size_t first_condition_capture() const { return first_row() + rows + row_tables; }
  std::size_t first_body_capture() const { return first_condition_capture() + condition_captures; }
  std::size_t inputs() const { return first_body_capture() + body_captures; }
  std::size_t count_output() const { return carried + stacked + result_tables; }
  TANDEM_LAZY std::size_t row_table(const rules::LoopAttrs& a, std::size_t row) const {
    return first_row() + rows + ragged_before(a.ragged_rows, row);
  }
  TANDEM_LAZY std::size_t result_table(const rules::LoopAttrs& a, std::size_t result) const {
    return carried + stacked + ragged_before(a.ragged_results, result);
  }
  /// Position among the inputs of the body's argument i.
  std::size_t input_of_argument(std::size_t i) const {
    return i < carried + rows ? 1 + i : first_body_capture() + i - carried - rows;
  }
};

/// The attributes with which tapes record a loop (loop_gradient.inl).
TANDEM_LAZY Attrs recording_loop(rules::LoopAttrs a);

}  // namespace TANDEM_NS::detail
