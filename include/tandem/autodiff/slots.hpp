// From value ids to a tape's slots. Ids that this thread made after the tape began are consecutive: a plain array maps
// them. Only older ids and those of other threads are hashed.
#pragma once
#include <vector>

#include "tandem/core/context.hpp"
#include "tandem/core/tensor.hpp"

namespace TANDEM_NS {

/// Open addressing from ids (never 0) to numbers.
class IdMap {
 public:
  int find(u64 id) const {
    if (size_ == 0) return -1;
    for (std::size_t i = hash(id);; ++i) {
      const Item& item = items_[i & (items_.size() - 1)];
      if (item.id == id) return item.value;
      if (item.id == 0) return -1;
    }
  }
  void insert(u64 id, int value) {
    make_room();
    put(id, value);
    ++size_;
  }
  /// The next insert() cannot raise.
  void make_room() {
    if (size_ * 2 >= items_.size()) grow();
  }
  void clear() {
    items_.clear();
    size_ = 0;
  }

 private:
  struct Item {
    u64 id = 0;
    int value = 0;
  };
  static std::size_t hash(u64 id) { return static_cast<std::size_t>((id * 0x9e3779b97f4a7c15u) >> 20); }
  void put(u64 id, int value) {
    std::size_t i = hash(id) & (items_.size() - 1);
    while (items_[i].id) i = (i + 1) & (items_.size() - 1);
    items_[i] = {id, value};
  }
  void grow() {
    std::vector<Item> old(items_.empty() ? 16 : items_.size() * 2);
    old.swap(items_);
    for (const Item& item : old)
      if (item.id) put(item.id, item.value);
  }
  std::vector<Item> items_;
  std::size_t size_ = 0;
};

class Slots {
 public:
  Slots() { dense_.reserve(64); }  // not 1, 2, 4, ...
  int find(u64 id) const {
    const u64 at = id - first_;
    if (at < dense_.size() && dense_[at] >= 0) return dense_[at];
    return others_.find(id);  // also an id that was far ahead when it came
  }
  void insert(u64 id, int slot) {
    if (id - first_ == dense_.size()) dense_.push_back(slot);  // the next id, as nearly always
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
