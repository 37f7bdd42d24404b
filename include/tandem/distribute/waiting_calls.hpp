// WaitingCalls: the operations for which ranks of a group wait for long, in a store: different ones wait for each other
// in vain. Part of the component tandem::distribute. For transports.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/distribute/tcp_store.hpp"
#include "tandem/distribute/texts.hpp"

namespace TANDEM_NS::distribute::impl {

/// Used by one thread at a time.
class WaitingCalls {
 public:
  ///   backend  for errors
  ///   timeout  of the group's operations
  ///   group    its name; no other one has it
  WaitingCalls(const char* backend, Endpoint store, double timeout, const std::string& group, int rank)
      : backend_(backend), place_(std::move(store)), folder_(group + "/waits/"), timeout_(timeout), rank_(rank) {}

  /// Seconds that a call waits before it is compared. The next comparisons follow after twice the time of the one
  /// before: all ranks ask the one store.
  double period() const { return std::clamp(timeout_ / 8, 0.05, 1.); }
  /// Tells the others, and compares. Takes at most a period; a store that does not answer is asked again next time.
  ///   number  of the operation in the group, from 0
  ///   throws  errors::FailedPreconditionError if another rank's operation of that number is another one
  void compare(const Collective& call, i64 number) {
    const std::string prefix = std::to_string(number) + " ", own = prefix + common_text(call);
    std::vector<TcpStore::Entry> entries;
    try {
      if (!store_) store_.emplace(place_, period() / 3);
      store_->set(folder_ + std::to_string(rank_), own);
      entries = store_->list(folder_);
    } catch (const errors::UnavailableError&) {
      store_.reset();
      return;
    }
    for (const TcpStore::Entry& e : entries)
      if (e.value.starts_with(prefix) && e.value != own)
        errors::raise<errors::FailedPreconditionError>(
            backend_, "ranks called different operations: rank " + std::to_string(rank_) + " " + common_text(call) +
                          ", rank " + e.key.substr(folder_.size()) + " " + e.value.substr(prefix.size()) +
                          " (operation " + std::to_string(number + 1) +
                          " of the group: all ranks must run the same program, with equally many steps)");
  }

 private:
  const char* const backend_;
  const Endpoint place_;
  const std::string folder_;
  const double timeout_;
  const int rank_;
  std::optional<TcpStore> store_{};  // connected by the first comparison
};

}  // namespace TANDEM_NS::distribute::impl
