// WaitingCalls: the operations for which ranks of a group wait for long, in a store: different ones wait for each other
// in vain. Part of the component tandem::distribute. For transports.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/distribute/tcp_store.hpp"
#include "tandem/distribute/tcp_store_wire.hpp"
#include "tandem/distribute/texts.hpp"

namespace TANDEM_NS::distribute::impl {

/// Used by one thread at a time.
class WaitingCalls {
 public:
  ///   backend  for errors
  ///   timeout  of the group's operations
  ///   group    its name; no other one has it
  WaitingCalls(const char* backend, Endpoint store, double timeout, const std::string& group, int rank)
      : backend_(backend),
        place_(std::move(store)),
        folder_(group + "/waits/"),
        found_(group + "/differ"),
        timeout_(timeout),
        rank_(rank) {}

  /// Seconds that a call waits before it is compared. The next comparisons follow after twice the time of the one
  /// before: all ranks ask the one store.
  double period() const { return std::clamp(timeout_ / 8, 0.05, 1.); }
  /// Tells the others, and compares. Takes at most a period; a store that does not answer is asked again next time.
  /// Rank 0 compares those of all ranks, and says in the store what it finds; the others read what it says, and compare
  /// with its own: so the store sends the calls of all ranks to one of them alone.
  ///   number  of the operation in the group, from 0
  ///   throws  errors::FailedPreconditionError if two ranks' operations of one number differ
  void compare(const Collective& call, i64 number) {
    const std::string own = std::to_string(number) + " " + common_text(call);
    std::string found;
    try {
      if (!store_) store_.emplace(place_, period() / 4);
      store_->set(folder_ + std::to_string(rank_), own);
      found = rank_ == 0 ? difference_of_all() : difference_from_first(own);
      if (rank_ == 0 && !found.empty()) store_->set(found_, found);
    } catch (const errors::UnavailableError&) {
      store_.reset();
    }
    if (!found.empty()) errors::raise<errors::FailedPreconditionError>(backend_, found);
  }

 private:
  // Of an entry "NUMBER CALL".
  static std::string_view number_of(std::string_view value) { return value.substr(0, value.find(' ')); }
  static std::string text(const std::string& rank, const std::string& value, const std::string& other_rank,
                          const std::string& other) {
    i64 number = 0;
    distribute::detail::to_number(number_of(value), number);
    const auto call = [](const std::string& of) { return of.substr(number_of(of).size() + 1); };
    return "ranks called different operations: rank " + rank + " " + call(value) + ", rank " + other_rank + " " +
           call(other) + " (operation " + std::to_string(number + 1) +
           " of the group: all ranks must run the same program, with equally many steps)";
  }
  // Empty if there is none.
  std::string difference_of_all() {
    std::vector<TcpStore::Entry> entries = store_->list(folder_);
    // Those of one number are neighbours, and so are equal ones.
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    for (std::size_t i = 1, first = 0; i < entries.size(); ++i) {
      const TcpStore::Entry &a = entries[first], &b = entries[i];
      if (a.value == b.value) continue;
      if (number_of(a.value) == number_of(b.value))
        return text(a.key.substr(folder_.size()), a.value, b.key.substr(folder_.size()), b.value);
      first = i;
    }
    return {};
  }
  std::string difference_from_first(const std::string& own) {
    const std::string first = store_->find(folder_ + "0").value_or(std::string());
    if (first != own && number_of(first) == number_of(own)) return text(std::to_string(rank_), own, "0", first);
    return store_->find(found_).value_or(std::string());
  }

  const char* const backend_;
  const Endpoint place_;
  const std::string folder_, found_;
  const double timeout_;
  const int rank_;
  std::optional<TcpStore> store_{};  // connected by the first comparison
};

}  // namespace TANDEM_NS::distribute::impl
