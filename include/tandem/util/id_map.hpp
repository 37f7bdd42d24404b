// IdMap: a hash table from ids to integers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tandem/base/dtype.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

/// A hash table with open addressing from ids (never 0) to integers.
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
  /// Inserts the id, or changes the integer of one that is there.
  void set(u64 id, int value) {
    if (size_)
      for (std::size_t i = hash(id);; ++i) {
        Item& item = items_[i & (items_.size() - 1)];
        if (item.id == id) return void(item.value = value);
        if (item.id == 0) break;
      }
    insert(id, value);
  }
  /// Makes room, so that the next insert() cannot throw.
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
    LeanVector<Item> old(items_.empty() ? 16 : items_.size() * 2);
    old.swap(items_);
    for (const Item& item : old)
      if (item.id) put(item.id, item.value);
  }
  LeanVector<Item> items_;
  std::size_t size_ = 0;
};

}  // namespace TANDEM_NS
