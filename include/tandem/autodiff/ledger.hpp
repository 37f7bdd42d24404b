// The memory ledger of a tape: what keeps how many bytes alive until the gradient is taken.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "tandem/base/location.hpp"
#include "tandem/base/shape.hpp"

namespace TANDEM_NS {

/// What one op on one line makes a tape keep. Bytes that several rows save (the input of one op is the output of
/// another) count for the one that saved them first, so the rows' bytes sum to what the tape holds.
struct TapeMemory {
  std::string op;     ///< "MatMul"
  std::string scope;  ///< the innermost name_scope; empty without a ledger
  Loc where;          ///< the caller's line, where it is known: functions have it with a .ledger, operators have none
  int count = 0;      ///< recorded ops
  i64 bytes = 0;      ///< saved first by this row
  i64 own = 0;        ///< saved by this row alone: what would be free if its ops saved nothing
};

/// A table of the rows and their sum.
TANDEM_API std::string to_string(std::span<const TapeMemory> rows);

namespace detail {
struct LedgerNote {
  Loc where;
  std::string scope;
};
}  // namespace detail

}  // namespace TANDEM_NS
