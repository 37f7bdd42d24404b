// Memory ledger of a tape: what keeps how many bytes alive until the gradient is taken.
#pragma once
#include <string>
#include <vector>

#include "tandem/base/location.hpp"
#include "tandem/base/shape.hpp"
#include "tandem/base/span.hpp"

namespace TANDEM_NS {

/// What one op on one source line makes a tape keep. Bytes saved by several entries (the input of one op is the
/// output of another) count for the entry that saved them first, so the bytes of all entries sum to what the tape
/// holds.
struct TapeMemory {
  std::string op;        ///< "MatMul"
  std::string scope;     ///< the innermost name_scope; empty without a ledger
  SourceLocation where;  ///< the caller's source location, if known: functions have it with a .ledger, operators do not
  int count = 0;         ///< recorded ops
  i64 bytes = 0;         ///< saved first by this entry
  i64 own = 0;           ///< saved only by this entry: what would be freed if its ops saved nothing
};

/// Formats the entries and their total as a table.
TANDEM_API std::string to_string(Span<const TapeMemory> rows);

namespace detail {
struct LedgerNote {
  SourceLocation where;
  std::string scope;
};
}  // namespace detail

}  // namespace TANDEM_NS
