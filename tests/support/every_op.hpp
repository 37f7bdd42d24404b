// The table of all ops that this build has: the core's and those of its components.
#pragma once
#include "tandem/op_table.hpp"
#if TANDEM_TEST_LINALG
#include "tandem/linalg_op_table.hpp"
#endif

namespace testing {

inline std::span<const tandem::OpDef* const> every_op() {
#if TANDEM_TEST_LINALG
  return tandem::linalg::all_ops();
#else
  return tandem::all_ops();
#endif
}

}  // namespace testing
