// CallHistory: the last operations of a group, and a hash of all of them: ranks compare it now and then. Part of the
// component tandem::distribute. For definitions.
#pragma once
#include <algorithm>
#include <array>
#include <string>

#include "tandem/distribute/call_hash.hpp"
#include "tandem/distribute/texts.hpp"

namespace TANDEM_NS::distribute::impl {

class CallHistory {
 public:
  /// How many operations it has, and how many the ranks compare at once.
  static constexpr i64 length = 100;
  /// The hashes behind each of the last operations, oldest first: that of all operations of the group up to it.
  using Hashes = std::array<u64, length>;

  void add(const Collective& call, bool on_gpu) {
    Entry& e = entries_[place(count_++)];
    hash_ = mixed(mixed(hash_, static_cast<i64>(common_hash(call))), on_gpu);
    e = {call, on_gpu, hash_};
    e.call.input = e.call.output = nullptr, e.call.send = e.call.receive = {};  // which may not live on
  }
  u64 hash() const { return hash_; }
  /// How many operations there have been.
  i64 count() const { return count_; }
  /// Of at least `length` operations.
  Hashes hashes() const {
    Hashes r;
    for (i64 i = 0; i < length; ++i) r[static_cast<std::size_t>(i)] = entries_[place(count_ - length + i)].hash;
    return r;
  }
  /// The operation of that number, from 0, one of the last ones.
  std::string text(i64 number) const {
    const Entry& e = entries_[place(number)];
    return common_text(e.call) + (e.on_gpu ? " on a GPU" : "");
  }

 private:
  struct Entry {
    Collective call{};
    bool on_gpu = false;
    u64 hash = 0;
  };
  static std::size_t place(i64 number) { return static_cast<std::size_t>(number % length); }
  std::array<Entry, length> entries_{};
  i64 count_ = 0;
  u64 hash_ = hash_start;
};

}  // namespace TANDEM_NS::distribute::impl
