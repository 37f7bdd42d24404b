// StrategyReport: where the time of a strategy's steps went. Part of the component tandem::distribute.
#pragma once
#include <string>
#include <vector>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::distribute {

/// Where the time of the steps of a MultiWorkerMirroredStrategy went: what its report() returns. A step is computation
/// and exposed communication, the time in which a process does nothing but wait for operations with the others: for
/// their messages, and for processes that come late. An operation that ends while the process computes costs nothing.
struct TANDEM_API StrategyReport {
  /// The operations of one name of this process.
  struct Operation {
    std::string name = {};  ///< as in errors: "all_reduce bucket 2 of 3 (4.2 MB, 'dense/kernel' ..)"
    i64 calls = 0;
    i64 bytes = 0;       ///< of this process's inputs, added up
    double seconds = 0;  ///< in flight, from their begins to their ends, added up
    double exposed = 0;  ///< in which the process waited for them, added up
  };
  /// The steps of one process.
  struct Rank {
    i64 steps = 0;
    double step = 0;     ///< mean seconds from the begin of a step to that of the next one; 0 before the second step
    double exposed = 0;  ///< of these, exposed communication
    double compute() const { return step - exposed; }
  };
  /// A Variable whose gradient is row-sparse.
  struct Table {
    std::string variable = {};  ///< its name, with a number behind it if another one has the same
    i64 calls = 0, rows = 0;    ///< exchanges of its rows, and the rows that this process has sent for them
    i64 dense_calls = 0;        ///< steps in which it travelled dense: all had at least twice the Variable's rows
  };

  int rank = 0;                            ///< this process
  std::vector<Rank> ranks = {};            ///< of all processes
  std::vector<Operation> operations = {};  ///< of this process; those for which it has waited longest come first
  std::vector<Table> tables = {};

  /// The process that the others wait for: it computes for the longest time. -1 before the second step.
  int slowest() const;
};
/// A table: the steps, the slowest process, a line for each operation with means of its calls.
TANDEM_API std::string to_string(const StrategyReport& report);

}  // namespace TANDEM_NS::distribute
