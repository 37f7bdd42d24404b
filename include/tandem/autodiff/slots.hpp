// Maps value ids to a tape's slots. Ids that this thread created after the tape began are consecutive, so a plain
// array maps them. Only older ids and those of other threads are hashed.
#pragma once
#include <vector>

#include "tandem/core/context.hpp"
#include "tandem/core/tensor.hpp"
#include "tandem/util/id_map.hpp"

namespace TANDEM_NS {

class Slots {
 public:
  Slots() { dense_.reserve(64); }  // avoids reallocation at 1, 2, 4, ...
  int find(u64 id) const {
    const u64 at = id - first_;
    if (at < dense_.size() && dense_[at] >= 0) return dense_[at];
    return others_.find(id);  // also an id that was far ahead when it was added
  }
  void insert(u64 id, int slot) {
    if (id - first_ == dense_.size()) dense_.push_back(slot);  // common case: the next id
    else insert_apart(id, slot);
  }
  void clear() {
    first_ = context.next_id;
    dense_.clear();
    others_.clear();
  }

 private:
  [[gnu::noinline]] void insert_apart(u64 id, int slot) {
    const u64 at = id - first_, gap = at - dense_.size();
    if (gap > max_gap) {  // older than the tape, another thread's, or far ahead
      if (at < dense_.size()) dense_[at] = slot;
      else others_.insert(id, slot);
      return;
    }
    dense_.resize(at, -1);
    dense_.push_back(slot);
  }

  static constexpr u64 max_gap = 4096;
  u64 first_ = context.next_id;
  std::vector<int> dense_;
  IdMap others_;
};

}  // namespace TANDEM_NS
