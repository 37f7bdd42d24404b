// Definitions of distribute/raised_errors.hpp. A report is the line "OPERATIONS NODE ERROR" under the rank's key; it is
// empty when it was withdrawn.
#pragma once
#include <limits>
#include <string_view>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/distribute/raised_errors.hpp"
#include "tandem/distribute/tcp_store_wire.hpp"

namespace TANDEM_NS::distribute::impl {

TANDEM_INLINE TcpStore& RaisedErrors::store(double timeout) {
  if (!store_) store_.emplace(place_, timeout);
  store_->set_timeout(timeout);
  return *store_;
}
TANDEM_INLINE void RaisedErrors::write(const std::string& line) {
  for (int tries = 0; tries < 2; ++tries) try {
      store(1).set(folder_ + std::to_string(rank_), line);
      return;
    } catch (const errors::OpError&) {  // without a store there is nobody to tell
      store_.reset();
    }
}
TANDEM_INLINE void RaisedErrors::report(i64 operations, const std::string& error) {
  if (is_reported_ && reported_ == operations) return;
  reported_ = operations, is_reported_ = true;
  write(std::to_string(operations) + " " + node_ + " " + error);
}
TANDEM_INLINE void RaisedErrors::withdraw() {
  is_reported_ = false;
  write("");
}
TANDEM_INLINE std::string RaisedErrors::before(i64 operation) { return find(operation, patience); }
TANDEM_INLINE std::string RaisedErrors::any() { return find(std::numeric_limits<i64>::max(), 0); }
TANDEM_INLINE std::string RaisedErrors::find(i64 operation, double least_age) {
  std::vector<TcpStore::Entry> entries;
  try {
    entries = store(period).list(folder_);
  } catch (const errors::OpError&) {  // the next question connects again
    store_.reset();
  }
  for (const TcpStore::Entry& e : entries) {
    const std::string_view text = e.value;
    const std::size_t number = text.find(' '), node = text.find(' ', number + 1);
    i64 behind = 0;
    if (number == std::string_view::npos || node == std::string_view::npos ||
        !distribute::detail::to_number(text.substr(0, number), behind))
      continue;
    const std::string rank = e.key.substr(folder_.size());
    if (behind > operation || behind == reported_ || e.age < least_age || rank == std::to_string(rank_)) continue;
    return "rank " + rank + " (node " + e.value.substr(number + 1, node - number - 1) +
           ") has raised: " + e.value.substr(node + 1);
  }
  return {};
}

}  // namespace TANDEM_NS::distribute::impl
