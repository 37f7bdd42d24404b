// CallTimes: counts the operations of a group, and the steps in which they are called, for a strategy's report. Part of
// the component tandem::distribute. For definitions.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/distribute/report.hpp"
#include "tandem/distribute/transport.hpp"

namespace TANDEM_NS::distribute::impl {

/// An operation of a group, in nanoseconds of Transport::now().
struct CallTime {
  i64 begun = 0, ended = 0, exposed = 0;
};

class CallTimes {
 public:
  /// What the labels of operations on gradients begin with: those of tensors are quoted, or a place in a program.
  static constexpr std::string_view of_bucket = "bucket ", of_rows = "rows of ";

  /// A step begins, as the program says.
  void step(i64 now) {
    if (!is_told_) steps_ = {}, is_told_ = true;
    mark(now);
  }
  /// An operation begins. A step of a program that does not tell of them begins where an operation on gradients comes
  /// again that the step has had.
  void begin(const std::string& label, i64 now) {
    if (is_told_ || !(label.starts_with(of_bucket) || label.starts_with(of_rows))) return;
    if (!labels_.insert(label).second) labels_ = {label}, mark(now);
    else if (steps_.count == 0) mark(now);
  }
  /// An operation has ended.
  ///   what  its name and its label
  void add(const std::string& what, const Collective& call, const CallTime& time) {
    constexpr std::size_t most = 1000;  // a program may give each call a name of its own
    Counts& c = operations_[operations_.size() < most || operations_.contains(what) ? what : "other operations"];
    ++c.calls, c.bytes += call.count * static_cast<i64>(size_of(call.dtype));
    if (call.unit > 0) c.rows += call.count / call.unit;
    c.nanoseconds += time.ended - time.begun, c.exposed += time.exposed, exposed_ += time.exposed;
  }
  StrategyReport::Rank rank() const;
  /// The longest waits first.
  std::vector<StrategyReport::Operation> operations() const;
  /// The exchanges of a row-sparse gradient, by the label of its rows.
  StrategyReport::Table table(const std::string& variable, const std::string& label) const;

 private:
  struct Counts {
    i64 calls = 0, bytes = 0, rows = 0, nanoseconds = 0, exposed = 0;
  };
  // The steps between the first mark and the last one are complete.
  struct Steps {
    i64 count = 0, first = 0, last = 0, exposed_first = 0, exposed_last = 0;
  };
  void mark(i64 now) {
    if (steps_.count++ == 0) steps_.first = now, steps_.exposed_first = exposed_;
    steps_.last = now, steps_.exposed_last = exposed_;
  }

  std::map<std::string, Counts> operations_{};
  Steps steps_{};
  bool is_told_ = false;
  std::set<std::string> labels_{};  // of this step
  i64 exposed_ = 0;
};

}  // namespace TANDEM_NS::distribute::impl
